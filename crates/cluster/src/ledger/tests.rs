//! Stories of runs: what goes wrong, and what the ledger makes of it.

use super::*;
use crate::journal::{Check, UNKNOWN, Word};

const W: WaveId = WaveId(0);
const T: TaskId = TaskId(0);

fn piece(item: u32) -> Piece {
    Piece {
        item: ItemId(item),
        lane: None,
    }
}

fn lane(item: u32, lane: &str) -> Piece {
    Piece {
        item: ItemId(item),
        lane: Some(lane.to_owned()),
    }
}

fn brief(exit_code: u8, answer: Word) -> Brief {
    let check = Check {
        answer,
        file: "a.c".to_owned(),
        line: 1,
        message: "assertion".to_owned(),
        function: "main".to_owned(),
        reason: None,
        unreachable: false,
    };
    Brief {
        exit_code,
        checks: vec![check],
        ..Brief::default()
    }
}

fn answer(piece: Piece, brief: Brief, seconds: f64) -> Line {
    let known = Known::Found;
    Line::Answered(Box::new(Answered {
        piece,
        brief,
        seconds,
        known,
        unkept: None,
    }))
}

fn proved(item: u32) -> Line {
    answer(piece(item), brief(0, Word::Proved), 1.0)
}

fn policy() -> Policy {
    Policy {
        tries: 3,
        ..Policy::default()
    }
}

/// A ledger whose items are all in one task.
fn out(items: usize, policy: Policy) -> Ledger {
    let mut ledger = Ledger::new(items, policy);
    let works = ledger.here();
    ledger.wave(W, &[works]);
    ledger
}

fn opened(node: &str) -> Line {
    Line::Opened {
        node: node.to_owned(),
    }
}

#[test]
fn all_goes_well() {
    let mut ledger = out(2, policy());
    assert!(ledger.here().is_empty());
    ledger.line(W, T, "p", &opened("n1"));
    ledger.line(W, T, "p", &proved(0));
    assert!(!ledger.is_complete());
    ledger.line(W, T, "p", &proved(1));
    ledger.line(W, T, "p", &Line::Closed);
    ledger.over(W, T);
    assert!(ledger.is_complete());
    assert_eq!(ledger.tally(), &Tally::default());
    assert!(ledger.out().is_empty());
}

#[test]
fn nothing_is_counted_twice() {
    let mut ledger = out(1, policy());
    ledger.line(W, T, "p", &answer(piece(0), brief(1, Word::Violated), 2.0));
    let first = ledger.answers().clone();
    ledger.line(W, T, "q", &proved(0));
    ledger.over(W, T);
    assert_eq!(ledger.answers(), &first);
    assert_eq!(ledger.done(), 1);
}

#[test]
fn what_was_running_when_a_node_is_killed_is_run_again() {
    let mut ledger = out(3, policy());
    ledger.line(W, T, "p", &opened("n1"));
    ledger.line(W, T, "p", &proved(0));
    ledger.line(W, T, "p", &Line::Began(piece(1)));
    ledger.over(W, T);
    let again = ledger.here();
    assert_eq!(again.len(), 2);
    assert_eq!((again[0].begun, again[1].begun), (1, 0));
    assert_eq!(ledger.tally().lost_tasks, 1);
    assert_eq!(ledger.tally().again, 2);
}

#[test]
fn what_kills_every_node_is_given_up_with_the_reason() {
    let mut ledger = out(1, policy());
    for number in 0..3 {
        let wave = WaveId(number);
        if number > 0 {
            let works = ledger.here();
            ledger.wave(wave, &[works]);
        }
        let process = format!("p{number}");
        ledger.line(wave, T, &process, &opened("n7"));
        ledger.line(wave, T, &process, &Line::Began(piece(0)));
        ledger.over(wave, T);
    }
    assert!(ledger.is_complete());
    let brief = &ledger.answers()[&ItemId(0)].brief;
    assert_eq!(brief.exit_code, UNKNOWN);
    assert_eq!(
        brief.incomplete.as_deref(),
        Some("it was begun 3 times and the node was lost each time, last on n7")
    );
    assert_eq!(ledger.tally().given_up, 1);
}

#[test]
fn a_node_with_another_build_refuses_and_another_one_does_the_work() {
    let mut ledger = out(1, policy());
    let refused = Line::Refused {
        reason: "another build".to_owned(),
    };
    ledger.line(W, T, "p", &refused);
    ledger.over(W, T);
    let works = ledger.here();
    assert_eq!(works.len(), 1);
    ledger.wave(WaveId(1), &[works]);
    ledger.line(WaveId(1), T, "q", &proved(0));
    assert!(ledger.is_complete());
    assert_eq!(ledger.tally().refused["another build"], 1);
    // If all of them do, the reason is told.
    let mut ledger = out(1, policy());
    for number in 0..3 {
        let wave = WaveId(number);
        let works = ledger.here();
        if number > 0 {
            ledger.wave(wave, &[works]);
        }
        ledger.line(wave, T, &format!("p{number}"), &refused);
        ledger.over(wave, T);
    }
    let brief = &ledger.answers()[&ItemId(0)].brief;
    assert_eq!(
        brief.incomplete.as_deref(),
        Some("3 tasks of it were lost: another build")
    );
}

#[test]
fn what_a_task_leaves_for_want_of_time_is_no_loss() {
    let mut ledger = out(2, policy());
    ledger.line(W, T, "p", &proved(0));
    ledger.line(W, T, "p", &Line::Closed);
    ledger.over(W, T);
    assert_eq!(ledger.here().len(), 1);
    assert_eq!(ledger.tally().lost_tasks, 0);
}

#[test]
fn a_late_answer_is_better_than_none() {
    let mut ledger = out(
        1,
        Policy {
            tries: 1,
            ..policy()
        },
    );
    ledger.line(W, T, "p", &Line::Began(piece(0)));
    ledger.over(W, T);
    assert_eq!(ledger.answers()[&ItemId(0)].brief.exit_code, UNKNOWN);
    ledger.line(W, T, "p", &proved(0));
    assert_eq!(ledger.answers()[&ItemId(0)].brief.exit_code, 0);
    assert_eq!(ledger.tally().given_up, 0);
}

fn split() -> Policy {
    Policy {
        lanes: vec!["horn".to_owned(), "slam".to_owned()],
        long: Some(8.0),
        ..policy()
    }
}

#[test]
fn a_hard_item_goes_to_several_engines_and_the_first_answer_ends_the_others() {
    let mut ledger = out(2, split());
    ledger.line(
        W,
        T,
        "p",
        &answer(piece(0), brief(UNKNOWN, Word::Unknown), 10.0),
    );
    // What is unknown after a moment would be so again.
    ledger.line(
        W,
        T,
        "p",
        &answer(piece(1), brief(UNKNOWN, Word::Unknown), 0.1),
    );
    assert_eq!(ledger.done(), 1);
    assert_eq!(ledger.tally().split, 1);
    let works = ledger.here();
    let lanes: Vec<_> = works.iter().map(|work| work.piece.clone()).collect();
    assert_eq!(lanes, [lane(0, "horn"), lane(0, "slam")]);
    let wave = WaveId(1);
    let tasks: Vec<Vec<Work>> = works.into_iter().map(|work| vec![work]).collect();
    ledger.wave(wave, &tasks);
    ledger.line(
        wave,
        TaskId(1),
        "q",
        &answer(lane(0, "slam"), brief(0, Word::Proved), 3.0),
    );
    assert!(ledger.is_complete());
    assert_eq!(ledger.answers()[&ItemId(0)].lanes, ["slam"]);
    assert_eq!(ledger.settled_lanes(), BTreeSet::from([ItemId(0)]));
    assert!(ledger.out().is_empty(), "nobody waits for the other lane");
    // What the other one says now does not count.
    ledger.line(
        wave,
        T,
        "r",
        &answer(lane(0, "horn"), brief(UNKNOWN, Word::Unknown), 9.0),
    );
    assert_eq!(ledger.answers()[&ItemId(0)].brief.exit_code, 0);
}

#[test]
fn a_hard_item_that_no_engine_decides_is_unknown() {
    let mut ledger = out(1, split());
    ledger.line(
        W,
        T,
        "p",
        &answer(piece(0), brief(UNKNOWN, Word::Unknown), 10.0),
    );
    let tasks: Vec<Vec<Work>> = ledger.here().into_iter().map(|work| vec![work]).collect();
    let wave = WaveId(1);
    ledger.wave(wave, &tasks);
    ledger.line(
        wave,
        T,
        "q",
        &answer(lane(0, "horn"), brief(UNKNOWN, Word::Unknown), 10.0),
    );
    assert!(!ledger.is_complete());
    let gave_up = Line::GaveUp {
        piece: lane(0, "slam"),
        reason: "lost".to_owned(),
    };
    ledger.line(wave, TaskId(1), "r", &gave_up);
    assert!(ledger.is_complete());
    assert_eq!(ledger.answers()[&ItemId(0)].brief.exit_code, UNKNOWN);
}

/// Any order of lines and ends, with any of them twice, gives every item exactly one answer.
#[test]
fn every_item_has_one_answer_in_the_end_whatever_happens() {
    for seed in 0..300u32 {
        let mut state = seed.wrapping_mul(2_654_435_761).max(1);
        let mut draw = |most: u32| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state % most
        };
        let mut ledger = Ledger::new(5, split());
        let mut wave = 0;
        while !ledger.is_complete() {
            let works = ledger.here();
            let tasks: Vec<Vec<Work>> = works.into_iter().map(|work| vec![work]).collect();
            let id = WaveId(wave);
            ledger.wave(id, &tasks);
            for (task, works) in (0..).map(TaskId).zip(&tasks) {
                let piece = works[0].piece.clone();
                for _ in 0..draw(4) {
                    let process = format!("p{}", draw(3));
                    let line = match draw(6) {
                        0 => opened("n"),
                        1 | 2 => Line::Began(piece.clone()),
                        3 => answer(piece.clone(), brief(0, Word::Proved), 1.0),
                        4 => answer(piece.clone(), brief(UNKNOWN, Word::Unknown), 9.0),
                        _ => Line::Refused {
                            reason: "other".to_owned(),
                        },
                    };
                    ledger.line(id, task, &process, &line);
                }
                ledger.over(id, task);
            }
            wave += 1;
            assert!(wave < 20, "it comes to an end (seed {seed})");
        }
        assert_eq!(ledger.done(), 5);
    }
}
