//! Certificates: what a check found out, with the claims behind it, as a file that can be checked
//! again. `docs/src/certificates.md` describes the format.

use crate::commands::artifacts::VERSION;
use hardbop_cfront::dump::dump;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::program::{CheckKind, Program};
use hardbop_engine::Claim;
use hardbop_gate::Outcome;
use hardbop_portfolio::Found;
use hardbop_report::collect::assumptions;
use hardbop_witness::read::sha256;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first line of what a certificate says of itself.
pub const FORMAT: &str = "hardbop certificate 1";

/// A certificate.
#[derive(Debug, Serialize, Deserialize)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: String,
    /// The version of the tool that wrote it: programs are numbered as that version does.
    pub version: String,
    /// The files of the program, with their SHA-256.
    pub files: BTreeMap<String, String>,
    /// The usual passes that the program was prepared without: claims speak of what the others
    /// made of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// The program by itself, and beside each rule.
    pub parts: Vec<Part>,
}

/// What is known of one program.
#[derive(Debug, Serialize, Deserialize)]
pub struct Part {
    /// The rule that is woven into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether the question is if every execution ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub termination: bool,
    /// The SHA-256 of the program as the front end sees it: text, options and models are in it.
    pub program: String,
    /// What the answers rest on beyond the text.
    pub assumptions: Vec<String>,
    /// The checks that are decided.
    pub answers: Vec<Answer>,
    /// The claims.
    pub claims: Vec<Claim>,
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The check.
    pub check: CheckId,
    /// Where it is, for people.
    pub place: String,
    /// `PROVED` or `VIOLATED`.
    pub answer: Word,
    /// The claim that says so, by its number.
    pub claim: usize,
}

/// A decided answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Word {
    /// No execution violates the check.
    Proved,
    /// An execution does.
    Violated,
}

impl Certificate {
    /// What was found out about programs, each with its rule.
    pub fn new<'a>(
        files: Vec<(String, String)>,
        without: Vec<String>,
        parts: impl IntoIterator<Item = (&'a Program, &'a Found)>,
    ) -> Certificate {
        let part = |(program, found)| Part::new(program, found);
        Certificate {
            format: FORMAT.to_owned(),
            version: VERSION.to_owned(),
            files: files.into_iter().collect(),
            without,
            parts: parts.into_iter().map(part).collect(),
        }
    }

    /// The certificate as text.
    pub fn text(&self) -> String {
        // Plain data: there is nothing in it that cannot be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl Part {
    fn new(program: &Program, found: &Found) -> Part {
        let mut claims: Vec<&Claim> = Vec::new();
        let mut answers = Vec::new();
        for (&check, outcome) in &found.report.outcomes {
            let (answer, claim) = match outcome {
                Outcome::Proved(proof) => (Word::Proved, proof.claim()),
                Outcome::Violated(refutation) => (Word::Violated, refutation.claim()),
                Outcome::Unknown(_) => continue,
            };
            let known = claims.iter().position(|known| std::ptr::eq(*known, claim));
            let claim = known.unwrap_or_else(|| {
                claims.push(claim);
                claims.len() - 1
            });
            answers.push(Answer {
                check,
                place: place(program, check),
                answer,
                claim,
            });
        }
        let asks = |kind| program.checks.iter().any(|check| check.kind == kind);
        Part {
            rule: program.rules.first().map(|rule| rule.name.clone()),
            termination: asks(CheckKind::Termination) && !asks(CheckKind::Leak),
            program: fingerprint(program),
            assumptions: assumptions(program),
            answers,
            claims: claims.into_iter().cloned().collect(),
        }
    }
}

/// Where a check stands.
pub fn place(program: &Program, check: CheckId) -> String {
    let check = &program.checks[check.index()];
    let file = program.presumed_files.get(check.source.file as usize);
    let file = file.map_or("", String::as_str);
    format!("{file}:{}: {}", check.source.line, check.message)
}

/// What tells a program, with its options and models, from others.
pub fn fingerprint(program: &Program) -> String {
    let text = format!("{:?}\n{}", program.types.model(), dump(program));
    sha256(text.as_bytes())
}
