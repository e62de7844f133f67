//! Generates C programs that count: one input, one or two loops that it bounds, and checks of the
//! counters behind them. All loops end, and nothing is asked for inside of them; there are 256
//! runs, all of them short.

use crate::random::Random;
use std::fmt::Write;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random(seed ^ 0x1007_0000);
    let mut text = String::from(
        "extern char __VERIFIER_nondet_char(void);\n\
         extern void reach_error(void);\n\
         int main(void) {\n\
         \u{20} int n = __VERIFIER_nondet_char(), x = 0, y = 0;\n",
    );
    let most = 5 + random.below(20u64);
    let _ = writeln!(text, "  if (n < 2 || n > {most}) return 0;");
    for _ in 0..1 + random.below(2u64) {
        let step = 1 + random.below(2u64);
        let _ = writeln!(
            text,
            "  while (x < {}n) {{",
            random.pick(&["", "2 * ", "n + "])
        );
        let _ = writeln!(text, "    x += {step};");
        let others = ["y++;", "y += 3;", "y = x;", "y = y - 2;"];
        let _ = writeln!(text, "    {}", random.pick(&others));
        text.push_str("  }\n");
    }
    let bound = random.below(20u64);
    let goals = [
        format!("y == {bound}"),
        format!("x == {bound} && y != x"),
        "x == n".to_owned(),
        "x > n + 3".to_owned(),
        format!("y > {bound} && x == n"),
        "y < 0 && x < n".to_owned(),
        format!("x - y == {bound}"),
    ];
    for _ in 0..3 {
        let goal = &goals[random.below(goals.len())];
        let _ = writeln!(text, "  if ({goal}) reach_error();");
    }
    text.push_str("  return 0;\n}\n");
    text
}
