//! Checks that no code can violate.

use crate::Gate;
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::{LocationKind, Op};
use hardbop_engine::Reason;
use hardbop_engine::claim::Nowhere;

impl Gate<'_> {
    /// No location of what can be called is a violation of the checks, and nothing that can be
    /// called is beyond what is supported: an execution might come to anything from there.
    pub(crate) fn nowhere(&self, claim: &Nowhere) -> Result<(), Reason> {
        let program = self.model.program;
        for function in callable(program) {
            for index in program.function(function).locations.clone() {
                let location = LocId(index);
                let kind = program.locations[location.index()].kind;
                if matches!(kind, LocationKind::Error(check) if claim.checks.contains(&check)) {
                    return Err(Reason::Certificate);
                }
                for (_, edge) in program.edges_from(location) {
                    if let Op::Unsupported { construct } = edge.op {
                        return Err(Reason::unsupported(program, construct));
                    }
                }
            }
        }
        Ok(())
    }
}
