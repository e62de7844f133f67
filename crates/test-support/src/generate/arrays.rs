//! Generates small C programs that fill and change an array in loops, and assert something of all
//! its elements.
//!
//! Every input is used for its last two bits; every access is inside of its array.

use crate::random::Random;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut loops = String::new();
    let length = 2 + random.below(3u64);
    for _ in 0..1 + random.below(2u64) {
        let first = random.pick(&["0", "0", "1"]);
        let end = random.pick(&["N", "N", "n", "N - 1"]);
        let value = random.pick(&["1", "7", "i", "i + 1", "c", "a[i] + 1", "b[i]", "b[i] + i"]);
        let condition = random.pick(&["", "", "if (i == c) ", "if (c > 1) "]);
        loops += &format!(
            "    for (int i = {first}; i < {end}; i++) {{ {condition}a[i] = {value}; }}\n"
        );
    }
    let end = random.pick(&["N", "n", "N - 1"]);
    let claim = random.pick(&[
        "a[x] == 1",
        "a[x] == 7",
        "a[x] == x",
        "a[x] == x + 1",
        "a[x] <= 7",
        "a[x] == b[x]",
        "a[x] == 0 || a[x] == 7",
        "c > 1 || a[x] != 7",
        "a[x] >= 0",
    ]);
    format!(
        "extern int __VERIFIER_nondet_int(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
#define N {length}
int a[N], b[N];
int main(void) {{
    int c = __VERIFIER_nondet_int() & 3, n = c < N ? c : N;
{loops}    for (int x = 0; x < {end}; x++)
        if (!({claim})) __assert_fail(\"\", \"\", 0, \"\");
    return 0;
}}
"
    )
}
