//! The models of library functions: C texts that come with the front end, of which only the
//! functions that a program needs are read.
//!
//! A model is exact where it can be; what it simplifies is said by its assumptions. What a model
//! reads from outside is an input (`__VERIFIER_nondet_*`).

mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::LazyLock;

pub(crate) use writers::{may_fail, sets, writes};

/// The files, by the name under which they are shown.
const FILES: [(&str, &str); 10] = [
    ("<hardbop>/models/ctype.c", include_str!("ctype.c")),
    ("<hardbop>/models/fenv.c", include_str!("fenv.c")),
    ("<hardbop>/models/known.c", include_str!("known.c")),
    ("<hardbop>/models/other.c", include_str!("other.c")),
    ("<hardbop>/models/stdio.c", include_str!("stdio.c")),
    ("<hardbop>/models/stdlib.c", include_str!("stdlib.c")),
    ("<hardbop>/models/string.c", include_str!("string.c")),
    ("<hardbop>/models/system.c", include_str!("system.c")),
    ("<hardbop>/models/time.c", include_str!("time.c")),
    ("<hardbop>/models/wchar.c", include_str!("wchar.c")),
];

/// Functions of the C library whose answers are guessed: they have no model, or one that allows
/// more than a library does. A run that depends on such an answer may not be possible.
const GUESSES: &[&str] = &[
    // Parts of models that are exact otherwise.
    "__hardbop_guess_asprintf",
    "__hardbop_guess_double",
    "__hardbop_guess_long_double",
    "__hardbop_guess_wide",
    "__hardbop_guess_narrow",
    "__hardbop_guess_end",
    "__hardbop_guess_pointer",
    "__hardbop_guess_text",
    // What was written, and the state of streams.
    "printf",
    "fprintf",
    "dprintf",
    "vprintf",
    "vfprintf",
    "vdprintf",
    "__printf_chk",
    "__fprintf_chk",
    "puts",
    "fputs",
    "putchar",
    "putc",
    "fputc",
    "putchar_unlocked",
    "putc_unlocked",
    "_IO_putc",
    "fwrite",
    "fflush",
    "feof",
    "ferror",
    "ftell",
    "fseek",
    "fseeko",
    "ungetc",
    "fileno",
    "setvbuf",
    "fgetpos",
    "fsetpos",
    "wprintf",
    "swprintf",
    "fwprintf",
    // Records of the system.
    "stat",
    "lstat",
    "fstat",
    "uname",
    "getrlimit",
    "getrusage",
    "clock_getres",
    "timespec_get",
    "sigprocmask",
    // Numbers at random, clocks, the environment.
    "rand",
    "rand_r",
    "random",
    "drand48",
    "lrand48",
    "mrand48",
    "erand48",
    "nrand48",
    "jrand48",
    "time",
    "clock",
    "clock_gettime",
    "gettimeofday",
    "mktime",
    "gmtime",
    "localtime",
    "gmtime_r",
    "localtime_r",
    "asctime",
    "asctime_r",
    "ctime",
    "ctime_r",
    "timegm",
    "timelocal",
    "strftime",
    "getenv",
    "secure_getenv",
    "system",
    "kill",
    "getpid",
    "getppid",
    "setlocale",
    "strerror",
    "strerror_r",
    "strsignal",
    "strcoll",
    "strxfrm",
    "nl_langinfo",
    "sysconf",
    "getpagesize",
    // Conversions.
    "strtold",
    "wcstod",
    "btowc",
    "wctob",
    // Mathematics.
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "logb",
    "ilogb",
    "pow",
    "cbrt",
    "hypot",
    "erf",
    "erfc",
    "tgamma",
    "lgamma",
    "gamma",
    "fdim",
    "fmax",
    "fmin",
    "remquo",
    "nextafter",
    "nexttoward",
    "ldexp",
    "frexp",
    "modf",
    "scalbn",
    "scalbln",
    "lround",
    "llround",
    "lrint",
    "llrint",
    "sincos",
    "j0",
    "j1",
    "jn",
    "y0",
    "y1",
    "yn",
    "exp10",
    "significand",
    "nan",
];

/// Whether what a function of the library answers is a guess. Functions of `math.h` are known for
/// `float` and `long double`, too.
pub fn is_guess(name: &str) -> bool {
    let variant = || {
        let plain = name.strip_suffix(['f', 'l'])?;
        let at = GUESSES.iter().position(|&guess| guess == "sin")?;
        GUESSES[at..].contains(&plain).then_some(())
    };
    GUESSES.contains(&name) || writes(name) || sets(name).next().is_some() || variant().is_some()
}

/// The functions of `math.h`, of which there is one for each type.
const MATH: &str = include_str!("math.c");

/// The types of `math.h`, the suffixes of their functions, and the names of their inputs.
const REALS: [(&str, &str, &str); 3] = [
    ("double", "", "double"),
    ("float", "f", "float"),
    ("long double", "l", "longdouble"),
];

/// The texts of `math.h`'s models, one for each type.
static MATHS: LazyLock<[String; 3]> = LazyLock::new(|| {
    REALS.map(|(ty, suffix, input)| {
        let inputs = MATH.replace("nondet_REAL", &format!("nondet_{input}"));
        inputs.replace("REAL", ty).replace('$', suffix)
    })
});

/// The functions of `string.h` that `wchar.h` has, too.
const TEXT: &str = include_str!("text.c");

/// What texts are made of, and how the names of their functions begin.
const CHARACTERS: [(&str, &str); 2] = [("char", "str"), ("wchar_t", "wcs")];

/// The models of these functions, one for each type.
static TEXTS: LazyLock<[String; 2]> =
    LazyLock::new(|| CHARACTERS.map(|(ty, begin)| TEXT.replace("CHAR", ty).replace('$', begin)));

/// All files, by the name under which they are shown.
fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let texts = TEXTS
        .iter()
        .map(|text| ("<hardbop>/models/text.c", text.as_str()));
    let maths = MATHS
        .iter()
        .map(|text| ("<hardbop>/models/math.c", text.as_str()));
    FILES.into_iter().chain(texts).chain(maths)
}

/// What every model may use.
pub(crate) const PRELUDE: &str = "\
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ssize_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef __builtin_va_list va_list;
typedef struct _IO_FILE FILE;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_end(list) __builtin_va_end(list)
void *malloc(size_t);
void *__hardbop_own_memory(size_t);
void free(void *);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
size_t __hardbop_object_size(const void *);
void __hardbop_disjoint(const void *, const void *, size_t);
void __VERIFIER_assume(int);
void __VERIFIER_nondet_memory(void *, size_t);
char __VERIFIER_nondet_char(void);
short __VERIFIER_nondet_short(void);
int __VERIFIER_nondet_int(void);
unsigned int __VERIFIER_nondet_uint(void);
long __VERIFIER_nondet_long(void);
unsigned long __VERIFIER_nondet_ulong(void);
long long __VERIFIER_nondet_longlong(void);
float __VERIFIER_nondet_float(void);
double __VERIFIER_nondet_double(void);
long double __VERIFIER_nondet_longdouble(void);
";

/// What the function of a model calls that failed, or may have failed, where the program looks at
/// `errno`; a number is too small for a result of full precision below `TINY`.
const FAILURES: &str = "\
void __hardbop_fails(void);
void __hardbop_may_fail(void);
#define FAILS() __hardbop_fails()
#define MAY_FAIL(when) ((when) ? __hardbop_may_fail() : (void)0)
#define TINY(x) (x != 0 && x > -0x1p-125f && x < 0x1p-125f)
";

/// The same where nobody looks.
const NO_FAILURES: &str = "\
#define FAILS() ((void)0)
#define MAY_FAIL(when) ((void)0)
";

/// The function whose result holds `errno`, and the models that set it: after a failure, and where
/// there may have been one.
pub(crate) const ERRNO: &str = "__errno_location";
pub(crate) const FAILS: &str = "__hardbop_fails";
pub(crate) const MAY_FAIL: &str = "__hardbop_may_fail";

/// A part of a file whose functions belong together.
#[derive(Debug, Default)]
struct Section {
    file: &'static str,
    assumptions: Vec<&'static str>,
    /// Declarations that every function of the section may need.
    declarations: Vec<(usize, &'static str)>,
    functions: Vec<Function>,
}

#[derive(Debug)]
struct Function {
    name: &'static str,
    line: usize,
    text: &'static str,
}

/// All models.
#[derive(Debug)]
pub(crate) struct Models {
    sections: Vec<Section>,
    by_name: BTreeMap<&'static str, usize>,
}

/// The models of some functions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// One unit that defines them.
    pub(crate) text: String,
    /// The functions that it defines.
    pub(crate) names: BTreeSet<&'static str>,
    /// What they assume.
    pub(crate) assumptions: BTreeSet<&'static str>,
}

impl Models {
    /// Splits the files into sections and functions.
    pub(crate) fn read() -> Models {
        let mut sections = Vec::new();
        for (file, text) in files() {
            let mut offset = 0;
            let mut section: Option<Section> = None;
            let mut function: Option<(usize, usize)> = None;
            for (index, line) in text.split_inclusive('\n').enumerate() {
                let start = offset;
                offset += line.len();
                let bare = line.trim_end();
                if let Some((first, begin)) = function {
                    if bare == "}" {
                        let body = &text[begin..offset];
                        if let Some(section) = &mut section {
                            let name = defined_name(body);
                            section.functions.push(Function {
                                name,
                                line: first,
                                text: body,
                            });
                        }
                        function = None;
                    }
                } else if bare == "//@" {
                    sections.extend(section.replace(Section {
                        file,
                        ..Section::default()
                    }));
                } else if let (Some(text), Some(section)) =
                    (bare.strip_prefix("//= "), &mut section)
                {
                    section.assumptions.push(text);
                } else if bare.is_empty() || bare.starts_with("//") {
                } else if let (true, Some(section)) = (bare.ends_with(';'), &mut section) {
                    section.declarations.push((index + 1, line));
                } else {
                    function = Some((index + 1, start));
                }
            }
            sections.extend(section);
        }
        let mut by_name = BTreeMap::new();
        for (index, section) in sections.iter().enumerate() {
            for function in &section.functions {
                by_name.insert(function.name, index);
            }
        }
        Models { sections, by_name }
    }

    /// Whether a function has a model.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The functions that may set `errno`.
    pub(crate) fn failing(&self) -> impl Iterator<Item = &'static str> {
        let functions = self.sections.iter().flat_map(|section| &section.functions);
        functions
            .filter(|f| mentions(f.text, "FAILS") || mentions(f.text, "MAY_FAIL"))
            .map(|f| f.name)
    }

    /// The models of those functions that have one, and what they need of their own sections;
    /// `taken` are defined already. They set `errno` where somebody looks at it.
    pub(crate) fn select<'a>(
        &self,
        wanted: impl Iterator<Item = &'a str>,
        taken: &BTreeSet<&'static str>,
        errno: bool,
    ) -> Selection {
        let mut chosen: BTreeMap<usize, BTreeSet<&'static str>> = BTreeMap::new();
        for name in wanted {
            if let Some((&name, &section)) = self.by_name.get_key_value(name)
                && !taken.contains(name)
            {
                chosen.entry(section).or_default().insert(name);
            }
        }
        let mut selection = Selection {
            text: format!("{PRELUDE}{}", if errno { FAILURES } else { NO_FAILURES }),
            names: BTreeSet::new(),
            assumptions: BTreeSet::new(),
        };
        for (index, mut names) in chosen {
            let section = &self.sections[index];
            close(section, &mut names);
            names.retain(|name| !taken.contains(name));
            selection.assumptions.extend(&section.assumptions);
            for (line, text) in &section.declarations {
                let _ = write!(selection.text, "# {line} \"{}\"\n{text}", section.file);
            }
            for function in section.functions.iter().filter(|f| names.contains(f.name)) {
                let (line, text) = (function.line, function.text);
                let _ = write!(selection.text, "# {line} \"{}\"\n{text}", section.file);
            }
            selection.names.extend(names);
        }
        selection
    }
}

/// Adds the functions of the section that those already chosen mention; all of them if they share
/// a static variable, which must not be defined twice.
fn close(section: &Section, names: &mut BTreeSet<&'static str>) {
    if section
        .declarations
        .iter()
        .any(|(_, text)| text.starts_with("static "))
    {
        names.extend(section.functions.iter().map(|f| f.name));
    }
    loop {
        let mentioned: Vec<&'static str> = section
            .functions
            .iter()
            .filter(|f| !names.contains(f.name))
            .filter(|f| {
                let users = section
                    .functions
                    .iter()
                    .filter(|user| names.contains(user.name));
                users.into_iter().any(|user| mentions(user.text, f.name))
            })
            .map(|f| f.name)
            .collect();
        if mentioned.is_empty() {
            return;
        }
        names.extend(mentioned);
    }
}

fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(word) && !text[at + name.len()..].starts_with(word))
}

/// The name before the first parenthesis.
fn defined_name(text: &'static str) -> &'static str {
    let head = text.split('(').next().unwrap_or(text);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    head.rsplit(|c| !word(c)).next().unwrap_or(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Input, InputKind, NoFiles, ParseOptions, Preprocess, Texts, parse_unit};
    use crate::types::DataModel;
    use expect_test::expect;
    use hardbop_diagnostics::{Style, render};

    #[test]
    fn only_what_is_needed_is_chosen() {
        let models = Models::read();
        let selection = models.select(
            ["strtok", "open", "mine"].into_iter(),
            &BTreeSet::new(),
            false,
        );
        let names: Vec<_> = selection.names.iter().copied().collect();
        assert_eq!(names, ["descriptor", "open", "outcome", "strtok"]);
        let text = selection.text.strip_prefix(PRELUDE).unwrap();
        let text = text.strip_prefix(NO_FAILURES).unwrap();
        expect![[r##"
            # 1036 "<hardbop>/models/stdio.c"
            static int outcome(void) {
              if (__VERIFIER_nondet_int() == 0)
                return 0;
              FAILS();
              return -1;
            }
            # 1042 "<hardbop>/models/stdio.c"
            static int descriptor(void) {
              if (outcome() != 0)
                return -1;
              int file = __VERIFIER_nondet_int();
              __VERIFIER_assume(file >= 0);
              return file;
            }
            # 1049 "<hardbop>/models/stdio.c"
            int open(const char *name, int flags, ...) {
              return descriptor();
            }
            # 112 "<hardbop>/models/string.c"
            char *strtok_r(char *s, const char *separators, char **rest);
            # 113 "<hardbop>/models/string.c"
            char *strtok(char *s, const char *separators) {
              static char *rest;
              return strtok_r(s, separators, &rest);
            }
        "##]]
        .assert_eq(text);
    }

    #[test]
    fn every_model_is_good_c() {
        let models = Models::read();
        for (model, errno) in [
            (DataModel::Ilp32, false),
            (DataModel::Lp64, false),
            (DataModel::Lp64, true),
        ] {
            let all = models.by_name.keys().copied();
            let selection = models.select(all, &BTreeSet::new(), errno);
            assert_eq!(selection.names.len(), models.by_name.len());
            let input = Input {
                name: "<models>".to_owned(),
                bytes: selection.text.into_bytes(),
                kind: InputKind::Source,
                preprocess: Preprocess::default(),
            };
            let mut texts = Texts::new();
            let (unit, told) = parse_unit(&input, &ParseOptions::new(model), &NoFiles, &mut texts);
            let told: String = told
                .iter()
                .map(|d| render(d, &texts.sources, Style::Plain))
                .collect();
            assert!(unit.is_some(), "{told}");
        }
    }

    #[test]
    fn no_function_is_modelled_twice() {
        let models = Models::read();
        let all: usize = models.sections.iter().map(|s| s.functions.len()).sum();
        assert_eq!(all, models.by_name.len());
    }
}
