//! What calls an entry, as a file of its own: for other verifiers, which leave open what is not
//! defined, and for fuzzers, which define it.

use super::{Filled, START, caller};
use crate::options::LowerOptions;
use crate::parse::{Files, Input, ParseOptions};
use hardbop_diagnostics::{Diagnostic, Severity};
use std::fmt::Write;

const FUZZER: &str = r#"#ifdef FUZZ
#include <setjmp.h>
static const unsigned char *fuzz_data;
static size_t fuzz_size;
static jmp_buf fuzz_refused;
static void fuzz_take(void *to, size_t bytes) {
  unsigned char *at = to;
  for (size_t i = 0; i < bytes; i++) {
    at[i] = fuzz_size > 0 ? *fuzz_data++ : 0;
    fuzz_size -= fuzz_size > 0;
  }
}
#define CHOICE(type, name) type name(void) { __typeof__(type) v; fuzz_take((void *)&v, sizeof v); return v; }
#define FLAG(name) _Bool name(void) { unsigned char v; fuzz_take(&v, sizeof v); return v & 1; }
/* Lengths are short, so that most inputs do something. */
#define COUNT(name) size_t name(void) { unsigned short v; fuzz_take(&v, sizeof v); return v % 4096; }
void __VERIFIER_assume(int condition) { if (!condition) longjmp(fuzz_refused, 1); }
void __VERIFIER_nondet_memory(void *to, size_t bytes) { fuzz_take(to, bytes); }
#else
#define CHOICE(type, name) extern type name(void);
#define FLAG(name) extern _Bool name(void);
#define COUNT(name) extern size_t name(void);
extern void __VERIFIER_assume(int condition);
extern void __VERIFIER_nondet_memory(void *to, size_t bytes);
#if defined __CPROVER || defined __CPROVER__
#define __VERIFIER_assume(condition) __CPROVER_assume(condition)
#define __VERIFIER_nondet_memory(to, bytes) __CPROVER_havoc_slice(to, bytes)
#endif
#endif
"#;

const FUZZED: &str = r#"
#ifdef FUZZ
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  fuzz_data = data;
  fuzz_size = size;
  if (!setjmp(fuzz_refused)) call_entry();
  return 0;
}
#else
int main(void) {
  call_entry();
  return 0;
}
#endif
"#;

/// A file in C that calls the entry with arguments that may be anything. It includes the file that
/// defines the entry.
pub fn harness_file(
    inputs: &[Input],
    parse: &ParseOptions,
    options: &LowerOptions,
    files: &dyn Files,
) -> Result<String, Vec<Diagnostic>> {
    let entry = &options.entry;
    let Some((at, caller)) = caller(inputs, parse, options, files, Filled::Yes)? else {
        let message = format!(
            "no file defines a function `{entry}` that takes anything which must be made up"
        );
        return Err(vec![Diagnostic::global(Severity::Error, message)]);
    };
    let mut text = format!(
        "/* Calls `{entry}` with arguments that may be anything. Assumed is that {}\n */\n",
        caller.assumed.replace("/*", "//").replace(" */", "")
    );
    let _ = writeln!(text, "#include \"{}\"", inputs[at].name);
    text.push_str("#include <stdlib.h>\n#include <string.h>\n\n");
    text.push_str(FUZZER);
    for (ty, name) in &caller.choices {
        let _ = match ty.as_str() {
            "__SIZE_TYPE__" => writeln!(text, "COUNT({name})"),
            "_Bool" => writeln!(text, "FLAG({name})"),
            _ => writeln!(text, "CHOICE({ty}, {name})"),
        };
    }
    text.push_str(&plain(&caller.callbacks));
    let body = plain(&caller.body);
    let _ = write!(text, "\nstatic void call_entry(void) {{\n{body}}}\n");
    text.push_str(FUZZED);
    Ok(text)
}

/// In the words of a file.
fn plain(text: &str) -> String {
    text.replace("__builtin_malloc", "malloc")
        .replace("__builtin_memset", "memset")
        .replace("__SIZE_TYPE__", "size_t")
        .replace(&format!("{START}_"), "entry_")
}
