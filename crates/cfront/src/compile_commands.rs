//! `compile_commands.json`: which files a project is built from, and with which options.
//!
//! Of each entry the options that the front end has are kept (`-I`, `-isystem`, `-iquote`, `-D`,
//! `-U`, `-include`, `-m32`); paths are made relative to the entry's directory.

use crate::parse::Preprocess;
use crate::types::DataModel;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One file of a project and how it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileCommand {
    /// The file.
    pub file: PathBuf,
    /// What the preprocessor is told.
    pub preprocess: Preprocess,
    /// The data model, where an option says it.
    pub model: Option<DataModel>,
}

/// Reads the text of a `compile_commands.json`. Files that are not C (by their name) are left out.
///
/// # Errors
///
/// What is wrong with the text, in words.
pub fn compile_commands(text: &str) -> Result<Vec<CompileCommand>, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("not JSON: {e}"))?;
    let Value::Array(entries) = value else {
        return Err("a list of compile commands is expected".to_owned());
    };
    let mut commands = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let command = command(entry).map_err(|e| format!("entry {}: {e}", index + 1))?;
        let extension = command.file.extension().and_then(|e| e.to_str());
        if matches!(extension, Some("c" | "i")) {
            commands.push(command);
        }
    }
    Ok(commands)
}

fn command(entry: &Value) -> Result<CompileCommand, String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let directory = Path::new(text("directory").unwrap_or(""));
    let file = directory.join(text("file").ok_or("`file` is missing")?);
    let arguments = match entry.get("arguments") {
        Some(Value::Array(list)) => list
            .iter()
            .map(|a| {
                a.as_str()
                    .map(str::to_owned)
                    .ok_or("`arguments` holds more than strings")
            })
            .collect::<Result<Vec<_>, _>>()?,
        Some(_) => return Err("`arguments` is not a list".to_owned()),
        None => split(text("command").ok_or("neither `arguments` nor `command` is there")?),
    };
    let mut command = CompileCommand {
        file,
        preprocess: Preprocess::default(),
        model: None,
    };
    let mut arguments = arguments.into_iter().skip(1);
    while let Some(argument) = arguments.next() {
        let options = [
            "-isystem",
            "-iquote",
            "-idirafter",
            "-include",
            "-I",
            "-D",
            "-U",
        ];
        let Some(option) = options.into_iter().find(|o| argument.starts_with(o)) else {
            match argument.as_str() {
                "-m32" => command.model = Some(DataModel::Ilp32),
                "-m64" => command.model = Some(DataModel::Lp64),
                _ => {}
            }
            continue;
        };
        let value = match &argument[option.len()..] {
            "" => arguments
                .next()
                .ok_or_else(|| format!("`{option}` has no value"))?,
            value => value.to_owned(),
        };
        let preprocess = &mut command.preprocess;
        match option {
            "-I" | "-iquote" => preprocess.include_dirs.push(directory.join(value)),
            "-isystem" | "-idirafter" => preprocess.system_dirs.push(directory.join(value)),
            "-D" => {
                let name = value.split('=').next().unwrap_or(&value);
                preprocess.undefines.retain(|undefined| undefined != name);
                preprocess.defines.push(value);
            }
            "-U" => preprocess.undefines.push(value),
            _ => {
                let path = directory.join(value);
                preprocess
                    .forced_includes
                    .push(path.to_string_lossy().into_owned());
            }
        }
    }
    Ok(command)
}

/// Splits a command as a shell does: spaces part words, quotes and backslashes keep them.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|&c| c != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => match chars.next() {
                            Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                            Some(c) => word.extend(['\\', c]),
                            None => word.push('\\'),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        expected.assert_debug_eq(&compile_commands(text));
    }

    #[test]
    fn options_are_kept_and_paths_follow_the_directory() {
        check(
            r#"[
                {"directory": "/p", "file": "a.c",
                 "command": "gcc -m32 -Iinc -I /abs -DN=1 -D 'S=\"x y\"' -UU -include cfg.h -O2 -c a.c"},
                {"directory": "/p", "file": "b.cpp", "arguments": ["g++", "b.cpp"]},
                {"directory": "/q", "file": "/q/c.c", "arguments": ["cc", "-isystem", "sys", "c.c"]}
            ]"#,
            expect![[r#"
                Ok(
                    [
                        CompileCommand {
                            file: "/p/a.c",
                            preprocess: Preprocess {
                                include_dirs: [
                                    "/p/inc",
                                    "/abs",
                                ],
                                system_dirs: [],
                                defines: [
                                    "N=1",
                                    "S=\"x y\"",
                                ],
                                undefines: [
                                    "U",
                                ],
                                forced_includes: [
                                    "/p/cfg.h",
                                ],
                                headers: Own,
                            },
                            model: Some(
                                Ilp32,
                            ),
                        },
                        CompileCommand {
                            file: "/q/c.c",
                            preprocess: Preprocess {
                                include_dirs: [],
                                system_dirs: [
                                    "/q/sys",
                                ],
                                defines: [],
                                undefines: [],
                                forced_includes: [],
                                headers: Own,
                            },
                            model: None,
                        },
                    ],
                )
            "#]],
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        check(
            "{",
            expect![[r#"
            Err(
                "not JSON: EOF while parsing an object at line 1 column 1",
            )
        "#]],
        );
        check(
            "{}",
            expect![[r#"
            Err(
                "a list of compile commands is expected",
            )
        "#]],
        );
        check(
            r#"[{"file": "a.c"}]"#,
            expect![[r#"
            Err(
                "entry 1: neither `arguments` nor `command` is there",
            )
        "#]],
        );
        check(
            r#"[{"file": "a.c", "arguments": ["cc", "-I"]}]"#,
            expect![[r#"
            Err(
                "entry 1: `-I` has no value",
            )
        "#]],
        );
    }

    #[test]
    fn words_are_split_as_in_a_shell() {
        assert_eq!(
            split(r#"a  'b c'd "e\"f" g\ h ''"#),
            ["a", "b cd", "e\"f", "g h", ""]
        );
    }
}
