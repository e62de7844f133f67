//! Every construct, in the dialects that have it; the canonical text; the control-flow graph.

use expect_test::{Expect, expect};
use hardbop_boolean_program::program::{Action, Program, TargetKind, VertexId};
use hardbop_boolean_program::{Dialect, Loaded, decode, format, generate, load};
use hardbop_diagnostics::{Severity, Sources};

fn load_text(text: &str, dialect: Dialect) -> (Sources, Loaded) {
    let mut sources = Sources::new();
    let file = sources.add("test.bp", text);
    let loaded = load(&sources, file, dialect);
    (sources, loaded)
}

/// The names of the dialects that accept a text without errors.
fn accepted_by(text: &str) -> String {
    let accepts = |dialect: &&Dialect| !load_text(text, **dialect).1.has_errors();
    let names: Vec<_> = Dialect::ALL
        .iter()
        .filter(accepts)
        .map(|d| d.name())
        .collect();
    names.join(" ")
}

/// Checks which dialects have a statement. The rest of the program is of all dialects; `f` is a
/// procedure without results.
fn check_statement(statement: &str, dialects: &str) {
    let bebop = format!("decl x, y; f(a) begin skip; end main() begin {statement}; end");
    let others = format!("decl x, y; void f(a) begin skip; end void main() begin {statement}; end");
    let accepts = |dialect: &&Dialect| {
        let text = if **dialect == Dialect::Bebop {
            &bebop
        } else {
            &others
        };
        let (sources, loaded) = load_text(text, **dialect);
        for diagnostic in loaded.diagnostics.iter().filter(|d| d.is_error()) {
            let span = diagnostic.span.expect("a place");
            assert!(
                diagnostic.message.contains("is not part of the"),
                "{statement}: {} at {}",
                diagnostic.message,
                sources.slice(span)
            );
        }
        !loaded.has_errors()
    };
    let names: Vec<_> = Dialect::ALL
        .iter()
        .filter(accepts)
        .map(|d| d.name())
        .collect();
    assert_eq!(names.join(" "), dialects, "{statement}");
}

#[test]
fn each_statement_belongs_to_its_dialects() {
    check_statement("skip", "bebop slam boppo getafix auto");
    check_statement("x := !y", "bebop slam boppo getafix auto");
    check_statement("x, y := y, x", "bebop slam boppo getafix auto");
    check_statement("f(x)", "bebop slam boppo getafix auto");
    check_statement("L: goto L", "bebop slam boppo getafix auto");
    check_statement("return", "bebop slam boppo getafix auto");
    check_statement("assert(x)", "bebop slam boppo getafix auto");
    check_statement(
        "if (x) then skip; else skip; fi",
        "bebop slam boppo getafix auto",
    );
    check_statement(
        "if (x) then skip; elsif (y) then skip; fi",
        "bebop slam boppo getafix auto",
    );
    check_statement("while (x) do skip; od", "bebop slam boppo getafix auto");
    check_statement("print(x, y)", "bebop slam getafix auto");
    check_statement("if (?) then skip; fi", "bebop slam getafix auto");
    check_statement("if (*) then skip; fi", "slam boppo getafix auto");
    check_statement("x := *", "slam boppo auto");
    check_statement("assume(x & *)", "slam boppo auto");
    check_statement("assume(x)", "slam boppo getafix auto");
    check_statement("L: goto L, M; M: skip", "slam boppo auto");
    check_statement("L: M: skip", "slam boppo auto");
    check_statement("x := schoose[x, y]", "slam boppo auto");
    check_statement("x := choose(x, y)", "slam auto");
    check_statement("x := choose[x, y]", "slam auto");
    check_statement("x := schoose(x, y)", "slam boppo auto");
    check_statement("x := y constrain 'x | !y", "slam boppo auto");
    check_statement("constrain(x)", "slam getafix auto");
    check_statement("abortif x", "slam boppo auto");
    check_statement("dead x, y", "slam boppo auto");
    check_statement("enforce x", "slam boppo getafix auto");
    check_statement("decl z; z := x", "bebop slam boppo getafix auto");
    check_statement("skip; decl z; z := x", "boppo auto");
    check_statement("decl a-b#c$; a-b#c$ := x", "boppo auto");
    check_statement("decl {x == *p}; {x == *p} := x", "bebop slam getafix auto");
    check_statement("x := ~y", "slam boppo getafix auto");
    check_statement("x := x && y || x", "slam boppo getafix auto");
    check_statement("x := x == y", "slam auto");
    check_statement("x := x <=> y", "slam auto");
}

#[test]
fn each_item_belongs_to_its_dialects() {
    assert_eq!(
        accepted_by("main() begin skip; end"),
        "bebop slam getafix auto"
    );
    assert_eq!(
        accepted_by("void main() begin skip; end"),
        "slam boppo getafix auto"
    );
    let call = "bool<2> f() begin return 0, 1; end void main() begin decl x; _, x := f(); end";
    assert_eq!(accepted_by(call), "slam boppo getafix auto");
    let late = "void main() begin g := 1; end decl g;";
    assert_eq!(accepted_by(late), "boppo auto");
    let dfs = "dfs void main() begin skip; end";
    assert_eq!(accepted_by(dfs), "boppo auto");
    let local = "decl thread_local g; void main() begin g := 1; end";
    assert_eq!(accepted_by(local), "boppo auto");
    let enforce = "decl g; enforce g; void main() begin skip; end";
    assert_eq!(accepted_by(enforce), "slam auto");
}

#[test]
fn words_of_some_dialects_are_names_where_they_cannot_be_anything_else() {
    let text = "decl dead, sync, choose, constrain, dfs; void main() begin
        assume: dead, sync := choose, dfs & constrain; goto assume; end";
    assert_eq!(accepted_by(text), "slam boppo getafix auto");
    // In the paper's own dialect even T, F and _ are names.
    assert_eq!(accepted_by("decl T, _; main() begin T := _; end"), "bebop");
}

// Canonical text.

fn check_format(text: &str, dialect: Dialect, expected: Expect) {
    let (sources, loaded) = load_text(text, dialect);
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let once = format(&loaded.ast, sources.text(loaded.ast.file), dialect);
    expected.assert_eq(&once);
    let (sources, loaded) = load_text(&once, dialect);
    assert_eq!(
        format(&loaded.ast, sources.text(loaded.ast.file), dialect),
        once
    );
}

#[test]
fn the_canonical_text_of_everything() {
    check_format(
        "decl a,b ; decl {x <= 3},{y};enforce a|!b;
bool<2> f(p,q) begin enforce p=>q; return p&&q,~p; end
bool g() begin return T; end
void main() begin decl c;c:=*;
L: M: if c then skip elsif(?)then a,b:=b,a else while 1 do print(a,b) od; fi;
a,_:=f(a,(b)); c := g(); g();
a := schoose[a,!(b)] constrain 'a|((b))&'{x <= 3}; {x <= 3} := choose(a,b);
assert((a));assume(a=b);constrain(a!=b);abortif a;dead a,b; {y}:=a<=>b; goto L,M;
return end",
        Dialect::Auto,
        expect![[r#"
            decl a, b;
            decl {x <= 3}, y;
            enforce a | !b;

            bool<2> f(p, q) begin
              enforce p => q;
              return p & q, !p;
            end

            bool g() begin
              return 1;
            end

            void main() begin
              decl c;
              c := *;
              L: M: if (c) then
                skip;
              elsif (?) then
                a, b := b, a;
              else
                while (1) do
                  print(a, b);
                od
              fi
              a, _ := f(a, b);
              c := g();
              g();
              a := schoose[a, !b] constrain 'a | (b & '{x <= 3});
              {x <= 3} := choose(a, b);
              assert(a);
              assume(a = b);
              constrain(a != b);
              abortif a;
              dead a, b;
              y := a = b;
              goto L, M;
              return;
            end
        "#]],
    );
}

#[test]
fn comments_and_blank_lines_stay() {
    check_format(
        "// the file
decl a; // trailing
/* two
   lines */


void main() // head
begin // opening
  // first

  a := 1; /* one */ // two
  a := /* inside */ 0;


  // before if
  if (a) then // yes
    skip;
    // end of branch
  else
    // only a comment
  fi // closed
  // last
end // main
// the end",
        Dialect::Auto,
        expect![[r#"
            // the file
            decl a; // trailing

            /* two
               lines */

            void main() begin // head
              // opening
              // first

              a := 1; /* one */ // two
              /* inside */
              a := 0;

              // before if
              if (a) then // yes
                skip;
                // end of branch
              else
                // only a comment
              fi // closed
              // last
            end // main
            // the end
        "#]],
    );
}

#[test]
fn boppo_wants_a_semicolon_between_all_statements() {
    check_format(
        "void main() begin if * then skip fi; while T do skip od; skip end",
        Dialect::Boppo,
        expect![[r#"
            void main() begin
              if (*) then
                skip;
              fi;
              while (1) do
                skip;
              od;
              skip;
            end
        "#]],
    );
}

// Precedence.

/// How each reading of an expression groups it, and whether the union of dialects warns.
fn check_grouping(expression: &str, like_c: &str, like_boppo: &str) {
    let text = format!("decl a, b, c, d; void main() begin a := {expression}; end");
    let grouped = |dialect| {
        let (sources, loaded) = load_text(&text, dialect);
        assert!(
            !loaded.has_errors(),
            "{expression}: {:?}",
            loaded.diagnostics
        );
        let warned = loaded
            .diagnostics
            .iter()
            .any(|d| d.message.contains("is read as"));
        let text = format(&loaded.ast, sources.text(loaded.ast.file), dialect);
        let line = text
            .lines()
            .find(|l| l.contains(":="))
            .expect("the assignment")
            .to_owned();
        (
            line.trim()
                .trim_start_matches("a := ")
                .trim_end_matches(';')
                .to_owned(),
            warned,
        )
    };
    assert_eq!(
        grouped(Dialect::Getafix),
        (like_c.to_owned(), false),
        "{expression}"
    );
    assert_eq!(
        grouped(Dialect::Boppo),
        (like_boppo.to_owned(), false),
        "{expression}"
    );
    let same = like_c == like_boppo;
    let (auto, warned) = grouped(Dialect::Auto);
    assert_eq!(auto, like_c);
    // `a = b = c` is grouped differently, and means the same.
    assert!(warned != same || expression == "a = b != c", "{expression}");
}

#[test]
fn dialects_group_operators_differently_and_a_warning_says_so() {
    check_grouping("a & b = c", "a & (b = c)", "(a & b) = c");
    check_grouping("a = b & c", "(a = b) & c", "a = (b & c)");
    check_grouping("a ^ b | c", "(a ^ b) | c", "a ^ (b | c)");
    check_grouping("a => b => c", "(a => b) => c", "a => (b => c)");
    check_grouping("a = b => c", "(a = b) => c", "a = (b => c)");
    check_grouping("a = b != c", "(a = b) != c", "a = (b != c)");
    check_grouping("a & b | c", "(a & b) | c", "(a & b) | c");
    check_grouping("a | b & c", "a | (b & c)", "a | (b & c)");
    check_grouping("a & b & c", "a & b & c", "a & b & c");
    check_grouping("a & (b & c)", "a & (b & c)", "a & (b & c)");
    check_grouping("!a & b", "!a & b", "!a & b");
    check_grouping("!(a & b)", "!(a & b)", "!(a & b)");
    check_grouping("a | b => c", "(a | b) => c", "(a | b) => c");
    check_grouping("a & b => c | d", "(a & b) => (c | d)", "(a & b) => (c | d)");
    check_grouping("a ^ b & c", "a ^ (b & c)", "a ^ (b & c)");
}

// The control-flow graph.

fn check_graph(text: &str, expected: Expect) {
    let (sources, loaded) = load_text(text, Dialect::Auto);
    let program = loaded
        .program
        .unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    expected.assert_eq(&show(&program, &sources));
}

fn show(program: &Program, sources: &Sources) -> String {
    let mut out = String::new();
    for procedure in &program.procedures {
        out += &format!("{}: enter {}\n", procedure.name, procedure.entry.0);
        for vertex in procedure.vertices.clone().map(VertexId) {
            let entry = &program.vertices[vertex.index()];
            out += &format!(
                "{:3} {:?} `{}`",
                vertex.0,
                entry.kind,
                sources.slice(entry.span)
            );
            for (_, edge) in program.edges_from(vertex) {
                let when = match program.action(edge) {
                    Action::Assume { holds: true, .. } => " if true",
                    Action::Assume { holds: false, .. } => " if false",
                    _ => "",
                };
                out += &format!(" -> {}{when}", edge.to.0);
            }
            out += "\n";
        }
    }
    for target in &program.targets {
        match &target.kind {
            TargetKind::Label(label) => out += &format!("{label} at {}\n", target.vertex.0),
            TargetKind::Assertion => out += &format!("assertion at {}\n", target.vertex.0),
        }
    }
    out
}

#[test]
fn branches_loops_and_jumps() {
    check_graph(
        "decl a, b; void main() begin
           L: if (a) then skip; elsif (b) then a := b; else while (b) do od fi
           while (a) do if (b) then fi assert(b); od
           goto L, M, L; M: return; skip;
         end",
        expect![[r#"
            main: enter 0
              0 If `if (a)` -> 1 if true -> 2 if false
              1 Skip `skip` -> 5
              2 If `elsif (b)` -> 3 if true -> 4 if false
              3 Assign `a := b` -> 5
              4 While `while (b)` -> 4 if true -> 5 if false
              5 While `while (a)` -> 6 if true -> 8 if false
              6 If `if (b)` -> 7 if true -> 7 if false
              7 Assert `assert(b)` -> 5 if true -> 12 if false
              8 Goto `goto L, M, L` -> 0 -> 9
              9 Return `return` -> 11
             10 Skip `skip` -> 11
             11 Exit `end`
             12 Failed `assert(b)`
            L at 0
            assertion at 12
            M at 9
        "#]],
    );
}

#[test]
fn empty_bodies_have_only_an_exit() {
    check_graph(
        "void e() begin end void d() begin decl x; enforce x; end void main() begin e(); d(); end",
        expect![[r#"
            e: enter 0
              0 Exit `end`
            d: enter 1
              1 Exit `end`
            main: enter 2
              2 Call `e()` -> 3
              3 Call `d()` -> 4
              4 Exit `end`
        "#]],
    );
}

#[test]
fn a_late_declaration_is_a_statement_and_an_early_one_is_not() {
    check_graph(
        "void main() begin decl x; x := 1; decl y; y := x; end",
        expect![[r#"
            main: enter 0
              0 Assign `x := 1` -> 1
              1 Dead `decl y` -> 2
              2 Assign `y := x` -> 3
              3 Exit `end`
        "#]],
    );
}

// Warnings.

#[test]
fn warnings_do_not_refuse() {
    let text = "decl unused, g; bool f(a) begin if (a) then return g; fi end
        void main() begin decl x; return; skip; f(1); end";
    let (_, loaded) = load_text(text, Dialect::Auto);
    assert!(loaded.program.is_some());
    let messages: Vec<_> = loaded
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "the variable `unused` is never used",
            "`f` can end without `return`",
            "the variable `x` is never used",
            "unreachable statement"
        ]
    );
    assert!(
        loaded
            .diagnostics
            .iter()
            .all(|d| d.severity == Severity::Warning)
    );
}

// Bytes and generated programs.

#[test]
fn bytes_that_are_no_text_are_refused() {
    let message = |bytes: &[u8]| decode("x.bp", bytes.to_vec()).map_err(|d| d.message);
    assert_eq!(message(b"skip"), Ok("skip".to_owned()));
    assert_eq!(message("\u{feff}skip".as_bytes()), Ok("skip".to_owned()));
    assert_eq!(
        message(b"a\0b"),
        Err("x.bp is a binary file: byte 1 is zero".to_owned())
    );
    let error = "x.bp is not text in UTF-8: see byte 3 in line 2";
    assert_eq!(message(b"ab\n\xff"), Err(error.to_owned()));
}

#[test]
fn generated_families_load_without_a_word() {
    let texts = [
        generate::template(1),
        generate::template(7),
        generate::counter(1, generate::Start::Zero),
        generate::counter(8, generate::Start::Anywhere),
        generate::wide(200, 400, 1),
    ];
    for text in texts {
        let (_, loaded) = load_text(&text, Dialect::Auto);
        let messages: Vec<_> = loaded.diagnostics.iter().map(|d| &d.message).collect();
        let unused = |m: &&String| !m.ends_with("is never used");
        assert_eq!(messages.into_iter().filter(unused).count(), 0, "{text}");
        assert!(loaded.program.is_some());
    }
    assert_eq!(generate::template(800).lines().count(), 25 * 800 + 8);
    assert_eq!(
        load_text(&generate::template(800), Dialect::Auto)
            .1
            .program
            .unwrap()
            .variables
            .len(),
        2401
    );
}

#[test]
fn random_programs_are_the_same_everywhere() {
    let shape = generate::Shape {
        procedures: 2,
        globals: 1,
        locals: 1,
        formals: 1,
        statements: 5,
        recursion: generate::Recursion::Allowed,
    };
    expect![[r#"
        decl g0;

        void main()
        begin
          L0: g0 := p1(g0);
          assert(0);
          g0 := p1(((g0 & g0) | g0));
          L1: g0 := ((* = g0) | (g0 & g0));
          g0 := !((1 & g0));
          L2: skip;
        end

        bool p1(f0)
        begin
          decl l0;
          L0: l0 := (schoose[f0, f0] & (f0 | g0));
          f0 := (* | (1 & l0));
          if (l0) then
            L1: g0 := (l0 | (1 & l0));
            f0, l0, g0 := (!(g0) => schoose[g0, g0]), !(0), !(*) constrain 'l0 => g0;
          else
          fi
          return l0;
        end
    "#]]
    .assert_eq(&generate::arbitrary(shape, 2));
}
