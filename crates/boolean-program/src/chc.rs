//! A program as constrained Horn clauses in SMT-LIB, for any Horn solver.
//!
//! Each vertex is a relation between the globals and formals at the entry of its procedure and
//! the current state: the path edges of Bebop section 3. A solver answers `sat` if the target is
//! unreachable (the relations have an interpretation) and `unsat` if it is reachable.

use crate::program::{Action, BinaryOp, Edge, ExprId, Node, ProcId, Program, VarId, VertexId};
use crate::values::Layout;
use std::fmt::Write;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// Whether any target is reachable.
    AnyTarget,
    /// Whether the target at this position of [`Program::targets`] is reachable.
    Target(usize),
}

/// The clauses of a program and a query, as a complete SMT-LIB script.
///
/// In the clauses `e0, e1, ...` are the values at the entry, `s0, s1, ...` the current ones by
/// [`Layout`] position, `r0, r1, ...` those of a callee, `n0, n1, ...` next ones, `a0, a1, ...`
/// arguments and `c0, c1, ...` choices.
pub fn to_chc(program: &Program, query: Query) -> String {
    let mut writer = Writer {
        program,
        layout: Layout::new(program),
        out: String::new(),
        body: String::new(),
        choices: 0,
    };
    writer.script(query);
    writer.out
}

struct Writer<'p> {
    program: &'p Program,
    layout: Layout,
    out: String,
    /// The premises of the clause that is being written.
    body: String,
    /// How many choices the clause has so far.
    choices: usize,
}

/// A value in the state that a clause leads to.
type Term = String;

impl Writer<'_> {
    fn script(&mut self, query: Query) {
        let program = self.program;
        self.out.push_str("(set-logic HORN)\n");
        for (index, procedure) in program.procedures.iter().enumerate() {
            let id = ProcId(index as u32);
            let names: Vec<_> = program
                .in_scope(id)
                .enumerate()
                .map(|(slot, v)| format!("s{slot} {}", program.variables[v.index()].name))
                .collect();
            let _ = writeln!(
                self.out,
                "; {}: {}",
                comment(&procedure.name),
                comment(&names.join(", "))
            );
            let arity = self.entry_size(id) + self.layout.size(id);
            let sorts = vec!["Bool"; arity].join(" ");
            for vertex in procedure.vertices.clone() {
                let _ = writeln!(self.out, "(declare-fun v{vertex} ({sorts}) Bool)");
            }
        }
        self.start();
        for edge in &program.edges {
            self.edge(edge);
        }
        for (index, target) in program.targets.iter().enumerate() {
            if query == Query::AnyTarget || query == Query::Target(index) {
                self.begin();
                let state = self.state(target.vertex);
                self.premise(&self.relation(target.vertex, &state));
                let binders = self.binders(target.vertex);
                self.clause(&binders, "false");
            }
        }
        self.out.push_str("(check-sat)\n");
    }

    /// Everything can happen at the entry of `main` that an `enforce` allows.
    fn start(&mut self) {
        let main = self.program.main;
        let entry = self.program.procedures[main.index()].entry;
        self.begin();
        let state = self.state(entry);
        self.enforce(main, &state);
        let size = self.layout.size(main);
        let binders = numbered("s", size);
        let conclusion = self.entry_relation(main, &state);
        self.clause(&binders, &conclusion);
    }

    fn edge(&mut self, edge: &Edge) {
        self.begin();
        let program = self.program;
        let procedure = program.vertices[edge.from.index()].procedure;
        let mut binders = self.binders(edge.from);
        let mut after = self.state(edge.from);
        self.premise(&self.relation(edge.from, &after));
        match program.action(edge) {
            Action::Skip => {}
            Action::Assume { condition, holds } => {
                let term = self.expr(condition, &after, &after);
                self.premise(&if holds { term } else { format!("(not {term})") });
            }
            Action::Assign {
                assignments,
                constrain,
            } => {
                let before = after.clone();
                for &(variable, value) in assignments {
                    let slot = self.layout.slot(variable);
                    let term = self.expr(value, &before, &before);
                    // A relation or an `enforce` may read the new value many times.
                    binders.push(format!("n{slot}"));
                    self.premise(&format!("(= n{slot} {term})"));
                    after[slot] = format!("n{slot}");
                }
                if let Some(relation) = constrain {
                    let term = self.expr(relation, &before, &after);
                    self.premise(&term);
                }
            }
            Action::Call {
                callee,
                arguments,
                results,
            } => {
                return self.call(edge, callee, arguments, results);
            }
        }
        self.enforce(procedure, &after);
        let conclusion = self.relation(edge.to, &after);
        self.clause(&binders, &conclusion);
    }

    /// One clause for the way into the callee, and one for the way past the call.
    fn call(
        &mut self,
        edge: &Edge,
        callee: ProcId,
        arguments: &[ExprId],
        results: &[Option<VarId>],
    ) {
        let program = self.program;
        let caller = program.vertices[edge.from.index()].procedure;
        let globals = self.layout.globals();
        let size = self.layout.size(callee);
        let before = self.state(edge.from);
        let called = &program.procedures[callee.index()];

        self.begin();
        self.premise(&self.relation(edge.from, &before));
        self.arguments(arguments, &before);
        let mut entry = before[..globals].to_vec();
        entry.extend(numbered("a", arguments.len()));
        entry.extend((entry.len()..size).map(|slot| format!("r{slot}")));
        self.enforce(callee, &entry);
        let mut binders = self.binders(edge.from);
        binders.extend(numbered("a", arguments.len()));
        binders.extend((globals + arguments.len()..size).map(|slot| format!("r{slot}")));
        let conclusion = self.entry_relation(callee, &entry);
        self.clause(&binders, &conclusion);

        self.begin();
        self.premise(&self.relation(edge.from, &before));
        self.arguments(arguments, &before);
        let exit = numbered("r", size);
        let summary: Vec<_> = before[..globals]
            .iter()
            .cloned()
            .chain(numbered("a", arguments.len()))
            .chain(exit.iter().cloned())
            .collect();
        self.premise(&applied(called.exit, &summary));
        let mut after = before.clone();
        after[..globals].clone_from_slice(&exit[..globals]);
        for (target, &value) in results.iter().zip(&called.returns) {
            if let Some(target) = target {
                after[self.layout.slot(*target)] = exit[self.layout.slot(value)].clone();
            }
        }
        self.enforce(caller, &after);
        let mut binders = self.binders(edge.from);
        binders.extend(numbered("a", arguments.len()));
        binders.extend(exit);
        let conclusion = self.relation(edge.to, &after);
        self.clause(&binders, &conclusion);
    }

    fn arguments(&mut self, arguments: &[ExprId], before: &[Term]) {
        for (i, &argument) in arguments.iter().enumerate() {
            let term = self.expr(argument, before, before);
            self.premise(&format!("(= a{i} {term})"));
        }
    }

    fn enforce(&mut self, procedure: ProcId, state: &[Term]) {
        let own = self.program.procedures[procedure.index()].enforce;
        for condition in [self.program.enforce, own].into_iter().flatten() {
            let term = self.expr(condition, state, state);
            self.premise(&term);
        }
    }

    // Relations.

    fn procedure(&self, vertex: VertexId) -> ProcId {
        self.program.vertices[vertex.index()].procedure
    }

    /// The number of values at the entry: the globals and the formals.
    fn entry_size(&self, procedure: ProcId) -> usize {
        self.layout.globals() + self.program.procedures[procedure.index()].formals.len()
    }

    fn state(&self, vertex: VertexId) -> Vec<Term> {
        numbered("s", self.layout.size(self.procedure(vertex)))
    }

    fn binders(&self, vertex: VertexId) -> Vec<String> {
        let procedure = self.procedure(vertex);
        let mut names = numbered("e", self.entry_size(procedure));
        names.extend(numbered("s", self.layout.size(procedure)));
        names
    }

    fn relation(&self, vertex: VertexId, state: &[Term]) -> String {
        let mut terms = numbered("e", self.entry_size(self.procedure(vertex)));
        terms.extend_from_slice(state);
        applied(vertex, &terms)
    }

    /// The entry's relation, in which the values at the entry are the current ones.
    fn entry_relation(&self, procedure: ProcId, state: &[Term]) -> String {
        let mut terms = state[..self.entry_size(procedure)].to_vec();
        terms.extend_from_slice(state);
        applied(self.program.procedures[procedure.index()].entry, &terms)
    }

    // Clauses.

    fn begin(&mut self) {
        self.body.clear();
        self.choices = 0;
    }

    fn premise(&mut self, term: &str) {
        self.body.push(' ');
        self.body.push_str(term);
    }

    fn clause(&mut self, binders: &[String], conclusion: &str) {
        self.out.push_str("(assert ");
        let choices = numbered("c", self.choices);
        let quantified = !binders.is_empty() || !choices.is_empty();
        if quantified {
            self.out.push_str("(forall (");
            for name in binders.iter().chain(&choices) {
                let _ = write!(self.out, "({name} Bool)");
            }
            self.out.push_str(") ");
        }
        let _ = write!(self.out, "(=> (and true{}) {conclusion})", self.body);
        self.out.push_str(if quantified { "))\n" } else { ")\n" });
    }

    /// An expression as a term; its choices become variables of the clause.
    fn expr(&mut self, root: ExprId, now: &[Term], next: &[Term]) -> Term {
        enum Piece {
            Text(&'static str),
            Expr(ExprId),
        }
        let mut out = String::new();
        let mut work = vec![Piece::Expr(root)];
        while let Some(piece) = work.pop() {
            let id = match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::Expr(id) => id,
            };
            match self.program.exprs.node(id) {
                Node::Const(value) => out.push_str(if value { "true" } else { "false" }),
                Node::Var(variable) => out.push_str(&now[self.layout.slot(variable)]),
                Node::Next(variable) => out.push_str(&next[self.layout.slot(variable)]),
                Node::Choice => {
                    let _ = write!(out, "c{}", self.choices);
                    self.choices += 1;
                }
                Node::Not(a) => {
                    out.push_str("(not ");
                    work.extend([Piece::Text(")"), Piece::Expr(a)]);
                }
                Node::Binary(operator, a, b) => {
                    out.push_str(match operator {
                        BinaryOp::And => "(and ",
                        BinaryOp::Or => "(or ",
                        BinaryOp::Xor => "(xor ",
                        BinaryOp::Iff => "(= ",
                        BinaryOp::Implies => "(=> ",
                    });
                    work.extend([Piece::Text(")"), Piece::Expr(b), Piece::Text(" ")]);
                    work.push(Piece::Expr(a));
                }
                Node::Choose(a, b) => {
                    let choice = self.choices;
                    self.choices += 1;
                    let _ = write!(out, "(or (and c{choice} (not ");
                    work.extend([Piece::Text(")"), Piece::Expr(a), Piece::Text(")) ")]);
                    work.push(Piece::Expr(b));
                }
            }
        }
        out
    }
}

fn applied(vertex: VertexId, terms: &[Term]) -> String {
    if terms.is_empty() {
        return format!("v{}", vertex.0);
    }
    format!("(v{} {})", vertex.0, terms.join(" "))
}

fn numbered(letter: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{letter}{i}")).collect()
}

/// A text that cannot end the comment that it stands in.
fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
