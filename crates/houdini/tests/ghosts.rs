//! Claims about nodes with other ghosts than those that they are proved with: the gate refuses them.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::{Options, load};
use hardbop_cfront::parse::{Input, InputKind, NoFiles, Preprocess};
use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_engine::claim::{Ghosts, Invariants};
use hardbop_engine::{Answer, Claim, Desk, Engine, Event, Reason, Task};
use hardbop_houdini::Nodes;
use hardbop_model::{Model, Prepared};
use hardbop_test_support::desk::Keeping;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
#define assert(e) do { if (!(e)) __assert_fail(#e, \"\", 0, \"\"); } while (0)
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void free(void *);
struct node { int v; struct node *next, *prev; };
int any(void) { return __VERIFIER_nondet_int(); }
struct node *make(int v) {
    struct node *made = malloc(sizeof *made);
    if (!made) for (;;);
    made->v = v;
    made->next = made->prev = 0;
    return made;
}
";

/// Nodes of two lists are told apart by where they were taken, and by nothing that they hold.
const TWO_LISTS: &str = "int main(void) {
    struct node *one = 0, *two = 0, *p;
    while (any()) {
        if (any()) { p = make(any()); p->next = one; one = p; }
        else { p = make(9); p->next = two; two = p; }
    }
    for (p = one; p; p = p->next) p->v = 1;
    for (p = two; p; p = p->next) assert(p->v == 9);
    return 0;
}";

/// No other node points to the one that is freed.
const FREED: &str = "int main(void) {
    struct node *head = 0, *p;
    while (any()) { p = make(1); p->next = head; head = p; }
    while (head) {
        assert(head->v == 1);
        p = head->next;
        free(head);
        head = p;
    }
    return 0;
}";

/// A desk that takes no claim but those that speak of something: shorter ones may do without.
struct Speaking<'a> {
    of: &'a str,
    desk: Keeping<'a>,
}

impl Desk for Speaking<'_> {
    fn event(&mut self, _: Event) {}

    fn submit(&mut self, claim: Claim) -> Answer {
        match &claim {
            Claim::Invariants(said) if !said.at.values().any(|text| text.contains(self.of)) => {
                Answer::Refused(Reason::Certificate)
            }
            _ => self.desk.submit(claim),
        }
    }
}

/// How many checks are open, and for each change of the accepted claims whether the gate takes it.
fn changed(
    checks: &[CheckKind],
    text: &str,
    changes: &dyn Fn(&Invariants) -> Vec<Invariants>,
) -> (usize, Vec<bool>) {
    changed_speaking("", checks, text, changes)
}

/// The same of claims that speak of something.
fn changed_speaking(
    of: &str,
    checks: &[CheckKind],
    text: &str,
    changes: &dyn Fn(&Invariants) -> Vec<Invariants>,
) -> (usize, Vec<bool>) {
    let input = Input {
        name: "test.c".to_owned(),
        bytes: format!("{PRELUDE}{text}").into_bytes(),
        kind: InputKind::Source,
        preprocess: Preprocess::default(),
    };
    let mut options = Options::new(DataModel::Ilp32);
    options.lower.checks.extend(checks);
    let loaded = load(&[input], &options, &NoFiles, &Budget::unlimited());
    let loaded = loaded.expect("nothing stops it");
    let program = &loaded.program.expect("it has no errors").program;
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let budget = Budget::unlimited();
    let prepared = Prepared::new(program, &budget).unwrap();
    let model = Model::new(program, &prepared);
    let task = Task {
        model: &model,
        checks: &checks,
        budget: &budget,
    };
    let desk = Keeping::new(&model, budget.clone());
    let mut speaking = Speaking { of, desk };
    let open = Nodes::default().check(&task, &mut speaking).open.len();
    let mut accepted = Vec::new();
    for claim in speaking.desk.invariants() {
        for mutant in changes(&claim) {
            accepted.push(speaking.desk.gate.check(Claim::Invariants(mutant)).is_ok());
        }
    }
    (open, accepted)
}

/// The claim with a part of all its texts in other words.
fn everywhere(claim: &Invariants, old: &str, new: &str) -> Vec<Invariants> {
    let mut mutant = claim.clone();
    let mut any = false;
    for text in mutant.at.values_mut() {
        any |= text.contains(old);
        *text = text.replace(old, new);
    }
    any.then_some(mutant).into_iter().collect()
}

/// A list that is said to be of the nodes of the other one, or of nodes that were freed; no ghosts;
/// nothing known of other nodes than the arbitrary one.
#[test]
fn other_births_are_refused() {
    let swapped = |claim: &Invariants| {
        let mut mutant = claim.clone();
        for text in mutant.at.values_mut() {
            *text = text.replace("#b01", "#bxx");
            *text = text.replace("#b10", "#b01").replace("#bxx", "#b10");
        }
        vec![mutant]
    };
    assert_eq!(changed(&[], TWO_LISTS, &swapped), (0, vec![false]));
    let freed = |claim: &Invariants| everywhere(claim, "|born#", "|freed#");
    assert_eq!(changed(&[], TWO_LISTS, &freed), (0, vec![false]));
    let without = |claim: &Invariants| {
        let ghosts = Ghosts::Nothing;
        vec![Invariants {
            ghosts,
            ..claim.clone()
        }]
    };
    assert_eq!(changed(&[], TWO_LISTS, &without), (0, vec![false]));
    let alone = |claim: &Invariants| {
        let instances = Vec::new();
        vec![Invariants {
            instances,
            ..claim.clone()
        }]
    };
    assert_eq!(changed(&[], TWO_LISTS, &alone), (0, vec![false]));
}

/// What is needed at a point is said there.
#[test]
fn less_is_refused() {
    let nothing = |claim: &Invariants| {
        let mut found = Vec::new();
        for (&at, text) in &claim.at {
            if text.contains("|any0#|") {
                let mut mutant = claim.clone();
                mutant.at.insert(at, "true".to_owned());
                found.push(mutant);
            }
        }
        found
    };
    let (open, accepted) = changed(&[], TWO_LISTS, &nothing);
    assert_eq!(open, 0);
    assert!(accepted.contains(&false), "{accepted:?}");
}

/// Who referred to a node last is what it is, and no other address.
#[test]
fn other_references_are_refused() {
    let checks = [CheckKind::Pointer, CheckKind::Free];
    let near = |claim: &Invariants| {
        let mut found = Vec::new();
        for text in claim.at.values() {
            if let Some(at) = text.find("|referrer#") {
                let name = text[at + 1..].split('|').next().unwrap_or_default();
                let shifted = format!("(bvadd #x00000001 (select |{name}|");
                let mut mutant = claim.clone();
                for text in mutant.at.values_mut() {
                    *text = shift(text, &format!("(select |{name}|"), &shifted);
                }
                found.push(mutant);
                break;
            }
        }
        found
    };
    assert_eq!(changed(&checks, FREED, &near), (0, vec![false]));
}

/// What was freed is not what was taken.
#[test]
fn other_ends_are_refused() {
    let taken = |claim: &Invariants| everywhere(claim, "|freed#", "|born#");
    let all = changed_speaking("|freed#", &[], FREED, &taken);
    assert_eq!(all, (0, vec![false]));
}

/// One list becomes two, which are told apart by the statements that linked their nodes.
const SPLIT: &str = "int main(void) {
    struct node *all = 0, *low = 0, *high = 0, *p;
    while (any()) { p = make(any()); p->next = all; all = p; }
    while (all) {
        p = all;
        all = p->next;
        if (p->v < 0) { p->next = low; low = p; }
        else { p->next = high; high = p; }
    }
    for (p = low; p; p = p->next) assert(p->v < 0);
    return 0;
}";

/// Nodes are counted while they are made and while they are found.
const COUNTED: &str = "struct one { struct one *next; };
int main(void) {
    struct one *head = 0, *p;
    unsigned made = 0, found = 0;
    while (any()) { p = malloc(sizeof *p); p->next = head; head = p; made++; }
    for (p = head; p; p = p->next) found++;
    assert(made == found);
    return 0;
}";

/// Which statement linked a node is a number of its own, and how many nodes follow is the count.
#[test]
fn other_traces_are_refused() {
    let next = |text: &str, name: &str, one: &str| {
        let opened = format!("(select |{name}#");
        let start = text.find(&opened)?;
        let ghost = text[start + 9..].split('|').next()?.to_owned();
        let old = format!("(select |{ghost}|");
        Some(shift(text, &old, &format!("(bvadd {one} {old}")))
    };
    let changed_by = |name: &'static str, one: &'static str| {
        move |claim: &Invariants| {
            let mut mutant = claim.clone();
            let mut any = false;
            for text in mutant.at.values_mut() {
                if let Some(other) = next(text, name, one) {
                    any = true;
                    *text = other;
                }
            }
            any.then_some(mutant).into_iter().collect::<Vec<_>>()
        }
    };
    let writer = changed_by("writer", "#x1");
    assert_eq!(changed(&[], SPLIT, &writer), (0, vec![false]));
    let rank = changed_by("rank", "#x0000000000000001");
    assert_eq!(changed(&[], COUNTED, &rank), (0, vec![false]));
}

/// Numbers are put into a list where they belong, and nodes have pointers back.
const SORTED: &str = "struct one { int v; struct one *next, *prev; };
int main(void) {
    struct one *head = 0, *p, *at;
    while (any()) {
        p = malloc(sizeof *p);
        p->v = any();
        p->prev = 0;
        if (!head || head->v >= p->v) {
            p->next = head;
            if (head) head->prev = p;
            head = p;
            continue;
        }
        for (at = head; at->next && at->next->v < p->v; at = at->next);
        p->next = at->next;
        p->prev = at;
        if (at->next) at->next->prev = p;
        at->next = p;
    }
    for (p = head; p && p->next; p = p->next) {
        assert(p->v <= p->next->v);
        assert(p->next->prev == p);
    }
    return 0;
}";

/// That each number is smaller than the next one is not so, where they may be the same; what the
/// pointers back say is not what those to the next node say.
#[test]
fn other_orders_are_refused() {
    let strict = |claim: &Invariants| everywhere(claim, "(bvslt ", "(bvsle ");
    assert_eq!(changed(&[], SORTED, &strict), (0, vec![false]));
    let turned = |claim: &Invariants| {
        let mut memories: Vec<String> = Vec::new();
        for text in claim.at.values() {
            for part in text.split("(select |").skip(1) {
                let name = part.split('|').next().unwrap_or_default().to_owned();
                if name.starts_with("memory") && !memories.contains(&name) {
                    memories.push(name);
                }
            }
        }
        memories.sort();
        // The numbers come first, and then the pointers.
        let [_, next, prev] = &memories[..] else {
            return Vec::new();
        };
        let mut mutant = claim.clone();
        for text in mutant.at.values_mut() {
            let spare = text.replace(&format!("|{next}|"), "|spare|");
            let spare = spare.replace(&format!("|{prev}|"), &format!("|{next}|"));
            *text = spare.replace("|spare|", &format!("|{prev}|"));
        }
        vec![mutant]
    };
    assert_eq!(changed(&[], SORTED, &turned), (0, vec![false]));
}

/// The text with another word in the place of the one that opens a term, and the term closed once
/// more.
fn shift(text: &str, old: &str, new: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        out.push_str(&rest[..at]);
        out.push_str(new);
        rest = &rest[at + old.len()..];
        let mut depth = 1usize;
        let end = rest.char_indices().find(|&(_, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let end = end.map_or(rest.len(), |(at, _)| at + 1);
        out.push_str(&rest[..end]);
        out.push(')');
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
