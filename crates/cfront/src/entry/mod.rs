//! What calls an entry that is not `main`: a function of a library whose arguments may be anything.
//!
//! In comes the unit that defines the function and what users say of its arguments; out comes a
//! text in C that belongs behind the unit: it makes what pointers point to (objects of their own,
//! null, what another argument points to) and calls the function. What is assumed by that is said
//! as a declaration with comments.

mod facts;
mod file;
mod objects;

pub use file::harness_file;

use crate::options::LowerOptions;
use crate::parse::{Files, Input, ParseOptions, ParsedUnit, Texts, parse_unit};
use crate::program::CheckKind;
pub(crate) use crate::start::START;
use facts::{Fact, Null, Shape};
use hardbop_diagnostics::{Diagnostic, Severity, Sources};
use objects::{Objects, Pointer};
use rucc_sema as sema;
use rucc_types as rt;
use std::fmt::Write;

/// Whether the contents of objects are filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    /// With inputs.
    Yes,
    /// Memory that was never written holds anything.
    No,
}

/// What calls an entry.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Functions that choose: their types and names.
    choices: Vec<(String, String)>,
    /// Functions that are called back.
    callbacks: String,
    /// The statements that make arguments and call the entry.
    body: String,
    /// What is assumed, in words and as a declaration with comments.
    pub assumed: String,
}

/// An argument of the entry.
struct Argument {
    name: String,
    ty: rt::TypeId,
    /// How it is declared.
    declared: String,
    /// The declaration of what is passed: what is constant in the function is not before.
    made: String,
    shape: Shape,
    null: Null,
    /// What is said of it in the end.
    said: String,
}

/// The inputs with what calls the entry behind the unit that defines it; `None` where nothing is
/// needed: `main` is called by others, and numbers may be anything by themselves.
pub(crate) fn with_caller(
    inputs: &[Input],
    parse: &ParseOptions,
    options: &LowerOptions,
    files: &dyn Files,
) -> Result<Option<(Vec<Input>, Caller)>, Vec<Diagnostic>> {
    let filled = match options.wants(CheckKind::Uninit) {
        true => Filled::Yes,
        false => Filled::No,
    };
    let Some((at, caller)) = caller(inputs, parse, options, files, filled)? else {
        return Ok(None);
    };
    let mut inputs = inputs.to_vec();
    let text = caller.text();
    let bytes = &mut inputs[at].bytes;
    bytes.extend_from_slice(b"\n# 1 \"<hardbop>/entry.c\"\n");
    bytes.extend_from_slice(text.as_bytes());
    Ok(Some((inputs, caller)))
}

/// What calls the entry, and the position of the input that defines it.
fn caller(
    inputs: &[Input],
    parse: &ParseOptions,
    options: &LowerOptions,
    files: &dyn Files,
    filled: Filled,
) -> Result<Option<(usize, Caller)>, Vec<Diagnostic>> {
    let wrong = |message: String| vec![Diagnostic::global(Severity::Error, message)];
    let entry = &options.entry;
    if entry == "main" {
        return match options.arguments.is_empty() {
            true => Ok(None),
            false => Err(wrong(
                "what is assumed of arguments is about another entry than `main`".to_owned(),
            )),
        };
    }
    for (at, input) in inputs.iter().enumerate() {
        let (Some(unit), _) = parse_unit(input, parse, files, &mut Texts::new()) else {
            // Whoever reads it next says what is wrong.
            return Ok(None);
        };
        let Some(function) = definition(&unit, entry) else {
            continue;
        };
        let made = make(&unit, function, options, filled).map_err(wrong)?;
        return Ok(made.map(|caller| (at, caller)));
    }
    Ok(None)
}

/// The functions that the inputs themselves define, and not what they include, in their order; or
/// what is wrong with them.
pub fn defined_functions(
    inputs: &[Input],
    parse: &ParseOptions,
    files: &dyn Files,
) -> Result<Vec<String>, (Sources, Vec<Diagnostic>)> {
    let mut names = Vec::new();
    for input in inputs {
        let mut texts = Texts::new();
        let (unit, said) = parse_unit(input, parse, files, &mut texts);
        let Some(unit) = unit else {
            return Err((texts.sources, said));
        };
        for &id in unit.tree.top_level() {
            let decl = &unit.tree[id];
            let source = unit.source(unit.tree.definition_span(id));
            let file = texts.presumed_files.get(source.file as usize);
            if let Some(name) = decl.name
                && decl.body.is_some()
                && file == Some(&input.name)
            {
                names.push(unit.names.resolve(name).to_owned());
            }
        }
    }
    Ok(names)
}

/// A type in C. What has no tag is called by the name that a `typedef` gives it.
fn spelled(unit: &ParsedUnit, ty: rt::TypeId) -> String {
    named(unit, ty, rt::spell(&unit.types, &unit.names, ty))
}

/// A text about a type with a name for the record without a tag that it leads to.
fn named(unit: &ParsedUnit, ty: rt::TypeId, text: String) -> String {
    let mut at = ty;
    while let Some(to) = rt::pointee(&unit.types, at).or_else(|| rt::element(&unit.types, at)) {
        at = to;
    }
    let record = unit.types.canonical(at);
    let same = |alias: &&rt::Alias| {
        let of = unit.types.kind(unit.types.canonical(alias.of));
        of == unit.types.kind(record)
    };
    let alias = match unit.types.kind(record) {
        rt::TypeKind::Record(_) | rt::TypeKind::Enum(_) => unit.types.aliases().iter().find(same),
        _ => None,
    };
    let Some(alias) = alias else {
        return text;
    };
    let name = unit.names.resolve(alias.name);
    let mut text = text;
    for word in ["struct", "union", "enum"] {
        text = text.replace(&format!("{word} <anonymous>"), name);
    }
    text
}

fn definition(unit: &ParsedUnit, name: &str) -> Option<sema::DeclId> {
    let mut declared = unit.tree.top_level().iter().copied();
    declared.find(|&id| {
        let decl = &unit.tree[id];
        let named = decl.name.map(|symbol| unit.names.resolve(symbol));
        decl.body.is_some() && named == Some(name)
    })
}

fn make(
    unit: &ParsedUnit,
    function: sema::DeclId,
    options: &LowerOptions,
    filled: Filled,
) -> Result<Option<Caller>, String> {
    let mut objects = Objects::new(unit, filled);
    let mut arguments = arguments(unit, function);
    let mut conditions = Vec::new();
    for text in &options.arguments {
        let fact = Fact::read(text).map_err(|why| format!("`{text}`: {why}"))?;
        match fact {
            Fact::Condition(condition) => conditions.push(condition),
            Fact::Shape { name, shape, null } => {
                let names: Vec<&str> = arguments.iter().map(|one| one.name.as_str()).collect();
                let Some(at) = names.iter().position(|known| *known == name) else {
                    return Err(format!(
                        "`{text}`: `{}` has no parameter `{name}`; it has {}",
                        options.entry,
                        names.join(", ")
                    ));
                };
                if !rt::is_pointer(&unit.types, arguments[at].ty) {
                    return Err(format!("`{text}`: `{name}` is no pointer"));
                }
                arguments[at].shape = shape;
                arguments[at].null = null;
            }
        }
    }
    let pointers = |one: &Argument| objects.holds_pointers(one.ty);
    if !arguments.iter().any(pointers) && options.arguments.is_empty() {
        return Ok(None);
    }
    // What a length is said by comes before what has the length.
    for one in &mut arguments {
        if rt::is_pointer(&unit.types, one.ty) {
            objects.line(&format!("{};", one.made));
            continue;
        }
        let spelled = format!("__typeof__({})", objects.spell(one.ty));
        let choice = objects.choice(&spelled, "argument", &one.name);
        objects.line(&format!("{} = {choice};", one.made));
        objects.contents(&one.name, &one.name, one.ty, 1);
        one.said = "anything".to_owned();
    }
    for at in 0..arguments.len() {
        let (before, rest) = arguments.split_at_mut(at);
        let one = &mut rest[0];
        if rt::is_pointer(&unit.types, one.ty) {
            point(&mut objects, before, one);
        }
    }
    for condition in &conditions {
        objects.line(&format!("__VERIFIER_assume({condition});"));
    }
    let names: Vec<&str> = arguments.iter().map(|one| one.name.as_str()).collect();
    objects.line(&format!("{}({});", options.entry, names.join(", ")));
    let mut assumed = assumed(unit, function, &options.entry, &arguments, &conditions);
    if objects.nulls {
        assumed.push_str(
            "\n    where pointers in unions, in arrays inside of objects, in constant members and behind 24 others, \
             and those that functions return which are called back, are null",
        );
    }
    let Objects {
        choices,
        callbacks,
        body,
        ..
    } = objects;
    Ok(Some(Caller {
        choices,
        callbacks,
        body,
        assumed,
    }))
}

/// The parameters of a function, of which nothing is said yet.
fn arguments(unit: &ParsedUnit, function: sema::DeclId) -> Vec<Argument> {
    let parameters = &unit.tree[unit.tree[function].params];
    let mut arguments = Vec::new();
    for (index, &parameter) in parameters.iter().enumerate() {
        let decl = &unit.tree[parameter];
        let written = spelled(unit, decl.ty);
        let (name, declared) = match decl.name {
            Some(name) => {
                let declared = rt::declare(&unit.types, &unit.names, decl.ty, name);
                let declared = named(unit, decl.ty, declared);
                (unit.names.resolve(name).to_owned(), declared)
            }
            None => {
                let name = format!("argument{}", index + 1);
                (name.clone(), format!("__typeof__({written}) {name}"))
            }
        };
        let constant = unit.types.quals(decl.ty).has(rt::Qualifiers::CONST);
        let made = match rt::pointee(&unit.types, decl.ty).filter(|_| constant) {
            Some(to) => {
                let to = spelled(unit, to);
                format!("__typeof__({to}) *{name}")
            }
            None => declared.clone(),
        };
        arguments.push(Argument {
            name,
            ty: decl.ty,
            declared,
            made,
            shape: Shape::Auto,
            null: Null::Maybe,
            said: String::new(),
        });
    }
    arguments
}

/// Makes what an argument points to: an object of its own, or that of an argument before it.
fn point(objects: &mut Objects<'_>, before: &[Argument], one: &mut Argument) {
    let unit = objects.unit;
    let types = &unit.types;
    let to = |ty: rt::TypeId| rt::pointee(types, ty).map(|to| types.kind(types.canonical(to)));
    let same = |other: &&Argument| to(other.ty).is_some() && to(other.ty) == to(one.ty);
    let function = matches!(to(one.ty), Some(rt::TypeKind::Function(_)));
    let alias = match one.shape {
        Shape::Auto if !function => before.iter().find(same),
        _ => None,
    };
    let mut said = Vec::new();
    if one.null == Null::Maybe {
        said.push("null".to_owned());
    }
    said.push(match (&one.shape, to(one.ty)) {
        (_, Some(rt::TypeKind::Function(_))) => {
            "a function that returns anything and changes nothing".to_owned()
        }
        (
            Shape::Auto,
            Some(rt::TypeKind::Pointer(_) | rt::TypeKind::Array { .. } | rt::TypeKind::Record(_)),
        ) => Shape::One.to_string(),
        (Shape::Auto, _) => Shape::Array(None).to_string(),
        (shape, _) => shape.to_string(),
    });
    if let Some(other) = alias {
        said.push(format!("what {} points to", other.name));
        let what = format!("same_as_{}", other.name);
        let choice = objects.choice("_Bool", &what, &one.name);
        objects.open(&format!("if ({choice}) {{"));
        let (name, other) = (&one.name, &other.name);
        objects.line(&format!("{name} = (__typeof__({name})){other};"));
        objects.close();
        objects.open("else {");
    }
    objects.argument(&Pointer {
        lvalue: &one.name,
        label: &one.name,
        ty: one.ty,
        shape: &one.shape,
        null: one.null,
    });
    if alias.is_some() {
        objects.close();
    }
    one.said = said.join(", or ");
}

/// What is assumed, as a declaration with comments.
fn assumed(
    unit: &ParsedUnit,
    function: sema::DeclId,
    entry: &str,
    arguments: &[Argument],
    conditions: &[String],
) -> String {
    let decl = &unit.tree[function];
    let result = match unit.types.kind(unit.types.canonical(decl.ty)) {
        rt::TypeKind::Function(function) => {
            let returned = unit.types.signature(function).ret;
            spelled(unit, returned)
        }
        _ => "int".to_owned(),
    };
    let mut out = format!(
        "`{entry}` is called once, with variables of static storage as they begin, objects of fewer than 2^31 bytes, and\n    {result} {entry}("
    );
    let widest = arguments.iter().map(|one| one.declared.len()).max();
    for (index, one) in arguments.iter().enumerate() {
        let comma = if index + 1 < arguments.len() { "," } else { "" };
        let (declared, said) = (&one.declared, &one.said);
        let pad = widest.unwrap_or(0) - declared.len() + 1 - comma.len();
        let _ = write!(out, "\n        {declared}{comma}{:pad$} /* {said} */", "");
    }
    out.push_str(");");
    for condition in conditions {
        let _ = write!(out, "  /* {condition} */");
    }
    out
}

impl Caller {
    /// The text that belongs behind the unit.
    fn text(&self) -> String {
        let mut text = String::from(
            "void __VERIFIER_assume(int);\nvoid __VERIFIER_nondet_memory(void *, __SIZE_TYPE__);\n",
        );
        for (ty, name) in &self.choices {
            let _ = writeln!(text, "{ty} {name}(void);");
        }
        text.push_str(&self.callbacks);
        let _ = write!(text, "int {START}(void) {{\n{}  return 0;\n}}\n", self.body);
        text
    }
}
