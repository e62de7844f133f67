//! No input makes the parser panic, overflow the stack or take more than linear time.
//!
//! The random tests run for a few seconds. `HARDBOP_FUZZ=n` makes them n times as long and gives
//! them other seeds.

use hardbop_boolean_program::chc::{Query, to_chc};
use hardbop_boolean_program::generate::{Recursion, Shape, arbitrary};
use hardbop_boolean_program::graph::{to_dot, to_svg};
use hardbop_boolean_program::interp::{Choices, Machine};
use hardbop_boolean_program::{Dialect, Loaded, Random, format, load};
use hardbop_diagnostics::{Sources, Style, render};
use std::time::{Duration, Instant};

fn load_text(text: String, dialect: Dialect) -> (Sources, Loaded) {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.bp", text);
    let loaded = load(&sources, file, dialect);
    (sources, loaded)
}

/// Loads a text and puts whatever comes out of it through everything there is.
fn exercise(text: String, dialect: Dialect) -> bool {
    let (sources, loaded) = load_text(text, dialect);
    for diagnostic in &loaded.diagnostics {
        assert!(!render(diagnostic, &sources, Style::Plain).is_empty());
    }
    assert_eq!(loaded.program.is_none(), loaded.has_errors());
    let Some(program) = &loaded.program else {
        return false;
    };
    let text = format(&loaded.ast, sources.text(loaded.ast.file), dialect);
    let (sources, again) = load_text(text, dialect);
    let shown: Vec<_> = again.diagnostics.iter().map(|d| &d.message).collect();
    assert!(
        !again.has_errors(),
        "{shown:?}\n{}",
        sources.text(again.ast.file)
    );
    let once = sources.text(again.ast.file);
    assert_eq!(format(&again.ast, once, dialect), once);
    let second = again.program.expect("no errors");
    assert_eq!(program.vertices.len(), second.vertices.len());
    assert_eq!(program.edges.len(), second.edges.len());
    let mut choices = Choices::random(1);
    if let Ok(mut machine) = Machine::start(program, &mut choices) {
        for _ in 0..20 {
            machine.step(&mut choices);
        }
    }
    assert!(to_chc(&second, Query::AnyTarget).ends_with("(check-sat)\n"));
    assert!(to_dot(&second, &sources).ends_with("}\n"));
    assert!(to_svg(&second, &sources).ends_with("</svg>\n"));
    true
}

/// How much longer than usual to look for trouble.
fn effort() -> u64 {
    std::env::var("HARDBOP_FUZZ")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1)
}

fn dialect(random: &mut Random) -> Dialect {
    Dialect::ALL[random.below(Dialect::ALL.len())]
}

fn valid_program(seed: u64) -> String {
    let shape = Shape {
        procedures: 2,
        globals: 2,
        locals: 2,
        formals: 2,
        statements: 10,
        recursion: Recursion::Allowed,
    };
    arbitrary(shape, seed)
}

#[test]
fn random_bytes() {
    let mut random = Random::new(1000 * effort());
    for _ in 0..5_000 * effort() {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        exercise(
            String::from_utf8_lossy(&bytes).into_owned(),
            dialect(&mut random),
        );
    }
}

#[test]
fn random_tokens() {
    let tokens = [
        "decl",
        "begin",
        "end",
        "void",
        "bool",
        "bool<2>",
        "main",
        "f",
        "(",
        ")",
        "[",
        "]",
        "skip",
        "goto",
        "return",
        "if",
        "then",
        "else",
        "elsif",
        "fi",
        "while",
        "do",
        "od",
        "assert",
        "assume",
        "constrain",
        "enforce",
        "abortif",
        "dead",
        "print",
        "choose",
        "schoose",
        "dfs",
        "thread_local",
        "sync",
        "start_thread",
        "x",
        "y",
        "_",
        "{x y}",
        "L",
        ":",
        ":=",
        ";",
        ",",
        "!",
        "~",
        "&",
        "&&",
        "|",
        "^",
        "=",
        "==",
        "!=",
        "=>",
        "<=>",
        "*",
        "?",
        "'",
        "0",
        "1",
        "T",
        "F",
        "7",
        "<",
        ">",
        "//c\n",
        "/*c*/",
        "\n",
        "{",
        "/*",
        "@",
        "ASYNC_1",
    ];
    let mut random = Random::new(1000 * effort() + 1);
    for _ in 0..20_000 * effort() {
        let mut text = String::new();
        if random.coin() {
            text.push_str("decl x, y; void main() begin ");
        }
        for _ in 0..random.below(60) {
            text.push_str(tokens[random.below(tokens.len())]);
            text.push(' ');
        }
        if random.coin() {
            text.push_str(" end");
        }
        exercise(text, dialect(&mut random));
    }
}

#[test]
fn damaged_programs() {
    let mut random = Random::new(1000 * effort() + 2);
    let mut survivors = 0;
    for seed in 0..3_000 * effort() {
        let mut bytes = valid_program(seed).into_bytes();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = b" \n;:=(),xL01*'{}/"[random.below(17)],
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, bytes[random.below(bytes.len())]),
                _ => {
                    let end = (at + random.below(30)).min(bytes.len());
                    bytes.drain(at..end);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        survivors += exercise(text, Dialect::Auto) as usize;
    }
    assert!(survivors > 100, "{survivors}");
}

#[test]
fn valid_programs() {
    for seed in 0..2_000 * effort() {
        assert!(exercise(valid_program(seed), Dialect::Auto), "seed {seed}");
    }
}

// Big input. The limits are far above what is needed, so that a busy machine does not matter,
// and far below what a quadratic algorithm would take.

fn check_big(text: String, accepted: bool) {
    let start = Instant::now();
    let (sources, loaded) = load_text(text, Dialect::Auto);
    for diagnostic in &loaded.diagnostics {
        assert!(render(diagnostic, &sources, Style::Plain).len() < 2_000);
    }
    assert_eq!(loaded.program.is_some(), accepted);
    if accepted {
        let text = format(&loaded.ast, sources.text(loaded.ast.file), Dialect::Auto);
        let (_, again) = load_text(text, Dialect::Auto);
        assert!(again.program.is_some());
    }
    assert!(
        start.elapsed() < Duration::from_secs(120),
        "{:?}",
        start.elapsed()
    );
}

fn in_main(body: String) -> String {
    format!("decl g; void main() begin {body} end")
}

#[test]
fn ten_megabytes_of_parentheses() {
    let n = 5_000_000;
    check_big(
        in_main(format!("g := {}1{};", "(".repeat(n), ")".repeat(n))),
        true,
    );
    check_big(in_main(format!("g := {}", "(".repeat(2 * n))), false);
    check_big(in_main(format!("g := {}", ")".repeat(2 * n))), false);
}

#[test]
fn deep_expressions() {
    let n = 500_000;
    check_big(in_main(format!("g := {}g;", "!".repeat(n))), true);
    check_big(
        in_main(format!("g := {}g{};", "g & (".repeat(n), ")".repeat(n))),
        true,
    );
    check_big(in_main(format!("g := g{};", " & g".repeat(n))), true);
    check_big(
        in_main(format!(
            "g := {}g{};",
            "choose(g, ".repeat(n),
            ")".repeat(n)
        )),
        true,
    );
}

#[test]
fn two_hundred_thousand_statements() {
    let n = 200_000;
    check_big(in_main("g := !g;\n".repeat(n)), true);
    check_big(
        in_main(format!(
            "{}skip;{}",
            "if (g) then ".repeat(n),
            "fi ".repeat(n)
        )),
        true,
    );
    check_big(
        in_main(format!("{}{}", "while (g) do ".repeat(n), "od ".repeat(n))),
        true,
    );
    let elsifs = format!("if (g) then {}else fi", "skip; elsif (g) then ".repeat(n));
    check_big(in_main(elsifs), true);
    check_big(in_main("if (g) then ".repeat(n)), false);
    check_big(in_main("fi ".repeat(n)), false);
    check_big(
        in_main(format!(
            "{}{}",
            "if (g) then while (g) do ".repeat(n),
            "fi ".repeat(n)
        )),
        false,
    );
}

#[test]
fn many_names() {
    let n = 200_000;
    let labels: String = (0..n).map(|i| format!("L{i}: ")).collect();
    let targets: Vec<_> = (0..n).map(|i| format!("L{i}")).collect();
    check_big(
        in_main(format!("{labels} skip; goto {};", targets.join(", "))),
        true,
    );
    check_big(in_main(format!("{}skip;", "L: ".repeat(n))), true);
    let names: Vec<_> = (0..n).map(|i| format!("x{i}")).collect();
    let names = names.join(", ");
    check_big(in_main(format!("decl {names}; {names} := {names};")), true);
    let procedures: String = (0..n / 4)
        .map(|i| format!("void p{i}() begin end\n"))
        .collect();
    check_big(format!("{procedures}{}", in_main(String::new())), true);
    check_big(in_main(format!("x := {}", "{".repeat(n))), false);
    check_big(in_main("/*".repeat(n)), false);
    check_big(in_main("\u{1}".repeat(n)), false);
    let many = "bool<65536> f() begin end\n".repeat(n / 4);
    check_big(format!("{many}{}", in_main(String::new())), false);
}
