//! Floating point in all roundings against gcc and the machine: dense special operands and random
//! ones leave the same checksums, operation by operation.
//!
//! `HARDBOP_DIFFERENTIAL=20000` takes that many operands for each operation instead of some
//! hundred; `HARDBOP_SEED=7` takes other ones.

// How many operands agreed is worth seeing.
#![allow(clippy::print_stderr)]

use hardbop_cfront::interp::Outcome;
use hardbop_cfront::types::DataModel;
use hardbop_test_support::oracle;
use hardbop_test_support::setting;

/// One checksum for each of these, each mode and each type.
const OPERATIONS: [&str; 16] = [
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "sqrt$(x < 0 ? -x : x)",
    "fma$(x, y, z)",
    "rint$(x)",
    "nearbyint$(y)",
    "(REAL)whole",
    "(REAL)(unsigned long long)whole",
    "(REAL)wide",
    "fmod$(x, y)",
    // What glibc makes of the sign of a zero is not C's in one of the modes.
    "(z = remainder$(x, y), z == 0 ? 0 : z)",
    "(z = remquo$(x, y, &quotient), (z == 0 ? 0 : z) + (quotient & 7))",
    "x > -1e9f && x < 1e9f ? (REAL)lrint$(x) : 0",
    "fdim$(x, y)",
];

/// What has no functions of its own.
const PLAIN: usize = 4;

const HEAD: &str = "
int fesetround(int);
int printf(const char *, ...);
float sqrtf(float); float fmaf(float, float, float); float rintf(float);
float nearbyintf(float); float fmodf(float, float); float remainderf(float, float);
float remquof(float, float, int *); long lrintf(float); float fdimf(float, float);
double sqrt(double); double fma(double, double, double); double rint(double);
double nearbyint(double); double fmod(double, double); double remainder(double, double);
double remquo(double, double, int *); long lrint(double); double fdim(double, double);
long double sqrtl(long double); long double fmal(long double, long double, long double);
long double rintl(long double); long double nearbyintl(long double);
long double fmodl(long double, long double); long double remainderl(long double, long double);
long double remquol(long double, long double, int *); long lrintl(long double);
long double fdiml(long double, long double);
unsigned long long results[COUNT];
unsigned long long state = SEED;
static unsigned long long any(void) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (state ^ state >> 29) * 0x9e3779b97f4a7c15ULL;
}
static void add(int at, unsigned long long word) {
  results[at] = (results[at] ^ word) * 0x100000001b3ULL + (word >> 32);
}
";

/// Operands of a type and what becomes of them.
const BODY: &str = "
static REAL draw_$(REAL near) {
  union { REAL number; unsigned short parts[8]; unsigned long long word; } bits;
  bits.number = 0;
  unsigned long long kind = any() >> 33;
  switch (kind % 8) {
  case 0: {
    static const int exponents[6] = {0, 1, 2, 3, 4, 5};
    REAL scale = 1;
    for (int i = 0; i < exponents[any() % 6]; i++) scale = scale * (any() % 2 ? (REAL)0.5 : 2);
    return (any() % 2 ? -1 : 1) * (REAL)(any() % 5) * scale;
  }
  case 1: bits.word = any() >> any() % 64; break;
  case 2: case 3: bits.word = any(); TOP break;
  case 4: return near + (REAL)(any() % 3) * near / 1024;
  case 5: return -near;
  case 6: return (REAL)(long long)any();
  default: bits.word = any() % 4; SMALL break;
  }
  return bits.number;
}
static void note_$(int at, REAL result) {
  union { REAL number; unsigned short parts[8]; unsigned long long word; } bits;
  bits.word = 0;
  bits.parts[4] = 0;
  bits.number = result;
  if (result != result) { add(at, 99); return; }
  unsigned long long word = 0;
  for (int i = 0; i < PARTS; i++) word = word * 65599 + bits.parts[i];
  add(at, word);
}
static void run_$(int first, int mode, int count) {
  for (int i = 0; i < count; i++) {
    int quotient = 0;
    fesetround(0);
    REAL x = draw_$(1), y = draw_$(x);
    REAL z = draw_$(-x * y);
    long long whole = (long long)any() >> any() % 64;
    WIDE wide = WIDER;
    fesetround(mode);
    CASES
    fesetround(0);
  }
}
";

/// A type, the suffix of its functions, how many shorts its bits are, what makes bits a number of
/// it, and a type with more digits.
struct Real {
    ty: &'static str,
    suffix: &'static str,
    parts: usize,
    top: &'static str,
    small: &'static str,
    wide: &'static str,
    wider: &'static str,
}

const REALS: [Real; 4] = [
    Real {
        ty: "float",
        suffix: "f",
        parts: 2,
        top: "",
        small: "",
        wide: "double",
        wider: "draw_(x)",
    },
    Real {
        ty: "double",
        suffix: "",
        parts: 4,
        top: "",
        small: "",
        wide: "long double",
        wider: "draw_l(x)",
    },
    Real {
        ty: "long double",
        suffix: "l",
        parts: 5,
        // The digit before the point is stored.
        top: "bits.word |= 1ULL << 63; bits.parts[4] = any() % 2 ? any() : 16383 + any() % 8; \
              if (bits.parts[4] % 32768 == 0) bits.parts[4] = 1;",
        small: "if (any() % 2) { bits.word |= 1ULL << 63; bits.parts[4] = 1; }",
        wide: "long long",
        wider: "(long long)any()",
    },
    Real {
        ty: "_Float16",
        suffix: "f16",
        parts: 1,
        top: "",
        small: "",
        wide: "double",
        wider: "draw_(x)",
    },
];

fn text(count: u64, seed: u64) -> String {
    let mut bodies = String::new();
    let mut calls = String::new();
    let mut first = 0;
    // What others draw from comes first.
    for index in [2, 1, 0, 3] {
        let real = &REALS[index];
        let operations: Vec<&str> = match real.ty {
            "_Float16" => {
                let plain = OPERATIONS[..PLAIN].iter();
                plain
                    .chain(&["(REAL)whole", "(REAL)wide"])
                    .copied()
                    .collect()
            }
            _ => OPERATIONS.to_vec(),
        };
        let cases: String = operations
            .iter()
            .enumerate()
            .map(|(at, operation)| format!("note_$(first + {at}, {operation});\n"))
            .collect();
        let body = BODY
            .replace("CASES", &cases)
            .replace("TOP", real.top)
            .replace("SMALL", real.small)
            .replace("PARTS", &real.parts.to_string())
            .replace("WIDER", real.wider)
            .replace("WIDE", real.wide)
            .replace("REAL", real.ty)
            .replace('$', real.suffix);
        bodies.push_str(&body);
        for mode in ["0", "0x400", "0x800", "0xc00"] {
            calls.push_str(&format!("run_{}({first}, {mode}, {count});\n", real.suffix));
            first += operations.len();
        }
    }
    let head = HEAD.replace("COUNT", &first.to_string());
    let head = head.replace("SEED", &seed.to_string());
    format!(
        "{head}{bodies}\nint main(void) {{\n{calls}for (int i = 0; i < {first}; i++) \
         printf(\"%llu\\n\", results[i]);\nreturn 0;\n}}\n"
    )
}

#[test]
fn all_roundings_agree_with_the_machine() {
    let folder = oracle::folder("rounding");
    let model = DataModel::Lp64;
    if !oracle::gcc_works(&folder, model) {
        return;
    }
    let count = setting("HARDBOP_DIFFERENTIAL", 400);
    let text = text(count, setting("HARDBOP_SEED", 1));
    let options = [
        "-frounding-math",
        "-ffp-contract=off",
        "-fexcess-precision=16",
        "-fno-builtin",
        "-Wl,--no-as-needed",
        "-lm",
    ];
    let printed = match oracle::gcc(&folder, &text, model, &options) {
        Ok(printed) => printed,
        // Older ones have no `_Float16`.
        Err(message) if message.contains("_Float16") || message.contains("excess-precision") => {
            eprintln!("SKIPPED: {message}");
            return;
        }
        Err(message) => panic!("{message}"),
    };
    let expected: Vec<u64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    let program = oracle::program(&text, model).unwrap_or_else(|message| panic!("{message}"));
    let (run, bytes) = oracle::interpret(&program, "results", u64::MAX);
    assert!(
        matches!(run.outcome, Outcome::Returned(_)),
        "{:?}",
        run.outcome
    );
    let got = oracle::words(&bytes);
    let mut differing = Vec::new();
    for (at, (expected, got)) in expected.iter().zip(&got).enumerate() {
        if expected != got {
            let wide = OPERATIONS.len() * 4;
            let (real, rest) = ((at / wide).min(3), at % wide);
            let ty = ["long double", "double", "float", "_Float16"][real];
            let per = if real == 3 {
                PLAIN + 2
            } else {
                OPERATIONS.len()
            };
            let operation = match real {
                3 if rest % per >= PLAIN => "a conversion",
                _ => OPERATIONS[rest % per],
            };
            differing.push(format!("{ty}, mode {}: {operation}", rest / per));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert_eq!(expected.len(), got.len());
    eprintln!("{} checksums of {count} operands agree", got.len());
    std::fs::remove_dir_all(&folder).ok();
}
