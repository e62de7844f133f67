//! Results of several programs that are one to the user: the program itself, and the program
//! beside each of the rules that it is checked against.

use crate::results::{Answer, Place, Results, SourceText};
use std::collections::BTreeMap;

/// All results as those of one program, in order. Texts and assumptions that several of them have
/// in common are there once.
pub fn join(parts: Vec<Results>) -> Results {
    let mut all = Results::default();
    let mut known = Known::default();
    for (index, mut part) in parts.into_iter().enumerate() {
        if index == 0 {
            all.entry = std::mem::take(&mut part.entry);
            all.data_model = part.data_model;
        }
        let map = known.add(&mut all, &mut part);
        for mut check in part.checks {
            map.apply(&mut check.place);
            if let Answer::Violated(trace) = &mut check.answer {
                for step in &mut trace.steps {
                    map.apply(&mut step.place);
                }
            }
            all.checks.push(check);
        }
        for mut invariant in part.invariants {
            map.apply(&mut invariant.place);
            all.invariants.push(invariant);
        }
        for mut rank in part.ranks {
            map.apply(&mut rank.place);
            all.ranks.push(rank);
        }
        all.evidence.extend(part.evidence);
        all.predicates.extend(part.predicates);
        all.statistics.extend(part.statistics);
        all.rounds.extend(part.rounds);
        all.incomplete = all.incomplete.or(part.incomplete);
        for assumption in part.assumptions {
            if !all.assumptions.contains(&assumption) {
                all.assumptions.push(assumption);
            }
        }
        for graph in part.graphs {
            if !all.graphs.contains(&graph) {
                all.graphs.push(graph);
            }
        }
        for program in part.boolean_programs {
            all.boolean_programs.push(program);
        }
    }
    all
}

/// The files and texts of the results so far, by what they are.
#[derive(Default)]
struct Known {
    files: BTreeMap<String, u32>,
    sources: BTreeMap<(String, String), u32>,
}

/// Where the files and texts of a part are among all.
struct Map {
    files: Vec<u32>,
    sources: Vec<u32>,
}

impl Known {
    fn add(&mut self, all: &mut Results, part: &mut Results) -> Map {
        let files = std::mem::take(&mut part.files).into_iter().map(|file| {
            *self.files.entry(file.clone()).or_insert_with(|| {
                all.files.push(file);
                all.files.len() as u32 - 1
            })
        });
        let files = files.collect();
        let sources = std::mem::take(&mut part.sources).into_iter().map(|source| {
            let SourceText { name, text } = source.clone();
            *self.sources.entry((name, text)).or_insert_with(|| {
                all.sources.push(source);
                all.sources.len() as u32 - 1
            })
        });
        Map {
            files,
            sources: sources.collect(),
        }
    }
}

impl Map {
    fn apply(&self, place: &mut Place) {
        place.file = self.files[place.file as usize];
        place.source = self.sources[place.source as usize];
    }
}
