//! `hardbop certify`: checks again what a certificate claims.

use crate::c::{self, Part, Parts};
use crate::certificate::{self, Answer, Certificate, FORMAT, Word};
use crate::cli::{CertifyArgs, SolverName};
use crate::commands::artifacts::{VERSION, hashes};
use crate::commands::check::prepared;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::input;
use crate::limits;
use crate::progress::Progress;
use crate::target::Target;
use hardbop_budget::Budget;
use hardbop_circuit::CircuitSolver;
use hardbop_engine::Claim;
use hardbop_gate::{Evidence, Gate, MakeSolver};
use hardbop_logic::SmtLibProcess;
use hardbop_model::Model;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Serialize)]
struct Body {
    solver: &'static str,
    answers: Vec<Judged>,
}

/// What became of an answer.
#[derive(Serialize)]
struct Judged {
    answer: &'static str,
    place: String,
    evidence: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// How many questions the solver was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Checks a certificate.
pub fn run(arguments: &CertifyArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    let mut given = arguments.input.clone();
    let Some(path) = given.files.pop().filter(|_| !given.files.is_empty()) else {
        return Err(Failure::message(
            "a program and a certificate are needed: `hardbop certify PROGRAM.c CERTIFICATE`",
        ));
    };
    let certificate = read(&path)?;
    let proofs = arguments.proofs.as_deref().map(Proofs::new).transpose()?;
    let solver = solver(arguments, proofs.as_ref())?;
    let mut target = Target::of(&given, arguments.property.as_deref())?;
    if certificate.parts.iter().any(|part| part.termination) {
        target = target.about_ends();
    }
    let adjust = |options: &mut _| target.adjust(options);
    let Parts {
        parts,
        sources,
        warnings,
        ..
    } = c::parts(&target.input, &arguments.rules, console, adjust)?;
    let mut judged = Vec::new();
    {
        let progress = Progress::new(console);
        for claimed in &certificate.parts {
            let part = of(&parts, claimed, &certificate, &target, &path)?;
            progress.say("preparing the program".to_owned());
            let prepared = prepared(&part.program, part.points_to.as_ref(), &certificate.without)?;
            let model = Model::new(&part.program, &prepared);
            let gate = Gate::new(&model, budget.clone());
            let gate = match &solver {
                Some(solver) => gate.asking(Arc::clone(solver)),
                None => gate,
            };
            judged.extend(judge(claimed, &gate, &budget, &progress));
        }
    }
    if let Some(failure) = proofs.and_then(|proofs| proofs.failure()) {
        return Err(failure);
    }
    let verdict = verdict(&judged);
    let solver = arguments.solver.text();
    match console.format() {
        Format::Text => console.text(&text(&judged, solver, console))?,
        Format::Json => {
            let answers = judged;
            console.value(verdict, &sources, &warnings, Body { solver, answers })?;
        }
    }
    Ok(verdict)
}

/// Reads a certificate.
fn read(path: &Path) -> Result<Certificate, Failure> {
    let shown = path.display();
    let input::Bytes { bytes, .. } = input::bytes(path)?;
    let certificate: Certificate = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::message(format!("`{shown}` is no certificate: {error}")))?;
    if certificate.format != FORMAT {
        return Err(Failure::message(format!(
            "`{shown}` says that it is `{}`, not `{FORMAT}`",
            certificate.format
        )));
    }
    if certificate.version != VERSION {
        return Err(Failure::message(format!(
            "`{shown}` was written by version {}, and this is version {VERSION}",
            certificate.version
        )));
    }
    Ok(certificate)
}

/// The program that a part of a certificate is about.
fn of<'a>(
    parts: &'a [Part],
    claimed: &certificate::Part,
    certificate: &Certificate,
    target: &Target,
    path: &Path,
) -> Result<&'a Part, Failure> {
    let shown = path.display();
    let Some(part) = parts.iter().find(|part| part.rule == claimed.rule) else {
        let rule = claimed.rule.as_deref().unwrap_or_default();
        return Err(Failure::message(format!(
            "`{shown}` is about rule {rule}: name it with --rule {rule}"
        )));
    };
    if certificate::fingerprint(&part.program) == claimed.program {
        return Ok(part);
    }
    let now = hashes(target)?.into_iter().collect();
    let what = match certificate.files == now {
        true => "other options (data model, checks, entry, macros)",
        false => "another program",
    };
    Err(Failure::message(format!("`{shown}` is for {what}")))
}

/// How the solver is reached; `None` for the one that is built in.
fn solver(
    arguments: &CertifyArgs,
    proofs: Option<&Arc<Proofs>>,
) -> Result<Option<Arc<MakeSolver>>, Failure> {
    if proofs.is_some() && arguments.solver != SolverName::Circuits {
        let message = "only `--solver circuits` has proofs to write";
        return Err(Failure::message(message));
    }
    if arguments.solver == SolverName::Circuits && arguments.solver_command.is_none() {
        return Ok(Some(circuits(proofs)));
    }
    let words: Vec<String> = match &arguments.solver_command {
        Some(command) => command.split_whitespace().map(str::to_owned).collect(),
        None if arguments.solver == SolverName::Z3 => return Ok(None),
        None => {
            let words = arguments.solver.command();
            words.iter().map(|&word| word.to_owned()).collect()
        }
    };
    let name = arguments.solver.text();
    let [program, options @ ..] = words.as_slice() else {
        return Err(Failure::message("--solver-command names no program"));
    };
    let (program, options) = (program.clone(), options.to_vec());
    // A solver that cannot be started would only ever answer `unknown`.
    let started = Command::new(&program)
        .args(&options)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    match started {
        // It may not end by itself.
        Ok(mut child) => drop(child.kill().and_then(|()| child.wait())),
        Err(error) => {
            return Err(Failure::message(format!(
                "cannot start `{program}` ({error}): install {name}, or say how it is started \
                 with --solver-command"
            )));
        }
    }
    Ok(Some(Arc::new(move || {
        let (program, options) = (program.clone(), options.clone());
        Box::new(SmtLibProcess::new(name, move || {
            let mut command = Command::new(&program);
            command.args(&options);
            command
        }))
    })))
}

/// Circuits, with proofs that are checked, and written down if that is wanted.
fn circuits(proofs: Option<&Arc<Proofs>>) -> Arc<MakeSolver> {
    let Some(proofs) = proofs.map(Arc::clone) else {
        return Arc::new(|| Box::new(CircuitSolver::checked(None)));
    };
    Arc::new(move || {
        let proofs = Arc::clone(&proofs);
        let show = move |clauses: &str, proof: &str| proofs.write(clauses, proof);
        Box::new(CircuitSolver::checked(Some(Box::new(show))))
    })
}

/// Where proofs go.
struct Proofs {
    directory: PathBuf,
    count: AtomicUsize,
    /// The first one that could not be written.
    failed: Mutex<Option<Failure>>,
}

impl Proofs {
    fn new(directory: &Path) -> Result<Arc<Proofs>, Failure> {
        std::fs::create_dir_all(directory).map_err(|error| {
            let shown = directory.display();
            Failure::message(format!("cannot make `{shown}`: {error}"))
        })?;
        Ok(Arc::new(Proofs {
            directory: directory.to_owned(),
            count: AtomicUsize::new(0),
            failed: Mutex::default(),
        }))
    }

    fn write(&self, clauses: &str, proof: &str) {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        for (ending, text) in [("cnf", clauses), ("drat", proof)] {
            let path = self.directory.join(format!("{number:05}.{ending}"));
            if let Err(error) = std::fs::write(&path, text) {
                let message = format!("cannot write `{}`: {error}", path.display());
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert_with(|| Failure::message(message));
            }
        }
    }

    /// That one could not be written.
    fn failure(&self) -> Option<Failure> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.take()
    }
}

/// Checks the claims of a part, each once.
fn judge(
    part: &certificate::Part,
    gate: &Gate<'_>,
    budget: &Budget,
    progress: &Progress,
) -> Vec<Judged> {
    let total = part.claims.len();
    let mut checked = Vec::new();
    for (index, claim) in part.claims.iter().enumerate() {
        progress.say(format!("checking claim {} of {total}", index + 1));
        checked.push(match budget.check() {
            Ok(()) => gate
                .check(claim.clone())
                .map_err(|reason| reason.to_string()),
            Err(stopped) => Err(stopped.to_string()),
        });
    }
    let answers = part.answers.iter();
    answers
        .map(|answer| one(part, answer, checked.get(answer.claim)))
        .collect()
}

/// An answer, with what became of its claim.
fn one(
    part: &certificate::Part,
    answer: &Answer,
    checked: Option<&Result<Evidence, String>>,
) -> Judged {
    let refused = |reason: &str| Judged {
        answer: "REFUSED",
        place: answer.place.clone(),
        evidence: part.claims.get(answer.claim).map_or("nothing", kind),
        rule: part.rule.clone(),
        questions: None,
        reason: Some(reason.to_owned()),
    };
    match checked {
        None => refused("there is no such claim in the certificate"),
        Some(Err(reason)) => refused(reason),
        Some(Ok(evidence)) => {
            let (stands, questions) = match (evidence, answer.answer) {
                (Evidence::Proof(proof), Word::Proved) => {
                    let stands = proof.claim().proves().contains(&answer.check);
                    (stands, Some(proof.questions()))
                }
                (Evidence::Refutation(refutation), Word::Violated) => {
                    let stands = refutation.claim().violates() == Some(answer.check);
                    let lasso = matches!(refutation.claim(), Claim::Lasso(_));
                    let asked = refutation.run().is_none() && !lasso;
                    (stands, asked.then(|| refutation.questions()))
                }
                _ => (false, None),
            };
            if !stands {
                return refused("its claim says something else");
            }
            Judged {
                answer: match answer.answer {
                    Word::Proved => "PROVED",
                    Word::Violated => "VIOLATED",
                },
                questions,
                reason: None,
                ..refused("")
            }
        }
    }
}

/// What a claim is, in words.
fn kind(claim: &Claim) -> &'static str {
    match claim {
        Claim::Nowhere(_) => "the control flow alone",
        Claim::Invariants(_) => "invariants",
        Claim::Induction(_) => "induction over several blocks",
        Claim::Unrolling(_) => "an exhausted unrolling",
        Claim::Clauses(_) => "clauses over paths",
        Claim::OnlyRun(_) => "the only run there is",
        Claim::Run(_) => "a run",
        Claim::Chain(_) => "a chain of must transitions",
        Claim::Ranking(_) => "ranks that fall",
        Claim::Lasso(_) => "a run that comes back to where it was",
        Claim::Recurrence(_) => "a set of states that need not be left",
    }
}

/// A violation that stands decides, then anything that does not stand.
fn verdict(judged: &[Judged]) -> Verdict {
    let any = |word: &str| judged.iter().any(|one| one.answer == word);
    if any("REFUSED") {
        Verdict::Unknown
    } else if any("VIOLATED") {
        Verdict::Found
    } else {
        Verdict::Fine
    }
}

fn text(judged: &[Judged], solver: &str, console: &Console) -> String {
    let mut text = String::new();
    if judged.is_empty() {
        text.push_str("the certificate claims nothing\n");
    }
    for one in judged {
        let colour = match one.answer {
            "PROVED" => "32",
            "VIOLATED" => "31",
            _ => "33",
        };
        let word = console.paint(colour, one.answer);
        let rule = one.rule.as_ref().map(|rule| format!(" (rule {rule})"));
        let _ = writeln!(text, "{word} {}{}", one.place, rule.unwrap_or_default());
        let evidence = one.evidence;
        let _ = match (&one.reason, one.questions) {
            (Some(reason), _) => writeln!(text, "  {evidence}: {reason}"),
            (None, None) => writeln!(text, "  {evidence}, repeated by the interpreter"),
            (None, Some(0)) => writeln!(text, "  {evidence}, checked again without a question"),
            (None, Some(questions)) => {
                let noun = if questions == 1 {
                    "question"
                } else {
                    "questions"
                };
                writeln!(
                    text,
                    "  {evidence}, checked again: {questions} {noun} to {solver}"
                )
            }
        };
    }
    text
}
