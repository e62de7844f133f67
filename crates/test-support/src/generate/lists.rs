//! Generates small C programs that build a list, change it in walks, and assert something of all
//! its nodes.
//!
//! Every input is used for its last two bits; no pointer is followed that is null.

use crate::random::Random;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let value = random.pick(&["1", "1", "c", "i & 1", "c > 1 ? 1 : 2", "i"]);
    let insert = random.pick(&[
        "p->next = head; p->prev = 0; if (head) head->prev = p; head = p;",
        "p->next = 0; p->prev = last; if (last) last->next = p; else head = p; last = p;",
        "p->next = head ? head->next : 0; p->prev = head; if (head) head->next = p; else head = p;",
    ]);
    let mut walks = String::new();
    for _ in 0..random.below(3u64) {
        walks += random.pick(&[
            "    for (p = head; p; p = p->next) p->v = 2;\n",
            "    for (p = head; p; p = p->next) if (p->v == 1) p->v = 3;\n",
            "    for (p = head; p; p = p->next) if (p->next == 0) p->v = 3;\n",
            "    for (p = head; p && p->v != 1; p = p->next) p->v = 1;\n",
            "    if (head) head->v = 3;\n",
            "    if (head && head->next) { p = head; head = p->next; head->prev = 0; free(p); }\n",
            "    for (last = 0, p = head; p; p = head) \
             { head = p->next; p->next = last; p->prev = 0; last = p; }\n    head = last;\n",
        ]);
    }
    let claim = random.pick(&[
        "p->v == 1",
        "p->v == 2",
        "p->v == 1 || p->v == 2",
        "p->v == c || p->v == 3",
        "p->v != 3",
        "p->next == 0 || p->next->v == p->v",
        "p->next == 0 || p->next->prev == p",
        "p->v != 1 || p->next == 0 || p->next->v == 1",
        "p->v >= 0",
        "c > 1 || p->v != 2",
    ]);
    format!(
        "extern unsigned __VERIFIER_nondet_uint(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void free(void *);
struct node {{ int v; struct node *next, *prev; }};
int main(void) {{
    int c = __VERIFIER_nondet_uint() & 3, n = __VERIFIER_nondet_uint() & 3;
    struct node *head = 0, *last = 0, *p;
    for (int i = 0; i < n; i++) {{
        p = malloc(sizeof *p);
        if (!p) return 0;
        p->v = {value};
        {insert}
    }}
{walks}    for (p = head; p; p = p->next)
        if (!({claim})) __assert_fail(\"\", \"\", 0, \"\");
    return 0;
}}
"
    )
}
