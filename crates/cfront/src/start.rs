//! What calls `main`: its arguments are what the standard says they are.

use crate::builder::Builder;
use crate::ids::VarId;
use crate::program::{Origin, PlaceKind};
use crate::types::Type;

/// The function that calls `main`.
pub(crate) const START: &str = "__hardbop_start";

/// A list of texts that ends in a null pointer. Fewer than 2^28 texts of less than 2^31 bytes: no
/// system passes more.
const LIST: &str = "
  char **LIST = __builtin_alloca(((size_t)COUNT + 1) * sizeof(char *));
  for (int i = 0; i < COUNT; i++) {
    unsigned int length = __VERIFIER_nondet_uint();
    __VERIFIER_assume(length < 0x7fffffffu);
    char *text = __builtin_alloca((size_t)length + 1);
    for (unsigned int at = 0; at < length; at++)
      text[at] = __VERIFIER_nondet_char();
    text[length] = 0;
    LIST[i] = text;
  }
  LIST[COUNT] = 0;
";

const COUNT: &str = "
  int COUNT = __VERIFIER_nondet_int();
  __VERIFIER_assume(COUNT >= 0 && COUNT < 0x10000000);
";

/// The text of a function that calls `main` with arguments that it looks at; nothing if it looks
/// at none, or if they are not those of the standard.
pub(crate) fn text(builder: &Builder) -> Option<String> {
    if builder.options.entry != "main" {
        return None;
    }
    let main = builder.functions.iter();
    let main = main
        .clone()
        .find(|f| f.name == "main" && f.body.is_some())?;
    let used = |formal: Option<&VarId>| {
        formal.is_some_and(|&formal| {
            let kind = PlaceKind::Var(formal);
            builder.places.iter().any(|place| place.kind == kind)
        })
    };
    let (argc, argv, envp) = (
        main.formals.first(),
        main.formals.get(1),
        main.formals.get(2),
    );
    let (counts, lists, environment) = (used(argc), used(argv), used(envp));
    if !(counts || lists || environment) || main.formals.len() > 3 {
        return None;
    }
    let ty = |formal: VarId| builder.types.get(builder.variables[formal.index()].ty);
    let is_count = |&formal: &VarId| matches!(ty(formal), Type::Int { width: 32, .. });
    let is_list = |&formal: &VarId| match ty(formal) {
        Type::Pointer(to) => matches!(builder.types.get(*to), Type::Pointer(_)),
        _ => false,
    };
    let fit = argc.is_none_or(is_count) && argv.is_none_or(is_list) && envp.is_none_or(is_list);
    if !fit {
        return None;
    }
    let mut text = format!("int main(int, char **, char **);\nint {START}(void) {{\n");
    text.push_str(&COUNT.replace("COUNT", "argc"));
    let list = |name: &str, count: &str| LIST.replace("LIST", name).replace("COUNT", count);
    if lists {
        text.push_str(&list("argv", "argc"));
    } else {
        text.push_str("  char **argv = 0;\n");
    }
    if environment {
        text.push_str(&COUNT.replace("COUNT", "envc"));
        text.push_str(&list("envp", "envc"));
    } else {
        text.push_str("  char **envp = 0;\n");
    }
    let void = main.result.is_none();
    text.push_str(if void {
        "  main(argc, argv, envp);\n  return 0;\n}\n"
    } else {
        "  return main(argc, argv, envp);\n}\n"
    });
    Some(text)
}

/// What is said where there is no entry.
pub(crate) fn missing(builder: &Builder, entry: &str) -> String {
    let message = format!("the program has no function `{entry}` to start at");
    let mut functions = builder.functions.iter();
    let first = functions.find(|f| f.body.is_some() && f.origin == Origin::User);
    match first {
        Some(first) => format!(
            "{message}; `--entry {}` starts at that function, with arguments that may be anything, \
             and `hardbop check --each` looks at every function by itself",
            first.name
        ),
        None => message,
    }
}
