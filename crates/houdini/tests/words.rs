//! Numbers that memory holds byte by byte, beside an array whose index may lead anywhere in the
//! same object.

use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_houdini::Houdini;
use hardbop_test_support::desk::left_open;
use hardbop_test_support::inputs::loaded_with;

/// Whether all checks of pointers and bounds are proved.
fn is_proved(text: &str) -> bool {
    let asked = [CheckKind::Pointer, CheckKind::Bounds];
    let prelude = "extern int __VERIFIER_nondet_int(void);\n";
    let loaded = loaded_with(&format!("{prelude}{text}"), DataModel::Lp64, &asked);
    left_open(&loaded.program, &Houdini::of_texts()).is_empty()
}

/// The ends of a ring stay inside of it, if they go around where it ends.
#[test]
fn a_ring() {
    let program = |length: u32| {
        is_proved(&format!(
            "struct ring {{ int data[16]; unsigned head, count; }};
            static void put(struct ring *r, int v) {{
                if (r->count == 16) return;
                r->data[(r->head + r->count) % 16] = v;
                r->count++;
            }}
            static int get(struct ring *r) {{
                if (!r->count) return 0;
                int v = r->data[r->head];
                r->head = (r->head + 1) % {length};
                r->count--;
                return v;
            }}
            int main(void) {{
                struct ring r = {{{{0}}, 0, 0}};
                while (__VERIFIER_nondet_int())
                    if (__VERIFIER_nondet_int()) put(&r, 1);
                    else get(&r);
                return 0;
            }}"
        ))
    };
    assert!(program(16));
    assert!(!program(17));
}
