//! Random C programs of at most two one-byte inputs, with assertions that may or may not hold.

use crate::random::Random;
use std::fmt::Write;

/// The places that statements read and write. Unsigned ones only are incremented freely, so that
/// signed overflow, which has no meaning, stays away.
const PLACES: &[&str] = &[
    "a",
    "b",
    "c",
    "u",
    "g",
    "h",
    "s.x",
    "s.y",
    "s.bits",
    "p->x",
    "*q",
    "array[a & 3]",
    "*r",
];

const TYPES: &[&str] = &[
    "unsigned char",
    "signed char",
    "short",
    "unsigned short",
    "int",
    "long",
];

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::from(
        "extern unsigned char __VERIFIER_nondet_uchar(void);\n\
         extern void __assert_fail(const char *, const char *, unsigned, const char *);\n\
         #define assert(e) do { if (!(e)) __assert_fail(#e, \"\", 0, \"\"); } while (0)\n\
         struct pair { unsigned x; unsigned char y; unsigned bits : 3; int : 2; int low : 4; };\n\
         unsigned g; static unsigned char h = 7; struct pair global = { 1, 2, 3, -1 };\n\
         unsigned array[4] = { 4, 3, 2, 1 };\n",
    );
    let with_function = random.below(3) > 0;
    if with_function {
        let body = expression(&mut random, 2, &["v", "w", "g", "*to"]);
        let _ = writeln!(
            text,
            "static unsigned f(unsigned v, unsigned char w, unsigned *to) {{\n\
             \x20 if (v > 3u && w < 5) {{ *to = *to + 1u; return f(v >> 1, w + 1, to) + 1u; }}\n\
             \x20 g = g + w;\n  return {body};\n}}"
        );
    }
    text.push_str(
        "int main(void) {\n  unsigned a = __VERIFIER_nondet_uchar(), b = 0, c = 5;\n  \
         unsigned char u = 0;\n  struct pair s = { 0 };\n  struct pair *p = &s;\n  \
         unsigned *q = &b, *r = &array[1];\n",
    );
    if random.below(2) == 0 {
        text.push_str("  c = __VERIFIER_nondet_uchar();\n");
    }
    let statements = 3 + random.below(7);
    for index in 0..statements {
        statement(&mut random, &mut text, 2, with_function, index);
    }
    let _ = writeln!(text, "  assert({});", condition(&mut random));
    text.push_str("  return 0;\n}\n");
    text
}

fn statement(random: &mut Random, text: &mut String, depth: u32, call: bool, index: u64) {
    match random.below(if depth == 0 { 5 } else { 11 }) {
        0..=2 => {
            let place = random.pick(PLACES);
            let value = expression(random, 2, PLACES);
            let _ = writeln!(text, "  {place} = {value};");
        }
        3 => {
            let target = random.pick(&[
                "p = &global;",
                "p = &s;",
                "q = &c;",
                "q = &g;",
                "q = &s.x;",
                "r = &array[u & 3];",
                "r = q;",
            ]);
            let _ = writeln!(text, "  {target}");
        }
        4 => {
            let _ = writeln!(text, "  assert({});", condition(random));
        }
        5 | 6 => {
            let _ = writeln!(text, "  if ({}) {{", condition(random));
            statement(random, text, depth - 1, call, index);
            text.push_str("  } else {\n");
            statement(random, text, depth - 1, call, index);
            text.push_str("  }\n");
        }
        7 => {
            let bound = random.below(6);
            let counter = format!("i{depth}_{index}");
            let _ = writeln!(
                text,
                "  for (unsigned {counter} = 0; {counter} < {bound}u; {counter}++) {{"
            );
            statement(random, text, depth - 1, call, index);
            text.push_str("  }\n");
        }
        8 => {
            let case = random.below(4);
            let _ = writeln!(text, "  switch (a & 3) {{ case {case}:");
            statement(random, text, depth - 1, call, index);
            text.push_str("  break; default:\n");
            statement(random, text, depth - 1, call, index);
            text.push_str("  }\n");
        }
        9 if call => {
            let place = random.pick(&["a", "b", "g", "u", "*r"]);
            let value = expression(random, 1, PLACES);
            let to = random.pick(&["&c", "&g", "q", "&array[2]", "&s.x"]);
            let _ = writeln!(text, "  {place} = f({value} & 15u, h, {to});");
        }
        _ => {
            let copy = random.pick(&[
                "global = s;",
                "s = *p;",
                "s.low = a;",
                "*p = global;",
                "h = h + 1;",
            ]);
            let _ = writeln!(text, "  {copy}");
        }
    }
}

fn expression(random: &mut Random, depth: u32, places: &[&str]) -> String {
    if depth == 0 || random.below(4) == 0 {
        return if random.below(3) == 0 {
            format!("{}u", random.below(12))
        } else {
            format!("(unsigned){}", random.pick(places))
        };
    }
    let left = expression(random, depth - 1, places);
    let right = expression(random, depth - 1, places);
    match random.below(9) {
        0 => format!("({left} << ({right} & 7u))"),
        1 => format!("({left} >> ({right} & 15u))"),
        2 => format!("({left} / ({right} | 1u))"),
        3 => format!("({left} % ({right} | 1u))"),
        4 => format!("(unsigned)({})({left})", random.pick(TYPES)),
        5 => format!("({left} < {right} ? {right} : {left})"),
        other => {
            let op = ["+", "-", "*"][other as usize - 6];
            format!("({left} {op} {right})")
        }
    }
}

fn condition(random: &mut Random) -> String {
    let left = expression(random, 1, PLACES);
    let right = expression(random, 1, PLACES);
    let cast = random.pick(&["", "(int)", "(signed char)", "(long)"]);
    let op = random.pick(&["<", "<=", "==", "!=", ">", ">="]);
    let first = format!("{cast}{left} {op} {cast}{right}");
    match random.below(4) {
        0 => format!("{first} || {}", condition_atom(random)),
        1 => format!("{first} && {}", condition_atom(random)),
        _ => first,
    }
}

fn condition_atom(random: &mut Random) -> String {
    let place = random.pick(PLACES);
    let bound = random.below(9);
    format!("{place} != {bound}")
}
