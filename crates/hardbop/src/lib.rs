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
//! | [`logic`] | formulas | models, proofs that there are none, solutions of Horn clauses |
//! | [`circuit`] | formulas about bits | and-inverter graphs, models, proofs that there are none |
//! | [`semantics`] | a C program | its meaning in logic: edges, blocks, paths, replay |
//! | [`newton`] | a path of a C program | whether it can be run, and if not, why |
//! | [`model`] | a C program | the program prepared for all engines |
//! | [`engine`] | a task | what every engine takes and gives back |
//! | [`gate`] | claims of engines | proved, violated or unknown, with evidence |
//! | [`cegar`] | a task | answers by abstraction and refinement |
//! | [`horn`] | a task | proofs by Horn clauses of the whole program |
//! | [`values`] | a task | proofs and violations by the values of variables that take few |
//! | [`pdr`] | a task | proofs and violations by clauses about bits; sequential circuits |
//! | [`facts`] | a task | answers by ranges of numbers and objects of pointers |
//! | [`houdini`] | a task | answers by guessed invariants |
//! | [`induction`] | a task | proofs by induction over several blocks |
//! | [`unroll`] | a task | answers by runs on guesses, and by all executions at once (bounded model checking) |
//! | [`dpr`] | a task | answers by dynamic path reduction: runs path by path, up to a bound |
//! | [`leap`] | a task | violations behind loops, without unrolling them |
//! | [`terminate`] | a task | whether every execution ends |
//! | [`portfolio`] | a task | answers by all of them together |
//! | [`report`] | what an engine found out | texts for people and for machines |
//! | [`witness`] | results, or the witnesses of any tool | witnesses, or programs to validate them by |
//! | [`cluster`] | items, costs, journals of nodes | tasks for a scheduler, answers, what is to be run again |
//! | [`diagnostics`] | what parsers have to say | text with places and carets |
//! | [`budget`] | limits on time and memory | whether work may go on |

pub use hardbop_bebop as bebop;
pub use hardbop_boolean_program as boolean_program;
pub use hardbop_budget as budget;
pub use hardbop_c2bp as c2bp;
pub use hardbop_cegar as cegar;
pub use hardbop_cfront as cfront;
pub use hardbop_circuit as circuit;
pub use hardbop_cluster as cluster;
pub use hardbop_diagnostics as diagnostics;
pub use hardbop_diagrams as diagrams;
pub use hardbop_dpr as dpr;
pub use hardbop_engine as engine;
pub use hardbop_facts as facts;
pub use hardbop_gate as gate;
pub use hardbop_horn as horn;
pub use hardbop_houdini as houdini;
pub use hardbop_induction as induction;
pub use hardbop_leap as leap;
pub use hardbop_logic as logic;
pub use hardbop_model as model;
pub use hardbop_newton as newton;
pub use hardbop_pdr as pdr;
pub use hardbop_portfolio as portfolio;
pub use hardbop_report as report;
pub use hardbop_rules as rules;
pub use hardbop_semantics as semantics;
pub use hardbop_terminate as terminate;
pub use hardbop_unroll as unroll;
pub use hardbop_values as values;
pub use hardbop_witness as witness;
