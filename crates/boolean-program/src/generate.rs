//! Families of programs for measuring and testing.

mod arbitrary;

pub use arbitrary::{Recursion, Shape, arbitrary};

use crate::random::Random;
use std::fmt::Write;

/// T(N) of the Bebop paper, section 4: `levels` procedures of 25 lines, each calling the next one
/// twice or counting to 7 in three bits, with four variables in scope everywhere.
///
/// The label `done` at the end of `main` is reachable.
pub fn template(levels: u32) -> String {
    let mut out = String::with_capacity(360 * levels as usize + 200);
    out.push_str(
        "decl g;\n\nvoid main()\nbegin\n  level1();\n  skip;\n  level1();\n  skip;\n  done: skip;\nend\n",
    );
    for level in 1..=levels {
        let call = match level < levels {
            true => format!("    level{}();\n    skip;\n", level + 1),
            false => "    skip;\n".to_owned(),
        };
        let _ = write!(
            out,
            "
void level{level}()
begin
  decl a, b, c;
  if (g) then
    a, b, c := 0, 0, 0;
    while (!a | !b | !c) do
      if (!a) then
        a := 1;
      elsif (!b) then
        a, b := 0, 1;
      elsif (!c) then
        a, b, c := 0, 0, 1;
      else
        skip;
      fi
    od
  else
{call}{call}  fi
  g := !g;
end
"
        );
    }
    out
}

/// Where a counter starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At zero, so that the loop runs 2^bits - 1 times.
    Zero,
    /// Anywhere.
    Anywhere,
}

/// A counter of so many bits that runs until all of them are set. The label `done` behind the
/// loop is reachable, and the assertion there holds.
pub fn counter(bits: u32, start: Start) -> String {
    let bits = bits.max(1);
    let list = |f: &dyn Fn(u32) -> String, between: &str| {
        (0..bits).map(f).collect::<Vec<_>>().join(between)
    };
    let names = list(&|i| format!("b{i}"), ", ");
    let mut out = format!("decl {names};\n\nvoid main()\nbegin\n");
    if start == Start::Zero {
        let _ = writeln!(out, "  {names} := {};", list(&|_| "0".to_owned(), ", "));
    }
    let _ = writeln!(out, "  while ({}) do", list(&|i| format!("!b{i}"), " | "));
    for bit in 0..bits {
        let word = if bit == 0 { "if" } else { "elsif" };
        let targets: Vec<_> = (0..=bit).map(|i| format!("b{i}")).collect();
        let values: Vec<_> = (0..=bit)
            .map(|i| if i == bit { "1" } else { "0" })
            .collect();
        let _ = writeln!(out, "    {word} (!b{bit}) then");
        let _ = writeln!(
            out,
            "      {} := {};",
            targets.join(", "),
            values.join(", ")
        );
    }
    out.push_str("    fi\n  od\n  done: skip;\n");
    let _ = writeln!(out, "  assert({});\nend", list(&|i| format!("b{i}"), " & "));
    out
}

/// One procedure with many variables in scope, each statement touching few of them: a ring of
/// copies, swaps and conditionals over neighbours, inside of a loop. The label `done` is
/// reachable; the assertion behind it, that a variable that nothing assigns kept its value, holds.
pub fn wide(variables: u32, statements: u32, seed: u64) -> String {
    let variables = variables.max(6);
    let mut random = Random::new(seed);
    let half = variables / 2;
    let globals: Vec<_> = (0..half).map(|i| format!("v{i}")).collect();
    let locals: Vec<_> = (half..variables - 2).map(|i| format!("v{i}")).collect();
    let mut out = format!("decl {};\n\nvoid main()\nbegin\n", globals.join(", "));
    let _ = writeln!(out, "  decl {}, kept, copy;", locals.join(", "));
    let _ = writeln!(out, "  copy := kept;\n  while (*) do");
    let count = variables as usize - 2;
    for _ in 0..statements {
        let a = random.below(count);
        // Neighbours: what a statement touches lies close together, as in real programs.
        let b = (a + 1 + random.below(3)) % count;
        let c = (a + count - 1 - random.below(3)) % count;
        let _ = match random.below(5) {
            0 => writeln!(out, "    v{a} := v{b};"),
            1 => writeln!(out, "    v{a}, v{b} := v{b}, v{a};"),
            2 => writeln!(out, "    v{a} := v{b} & !v{c};"),
            3 => writeln!(
                out,
                "    if (v{a}) then\n      v{b} := *;\n    else\n      v{c} := 0;\n    fi"
            ),
            _ => writeln!(out, "    v{a} := v{b} != v{c};"),
        };
    }
    out.push_str("  od\n  done: skip;\n  assert(copy = kept);\nend\n");
    out
}
