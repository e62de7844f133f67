//! Hardbop as a library: the parts of the house under one roof.
//!
//! The `hardbop` command is a thin layer over these; see `ARCHITECTURE.md` for the map.
//!
//! | module | in | out |
//! | --- | --- | --- |
//! | [`boolean_program`] | the text of a boolean program | its control-flow graph, canonical text, runs, Horn clauses |
//! | [`bebop`] | a boolean program | what is reachable, with shortest traces and invariants |
//! | [`cfront`] | C files | typed, side-effect-free control-flow graphs, runs |
//! | [`rules`] | a C program and rules | the program with the rules woven in |
//! | [`c2bp`] | a C program and predicates | a boolean program |
//! | [`cegar`] | a C program and its checks | proved, violated or unknown, with evidence |
//! | [`dpr`] | a C program and its checks | violated, or proved up to a bound, with evidence |
//! | [`engine`] | a task | what every engine takes and gives back |
//! | [`report`] | what an engine found out | texts for people and for machines |
//! | [`witness`] | results, or the witnesses of any tool | witnesses, or programs to validate them by |
//! | [`diagnostics`] | what parsers have to say | text with places and carets |
//! | [`budget`] | limits on time and memory | whether work may go on |

pub use hardbop_bebop as bebop;
pub use hardbop_boolean_program as boolean_program;
pub use hardbop_budget as budget;
pub use hardbop_c2bp as c2bp;
pub use hardbop_cegar as cegar;
pub use hardbop_cfront as cfront;
pub use hardbop_diagnostics as diagnostics;
pub use hardbop_dpr as dpr;
pub use hardbop_engine as engine;
pub use hardbop_report as report;
pub use hardbop_rules as rules;
pub use hardbop_witness as witness;
