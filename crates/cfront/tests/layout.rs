//! The layout of structs and unions against gcc's: sizes, alignments, the offset of every member
//! and the position of every bit-field, for both data models.
//!
//! `HARDBOP_DIFFERENTIAL=20000` compares that many records instead of a few hundred.

// How many programs agreed is worth seeing.
#![allow(clippy::print_stderr)]

use hardbop_cfront::program::Program;
use hardbop_cfront::types::{DataModel, Record};
use hardbop_test_support::oracle;
use hardbop_test_support::random::Random;
use hardbop_test_support::setting;
use std::fmt::Write;

/// A member as gcc is asked about it: its name, and whether it is a bit-field.
struct Member {
    name: String,
    bits: bool,
}

/// The text of a record's declaration and its members.
fn declare(
    random: &mut Random,
    tag: &str,
    earlier: &[String],
    model: DataModel,
) -> (String, Vec<Member>) {
    let mut members = Vec::new();
    let mut text = String::new();
    let keyword = if random.percent(20) {
        "union"
    } else {
        "struct"
    };
    for i in 0..1 + random.below(8) {
        let name = format!("m{i}");
        let base = ["char", "short", "int", "long", "long long", "_Bool"][random.below(6)];
        let width = match base {
            "_Bool" => 1,
            "char" => 8,
            "short" => 16,
            "int" => 32,
            "long" if model == DataModel::Ilp32 => 32,
            _ => 64,
        };
        let sign = if base == "_Bool" {
            ""
        } else {
            random.pick(&["unsigned ", "signed "])
        };
        let aligned = match random.below(12) {
            0 => format!(" __attribute__((aligned({})))", 1 << random.below(5)),
            1 => " __attribute__((packed))".to_string(),
            _ => String::new(),
        };
        match random.below(12) {
            0..=4 => {
                let bits = 1 + random.below(width);
                // See `layouts_that_are_not_gccs_are_refused`.
                let aligned = match aligned.as_str() {
                    text if text.contains("aligned") => "",
                    text => text,
                };
                write!(text, " {sign}{base} {name} : {bits}{aligned};").unwrap();
                members.push(Member { name, bits: true });
            }
            5 => write!(text, " {sign}{base} : {};", random.below(width + 1)).unwrap(),
            6 => {
                let ty = random.pick(&["float", "double", "long double", "void *", "int (*"]);
                match ty {
                    "int (*" => write!(text, " int (*{name})(void){aligned};").unwrap(),
                    ty => write!(text, " {ty} {name}{aligned};").unwrap(),
                }
                members.push(Member { name, bits: false });
            }
            7 if !earlier.is_empty() => {
                let ty = &earlier[random.below(earlier.len())];
                write!(text, " {ty} {name}{};", random.pick(&["", "[2]", "[3]"])).unwrap();
                members.push(Member { name, bits: false });
            }
            8 => {
                write!(
                    text,
                    " {sign}{base} {name}[{}]{aligned};",
                    1 + random.below(5)
                )
                .unwrap();
                members.push(Member { name, bits: false });
            }
            9 => {
                let e = random.pick(&["0", "-1", "0x80000000u"]);
                write!(text, " enum {{ E{tag}_{i} = {e} }} {name};").unwrap();
                members.push(Member { name, bits: false });
            }
            _ => {
                write!(text, " {sign}{base} {name}{aligned};").unwrap();
                members.push(Member { name, bits: false });
            }
        }
    }
    if members.is_empty() {
        text.push_str(" int m0;");
        members.push(Member {
            name: "m0".to_string(),
            bits: false,
        });
    }
    let attribute = match random.below(8) {
        0 | 1 => " __attribute__((packed))".to_string(),
        2 => format!(" __attribute__((aligned({})))", 1 << random.below(6)),
        3 => format!(
            " __attribute__((packed, aligned({})))",
            1 << random.below(4)
        ),
        _ => String::new(),
    };
    let declared = format!("{keyword} {tag} {{{text} }}{attribute};\n");
    let declared = match random.below(12) {
        // See `layouts_that_are_not_gccs_are_refused`.
        0 if !attribute.contains("packed") => {
            let pack = 1 << random.below(4);
            format!("#pragma pack(push, {pack})\n{declared}#pragma pack(pop)\n")
        }
        _ => declared,
    };
    (format!("{declared}{keyword} {tag} v_{tag};\n"), members)
}

/// What gcc prints about a record: size, alignment, then each member.
fn asked(tag: &str, members: &[Member]) -> String {
    let v = format!("v_{tag}");
    let mut text =
        format!("  printf(\"{tag} %d %d\", (int)sizeof {v}, (int)__alignof__(__typeof__({v})));\n");
    for Member { name, bits } in members {
        if *bits {
            writeln!(text, "  memset(&{v}, 0, sizeof {v}); {v}.{name} = -1; bits(\"{name}\", &{v}, sizeof {v});").unwrap();
        } else {
            writeln!(
                text,
                "  printf(\" {name}:%d\", 8 * (int)__builtin_offsetof(__typeof__({v}), {name}));"
            )
            .unwrap();
        }
    }
    text.push_str("  printf(\"\\n\");\n");
    text
}

const HELP: &str = r#"
int printf(const char *, ...);
void *memset(void *, int, __SIZE_TYPE__);
static void bits(const char *name, void *p, int size) {
  unsigned char *bytes = p; int first = -1, count = 0;
  for (int i = 0; i < size * 8; i++)
    if (bytes[i / 8] >> i % 8 & 1) { if (first < 0) first = i; count++; }
  printf(" %s:%d+%d", name, first, count);
}
"#;

fn told(tag: &str, record: &Record, members: &[Member]) -> String {
    let mut text = format!("{tag} {} {}", record.size, record.align);
    for member in members {
        let field = record
            .fields
            .iter()
            .find(|f| f.name.as_deref() == Some(&member.name));
        match field {
            Some(field) => match field.bit_width {
                Some(width) => write!(text, " {}:{}+{width}", member.name, field.offset_bits),
                None => write!(text, " {}:{}", member.name, field.offset_bits),
            },
            None => write!(text, " {}:missing", member.name),
        }
        .unwrap();
    }
    text
}

fn record_of<'a>(program: &'a Program, tag: &str) -> &'a Record {
    let variable = format!("v_{tag}");
    let variable = program
        .variables
        .iter()
        .find(|v| v.name == variable)
        .expect("the variable");
    match program.types.get(variable.ty) {
        hardbop_cfront::types::Type::Record(record) => program.types.record(*record),
        other => panic!("{tag} is {other:?}"),
    }
}

fn check(model: DataModel) {
    let folder = oracle::folder(&format!("layout-{model:?}"));
    if !oracle::gcc_works(&folder, model) {
        return;
    }
    let wanted = setting("HARDBOP_DIFFERENTIAL", 400) as usize;
    let mut random = Random(model.pointer_size());
    let mut agreed = 0;
    let mut failures = Vec::new();
    while agreed + failures.len() < wanted {
        let mut text = String::from(HELP);
        let (mut names, mut records) = (Vec::new(), Vec::new());
        for i in 0..200 {
            let tag = format!("S{i}");
            let (declaration, members) = declare(&mut random, &tag, &names, model);
            let keyword = if declaration.contains(&format!("union {tag} {{")) {
                "union"
            } else {
                "struct"
            };
            text.push_str(&declaration);
            // A pointer keeps a record from growing with those that it holds.
            if declaration.len() < 200 {
                names.push(format!("{keyword} {tag}"));
            }
            records.push((tag, members, declaration));
        }
        text.push_str("int main(void) {\n");
        for (tag, members, _) in &records {
            text.push_str(&asked(tag, members));
        }
        text.push_str("  return 0;\n}\n");
        let expected = oracle::gcc(&folder, &text, model, &[]).expect("gcc takes the records");
        let program = oracle::program(&text, model).expect("the front end takes the records");
        for ((tag, members, declaration), expected) in records.iter().zip(expected.lines()) {
            let got = told(tag, record_of(&program, tag), members);
            if got == expected {
                agreed += 1;
            } else {
                failures.push(format!("{declaration}  gcc  {expected}\n  ours {got}"));
            }
        }
    }
    eprintln!("{agreed} {model:?} records have gcc's layout");
    failures.truncate(10);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    std::fs::remove_dir_all(&folder).ok();
}

#[test]
fn lp64_layout_is_gccs() {
    check(DataModel::Lp64);
}

#[test]
fn ilp32_layout_is_gccs() {
    check(DataModel::Ilp32);
}

/// Two corners in which the type checker does not follow gcc are refused: a wrong layout would be a
/// wrong answer.
#[test]
fn layouts_that_are_not_gccs_are_refused() {
    let refused = |record: &str| {
        let text = format!("{record} v;\nint main(void) {{ return 0; }}");
        oracle::program(&text, DataModel::Lp64).is_err()
    };
    assert!(refused(
        "struct A { long long a : 24; long long b : 21 __attribute__((aligned(2))); }"
    ));
    assert!(refused(
        "#pragma pack(push, 2)\nstruct B { long long a : 55; } __attribute__((packed))"
    ));
    assert!(!refused(
        "#pragma pack(push, 2)\nstruct C { long long a; };\n#pragma pack(pop)\n\
         struct D { char c; int i; } __attribute__((packed))"
    ));
}
