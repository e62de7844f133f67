//! Arrays of pointers to objects: rows of a matrix, tables with empty slots.

use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_houdini::Houdini;
use hardbop_test_support::desk::left_open;
use hardbop_test_support::inputs::loaded_with;

const PRELUDE: &str = "extern unsigned __VERIFIER_nondet_uint(void);
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void free(void *);
";

/// What checks of pointers and of `free` are left open.
fn open(text: &str) -> Vec<String> {
    let asked = [CheckKind::Pointer, CheckKind::Free];
    let loaded = loaded_with(&format!("{PRELUDE}{text}"), DataModel::Lp64, &asked);
    let program = &loaded.program;
    let open = left_open(program, &Houdini::default());
    let open = open.keys().map(|check| &program.checks[check.index()]);
    open.map(|check| check.message.clone()).collect()
}

/// Each row is an object of its own: what one `free` ends is not what another one does.
#[test]
fn rows_of_a_matrix() {
    let program = |columns: &str, freed: &str| {
        open(&format!(
            "int main(void) {{
                unsigned n = __VERIFIER_nondet_uint(), m = __VERIFIER_nondet_uint();
                if (n == 0 || n > 100 || m == 0 || m > 100) return 0;
                int **rows = malloc(n * sizeof *rows);
                for (unsigned i = 0; i < n; i++) rows[i] = malloc(m * sizeof(int));
                for (unsigned i = 0; i < n; i++)
                    for (unsigned j = 0; j < {columns}; j++) rows[i][j] = 1;
                for (unsigned i = 0; i < n; i++) free(rows[{freed}]);
                free(rows);
                return 0;
            }}"
        ))
    };
    assert_eq!(program("m", "i"), [""; 0]);
    assert_eq!(program("m + 1", "i"), ["invalid access in rows[i][j]"]);
    assert_eq!(program("m", "i / 2"), ["invalid free in free(rows[i / 2])"]);
}

#[test]
fn a_table_with_empty_slots() {
    let program = |condition: &str, size: &str| {
        open(&format!(
            "struct item {{ int key, value; }};
            struct item *table[16];
            int main(void) {{
                while (__VERIFIER_nondet_uint()) {{
                    struct item *made = malloc({size});
                    made->key = 1;
                    made->value = 2;
                    table[__VERIFIER_nondet_uint() % 16] = made;
                }}
                int sum = 0;
                for (unsigned i = 0; i < 16; i++)
                    if ({condition}) sum += table[i]->value;
                return sum;
            }}"
        ))
    };
    assert_eq!(program("table[i]", "sizeof *made"), [""; 0]);
    assert_eq!(
        program("1", "sizeof *made"),
        ["null pointer in table[i]->value"]
    );
    // Behind an access that is checked, it was inside: no such object comes into the table.
    assert_eq!(program("table[i]", "4"), ["invalid access in made->value"]);
}

/// The first element is nowhere written again.
#[test]
fn an_array_that_is_reached_by_a_copy() {
    let program = |from: &str| {
        open(&format!(
            "static int first(int count, char **names) {{
                int found = 0;
                for (int i = 0; i < count; i++) found += names[i][{from}];
                return found;
            }}
            int main(void) {{
                unsigned n = __VERIFIER_nondet_uint();
                if (n > 1000) return 0;
                char **list = malloc(n * sizeof *list);
                for (unsigned i = 0; i < n; i++) {{
                    size_t length = __VERIFIER_nondet_uint() % 100;
                    char *text = malloc(length + 1);
                    text[length] = 0;
                    list[i] = text;
                }}
                return first(n, list);
            }}"
        ))
    };
    assert_eq!(program("0"), [""; 0]);
    assert_eq!(program("1"), ["invalid access in names[i][1]"]);
}
