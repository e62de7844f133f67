//! Sizes of objects that come from the program's numbers: every access is inside.

use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_houdini::{Elements, Houdini};
use hardbop_test_support::desk::left_open;
use hardbop_test_support::inputs::loaded_with;

const PRELUDE: &str = "extern unsigned __VERIFIER_nondet_uint(void);
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
";

/// How many checks of pointers and bounds are left open.
fn open(model: DataModel, text: &str) -> usize {
    let text = format!("{PRELUDE}{text}");
    let program = &loaded_with(&text, model, &[CheckKind::Pointer]).program;
    let engine = Houdini {
        elements: Elements::Left,
        ..Houdini::default()
    };
    left_open(program, &engine).len()
}

/// The size is no sum of the program's numbers: it is at least one of them.
#[test]
fn an_object_with_room_for_so_many_elements() {
    let program = |element: &str, count: &str, bound: &str| {
        format!(
            "int main(void) {{
                unsigned n = __VERIFIER_nondet_uint();
                if (n > 4096) return 0;
                {element} *p = malloc(({count}) * sizeof *p);
                if (!p) return 0;
                for (unsigned i = 0; i < {bound}; i++) p[i] = 1;
                return 0;
            }}"
        )
    };
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        for element in ["char", "int"] {
            assert_eq!(open(model, &program(element, "n ? n : 1", "n")), 0);
            assert_eq!(open(model, &program(element, "n + (n & 7)", "n")), 0);
            assert_eq!(open(model, &program(element, "n ? n : 1", "n + 1")), 1);
        }
    }
}

/// A buffer, and how long it is, in a structure that was taken, too.
#[test]
fn a_buffer_and_its_length_in_an_object() {
    let program = |bound: &str| {
        format!(
            "void free(void *);
            void *memset(void *, int, size_t);
            struct buffer {{ char *text; size_t length; }};
            struct buffer *make(size_t length) {{
                struct buffer *made = malloc(sizeof *made);
                if (!made) return 0;
                made->text = malloc(length + 1);
                if (!made->text) {{ free(made); return 0; }}
                made->length = length;
                memset(made->text, 'x', length);
                made->text[length] = 0;
                return made;
            }}
            int main(void) {{
                size_t n = __VERIFIER_nondet_uint();
                if (n > 100) return 0;
                struct buffer *b = make(n);
                if (!b) return 1;
                for (size_t i = 0; i < {bound}; i++) b->text[i] = 'y';
                free(b->text);
                free(b);
                return 0;
            }}"
        )
    };
    assert_eq!(open(DataModel::Lp64, &program("b->length")), 0);
    assert_eq!(open(DataModel::Lp64, &program("b->length + 2")), 1);
}
