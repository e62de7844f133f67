//! Pointers of which nobody says where they lead.

use super::{Checked, Checker};
use crate::ids::FuncId;
use crate::unwritten::pointers_read_unwritten;

impl Checker<'_> {
    /// A local that is read before it was written may be a pointer from outside.
    pub(super) fn unwritten(&self, function: FuncId) -> Checked {
        for variable in pointers_read_unwritten(self.program, function) {
            if let Some(spot) = self.claims.variables[variable.index()] {
                self.written_outside(spot, self.program.variable(variable).ty)?;
            }
        }
        Ok(())
    }
}
