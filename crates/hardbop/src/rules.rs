//! Finds the rules that the user names: rules of the library by name, others by file.

use crate::failure::Failure;
use crate::input;
use hardbop_diagnostics::Sources;
use hardbop_rules::library::{self, LibraryRule};
use hardbop_rules::{Rule, RuleOrigin, parse};
use std::path::Path;

/// Reads the rules that the user names.
pub fn read(names: &[String]) -> Result<Vec<Rule>, Failure> {
    let mut sources = Sources::new();
    let mut rules = Vec::new();
    let mut diagnostics = Vec::new();
    for name in names {
        let (rule, said) = if is_file(name) {
            let path = Path::new(name);
            let file = input::text(path, &mut sources)?;
            let stem = path.file_stem().map(|stem| stem.to_string_lossy());
            let stem = stem.as_deref().unwrap_or("rule");
            parse(stem, RuleOrigin::File, file, &sources)
        } else {
            let rule = library_rule(name)?;
            let file = sources.add(rule.path, rule.text);
            parse(rule.name, RuleOrigin::Library, file, &sources)
        };
        rules.extend(rule);
        diagnostics.extend(said);
    }
    if diagnostics.is_empty() {
        Ok(rules)
    } else {
        Err(Failure::Input {
            sources,
            diagnostics,
        })
    }
}

/// The rule of the library that has a name, or what the user may have meant.
pub fn library_rule(name: &str) -> Result<&'static LibraryRule, Failure> {
    library::find(name).ok_or_else(|| {
        let near: Vec<String> = library::nearest(name)
            .into_iter()
            .map(|near| format!("`{near}`"))
            .collect();
        let hint = if near.is_empty() {
            "`hardbop rules` lists those that there are".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        Failure::message(format!(
            "there is no rule `{name}`: {hint} (the name of a file ends in `.rule`)"
        ))
    })
}

/// Names of the library have neither dots nor slashes; a file of the same name has to be written
/// with one.
pub fn is_file(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}
