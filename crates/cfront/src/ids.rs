//! Typed indices into the tables of a [`Program`](crate::program::Program).

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table that this id belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// A type of [`Types`](crate::types::Types).
    TypeId;
    /// A struct or union of [`Types`](crate::types::Types).
    RecordId;
    /// A variable, counted over the whole program.
    VarId;
    /// A function.
    FuncId;
    /// A location of a control-flow graph, counted over the whole program.
    LocId;
    /// An edge of a control-flow graph, counted over the whole program.
    EdgeId;
    /// An expression.
    ExprId;
    /// A place in memory that can be read or written: C's lvalue.
    PlaceId;
    /// A check: something that may be violated.
    CheckId;
}
