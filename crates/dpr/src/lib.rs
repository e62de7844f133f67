//! Dynamic path reduction.
