//! Buffers that grow: a number beside the pointer says how much room there is, also after `realloc`,
//! and what is in use is at most that.

use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_houdini::Houdini;
use hardbop_test_support::desk::left_open;
use hardbop_test_support::inputs::loaded_with;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void *realloc(void *, size_t);
void free(void *);
void exit(int);
";

/// What checks of pointers and of `free` are left open.
fn open(text: &str) -> Vec<String> {
    let asked = [CheckKind::Pointer, CheckKind::Free];
    let loaded = loaded_with(&format!("{PRELUDE}{text}"), DataModel::Lp64, &asked);
    let program = &loaded.program;
    let open = left_open(program, &Houdini::of_rooms());
    let open = open.keys().map(|check| &program.checks[check.index()]);
    open.map(|check| check.message.clone()).collect()
}

/// There is nothing at first; what is full becomes twice as large.
#[test]
fn a_buffer_that_is_handed_around_by_pointer() {
    let program = |full: &str| {
        open(&format!(
            "struct buffer {{ char *data; size_t length, room; }};
            static int push(struct buffer *b, char c) {{
                if ({full}) {{
                    size_t room = b->room ? 2 * b->room : 8;
                    char *data = realloc(b->data, room);
                    if (!data) return 0;
                    b->data = data;
                    b->room = room;
                }}
                b->data[b->length++] = c;
                return 1;
            }}
            int main(void) {{
                struct buffer b = {{0, 0, 0}};
                while (b.length < 1000 && __VERIFIER_nondet_int())
                    if (!push(&b, 'x')) break;
                free(b.data);
                return 0;
            }}"
        ))
    };
    assert_eq!(program("b->length == b->room"), [""; 0]);
    // There is none to begin with.
    assert_eq!(
        program("b->length > b->room"),
        ["null pointer in b->data[b->length++]"]
    );
}

/// A line is read into what grows, and always has room for its end.
#[test]
fn a_line_with_room_for_its_end() {
    let program = |full: &str| {
        open(&format!(
            "int main(void) {{
                size_t length = 0, room = 16;
                char *line = malloc(room);
                if (!line) return 1;
                while (__VERIFIER_nondet_int()) {{
                    if ({full}) {{
                        room *= 2;
                        if (room > 1u << 20) break;
                        char *more = realloc(line, room);
                        if (!more) {{ free(line); return 1; }}
                        line = more;
                    }}
                    line[length++] = 'x';
                }}
                line[length] = 0;
                free(line);
                return 0;
            }}"
        ))
    };
    assert_eq!(program("length + 1 >= room"), [""; 0]);
    assert_eq!(
        program("length >= room"),
        ["invalid access in line[length]"]
    );
}
