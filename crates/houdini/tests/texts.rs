//! Texts that end at a zero, by pointers that begin anywhere in them: none is read or written behind
//! its end, as long as there is one.

use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_houdini::Houdini;
use hardbop_test_support::desk::left_open;
use hardbop_test_support::inputs::loaded_with;

const PRELUDE: &str = "extern char __VERIFIER_nondet_char(void);
extern unsigned __VERIFIER_nondet_uint(void);
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void free(void *);
";

/// What checks of pointers and bounds are left open.
fn open(text: &str) -> Vec<String> {
    let asked = [CheckKind::Pointer, CheckKind::Bounds];
    let loaded = loaded_with(&format!("{PRELUDE}{text}"), DataModel::Lp64, &asked);
    let program = &loaded.program;
    let open = left_open(program, &Houdini::of_texts());
    let open = open.keys().map(|check| &program.checks[check.index()]);
    open.map(|check| check.message.clone()).collect()
}

/// What is left of a text is no longer than it was, so its end is not written over before it is read.
#[test]
fn characters_left_out_in_place() {
    let program = |end: u32| {
        open(&format!(
            "static void without(char *s, char c) {{
                char *d = s;
                for (; *s; s++) if (*s != c) *d++ = *s;
                *d = 0;
            }}
            int main(void) {{
                char line[40];
                for (int i = 0; i < 40; i++) line[i] = __VERIFIER_nondet_char();
                line[{end}] = 0;
                without(line, ' ');
                return 0;
            }}"
        ))
    };
    assert_eq!(program(39), [""; 0]);
    // There is an end, and nothing is behind it.
    assert_eq!(program(0), [""; 0]);
}

/// An end that nobody wrote is not there.
#[test]
fn a_text_without_an_end() {
    let program = |end: &str| {
        open(&format!(
            "int main(void) {{
                char line[40];
                for (int i = 0; i < 40; i++) line[i] = __VERIFIER_nondet_char();
                {end}
                char *p = line;
                while (*p) p++;
                return 0;
            }}"
        ))
    };
    assert_eq!(program("line[39] = 0;"), [""; 0]);
    assert_eq!(program(""), ["invalid access in *p"]);
    assert_eq!(
        program("line[39] = 0; line[__VERIFIER_nondet_uint() % 40] = 'x';"),
        ["invalid access in *p"]
    );
}

/// A text that an escape may end: the character behind it is read only if there is one.
#[test]
fn escapes() {
    let program = |escaped: &str| {
        open(&format!(
            "int main(void) {{
                char from[32], to[32];
                for (int i = 0; i < 31; i++) from[i] = __VERIFIER_nondet_char();
                from[31] = 0;
                char *s = from, *d = to;
                while (*s) {{
                    if ({escaped}) s++;
                    *d++ = *s++;
                }}
                *d = 0;
                return 0;
            }}"
        ))
    };
    assert_eq!(program("*s == '!' && s[1]"), [""; 0]);
    assert_ne!(program("*s == '!'"), [""; 0]);
}

/// The end of what was allocated is wherever its size says.
#[test]
fn a_text_of_any_length() {
    let program = |end: &str| {
        open(&format!(
            "int main(void) {{
                unsigned n = __VERIFIER_nondet_uint();
                if (n == 0 || n > 100000) return 0;
                char *s = malloc(n);
                if (!s) return 1;
                for (unsigned i = 0; i < n; i++) s[i] = __VERIFIER_nondet_char();
                {end}
                int dots = 0;
                for (char *p = s; *p; p++) if (*p == '.') dots = 1;
                free(s);
                return dots;
            }}"
        ))
    };
    assert_eq!(program("s[n - 1] = 0;"), [""; 0]);
    // Of one character, there is no end.
    assert_eq!(
        program("if (n > 1) s[n - 2] = 0;"),
        ["invalid access in *p"]
    );
}
