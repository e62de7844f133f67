//! Claims: what engines say they know, as data.
//!
//! A claim can be written, read, sent and checked later, by somebody who knows the program and
//! nothing of the search. It counts for nothing before the gate has checked it. Locations and
//! edges are those of the prepared program ([`Model::flat`](hardbop_model::Model)) where a claim
//! says so, else those of the program itself; formulas are SMT-LIB text about the state at a
//! location ([`Spelling`](hardbop_semantics::constants::Spelling)).

mod ends;
mod form;

pub use ends::{CallRank, Chosen, Component, Lasso, Order, Rank, Ranking, Recurrence};
pub use form::{Form, NoForm};

use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use hardbop_cfront::interp;
use hardbop_model::points::{PointId, Points};
use hardbop_model::stages::{Following, When};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::replay::Choice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Claim {
    /// No code that can be called violates the checks, whatever the data.
    Nowhere(Nowhere),
    /// Formulas that hold wherever control comes, and exclude what violates the checks.
    Invariants(Invariants),
    /// What holds after some blocks holds after the next one, and it holds after the first ones.
    Induction(Box<Induction>),
    /// Followed all at once, block by block, no execution violates the checks or goes on for ever.
    Unrolling(Unrolling),
    /// Every execution does what some clause says, and none that does so violates the checks.
    Clauses(Clauses),
    /// The program leaves nothing open, and its only execution does not violate the checks.
    OnlyRun(OnlyRun),
    /// This execution violates the check.
    Run(Run),
    /// There is an execution that violates the check, too long to be run.
    Chain(Chain),
    /// Every execution ends: something falls with each step, and cannot fall for ever.
    Ranking(Box<Ranking>),
    /// This execution never ends: it comes back to a state that it was in.
    Lasso(Lasso),
    /// An execution never ends: it comes to a set of states that it need never leave.
    Recurrence(Box<Recurrence>),
}

impl Claim {
    /// The checks that it claims to hold.
    pub fn proves(&self) -> &[CheckId] {
        match self {
            Claim::Nowhere(Nowhere { checks })
            | Claim::Invariants(Invariants { checks, .. })
            | Claim::Unrolling(Unrolling { checks, .. })
            | Claim::Clauses(Clauses { checks, .. })
            | Claim::OnlyRun(OnlyRun { checks, .. }) => checks,
            Claim::Induction(induction) => &induction.checks,
            Claim::Ranking(ranking) => &ranking.checks,
            Claim::Run(_) | Claim::Chain(_) | Claim::Lasso(_) | Claim::Recurrence(_) => &[],
        }
    }

    /// The check that it claims to be violated.
    pub fn violates(&self) -> Option<CheckId> {
        match self {
            Claim::Run(Run { check, .. })
            | Claim::Chain(Chain { check, .. })
            | Claim::Lasso(Lasso { check, .. }) => Some(*check),
            Claim::Recurrence(recurrence) => Some(recurrence.check),
            _ => None,
        }
    }
}

/// No code that can be called violates these checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nowhere {
    /// The checks.
    pub checks: Vec<CheckId>,
}

/// Invariants at cut points of the prepared program, over the values now and at the procedure's
/// entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invariants {
    /// The checks that they exclude.
    pub checks: Vec<CheckId>,
    /// The locations where the program is cut: at least one in every loop.
    pub cuts: Vec<LocId>,
    /// The invariants. Control never comes to a cut point that has none.
    #[serde(with = "pairs")]
    pub at: BTreeMap<LocId, String>,
    /// The invariants may speak of arbitrary words, `any0#`, `any1#` and so on, of so many bits
    /// each: they hold for all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arbitrary: Vec<u32>,
    /// What the state has beside what the program has.
    #[serde(default, skip_serializing_if = "Ghosts::is_nothing")]
    pub ghosts: Ghosts,
    /// Functions of whose insides nothing is said: a call of them may change what they may change,
    /// and violates none of the checks. Where there are such, the program is prepared by inlining
    /// the calls of all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<FuncId>,
    /// Where indices lead in arrays that are parts of objects: where that is anywhere in the object,
    /// the program is opened first.
    #[serde(default, skip_serializing_if = "Reach::is_usual")]
    pub indices: Reach,
    /// Of which program they speak: where calls are kept, nothing is inlined, and what functions are
    /// given and give back is what is said of their entries and exits.
    #[serde(default, skip_serializing_if = "Calls::are_usual")]
    pub calls: Calls,
    /// Sums over arrays that the invariants may speak of, `sums0#`, `sums1#` and so on: arrays from
    /// numbers of elements to words ([`folds`](hardbop_semantics::folds)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folds: Vec<Fold>,
    /// For which words, as terms over the state, an invariant is used besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<Instance>,
    /// The predicates that they are made of, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicates: Vec<ScopedPredicate>,
}

/// Induction over several blocks: no execution violates the checks in its first blocks, and none
/// does in a block if it did not in as many before (k-induction).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Induction {
    /// The checks that no execution violates.
    pub checks: Vec<CheckId>,
    /// What holds at cut points, by itself; it need not exclude anything.
    pub invariants: Invariants,
    /// The number of blocks.
    pub blocks: u32,
    /// Whether only executions count in which no state comes twice: a shortest one that violates
    /// a check is such.
    #[serde(default)]
    pub distinct: bool,
}

/// What invariants may speak of beside the program's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ghosts {
    /// Nothing.
    #[default]
    Nothing,
    /// Where objects were taken ([`births`](hardbop_semantics::births)).
    Births,
}

impl Ghosts {
    fn is_nothing(&self) -> bool {
        *self == Ghosts::Nothing
    }
}

/// Where indices lead in arrays that are parts of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// To elements: no execution comes to an index that leads elsewhere.
    #[default]
    Elements,
    /// Anywhere in the object.
    Object,
}

impl Reach {
    fn is_usual(&self) -> bool {
        *self == Reach::Elements
    }
}

/// What became of calls before invariants were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calls {
    /// They were inlined, as far as that goes.
    #[default]
    Inlined,
    /// They were kept.
    Kept,
}

impl Calls {
    fn are_usual(&self) -> bool {
        *self == Calls::Inlined
    }
}

/// A sum over the first elements of an array, by their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    /// The memory that the array lies in, ...
    pub memory: String,
    /// ... the address at which it begins, as terms over the state, ...
    pub base: String,
    /// ... and how many bytes its elements lie apart.
    pub stride: u64,
    /// How many bits an element has.
    pub bits: u32,
    /// What is added for an element, `element0#` for the first fold: a term over that and arbitrary
    /// words.
    pub summand: String,
    /// How it is added.
    pub adding: Adding,
    /// Where, and for which numbers of elements, it is used that one more is one summand more.
    pub steps: Vec<(LocId, String)>,
}

/// How summands are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adding {
    /// As words that wrap around.
    Sum,
    /// Bit by bit.
    Xor,
}

/// An invariant with terms in the places of arbitrary words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Whose invariant.
    pub at: LocId,
    /// Which arbitrary word.
    pub word: usize,
    /// The term.
    pub term: String,
    /// Further words with their terms, at the same time: the other indices of an element.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub besides: Vec<(usize, String)>,
}

impl Instance {
    /// All words with their terms.
    pub fn terms(&self) -> impl Iterator<Item = (usize, &str)> {
        let besides = self.besides.iter().map(|(word, term)| (*word, &term[..]));
        [(self.word, &self.term[..])].into_iter().chain(besides)
    }
}

/// A map as a list of pairs: keys of JSON's objects are texts.
mod pairs {
    use super::LocId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<S: Serializer>(
        map: &BTreeMap<LocId, String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        map.iter().collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<LocId, String>, D::Error> {
        let pairs: Vec<(LocId, String)> = Vec::deserialize(deserializer)?;
        Ok(pairs.into_iter().collect())
    }
}

/// A predicate as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScopedPredicate {
    /// The procedure whose variables it may speak of; `None` for the program's only.
    pub procedure: Option<String>,
    /// The predicate.
    pub formula: String,
}

/// All executions of the prepared program, followed at once until none goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unrolling {
    /// The checks that no execution violates.
    pub checks: Vec<CheckId>,
    /// The locations where the program is cut: at least one in every loop.
    pub cuts: Vec<LocId>,
    /// Which executions are merged.
    #[serde(default, skip_serializing_if = "Following::is_usual")]
    pub following: Following,
    /// The most blocks of one execution; by points, the number of points that executions come to.
    pub layers: u32,
    /// Where control never comes, although blocks lead there.
    pub dead: Vec<Unreached>,
}

/// A cut point that no execution comes to at some time with these calls open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unreached {
    /// The number of blocks, or the place in the order of points.
    pub layer: When,
    /// The calls that are open, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(EdgeId, FuncId)>,
    /// The cut point.
    pub location: LocId,
}

/// The only execution of a program that leaves nothing open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnlyRun {
    /// The checks that it does not violate.
    pub checks: Vec<CheckId>,
    /// It has at most so many steps.
    pub steps: u64,
}

/// An execution that violates a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The check.
    pub check: CheckId,
    /// What the program is given.
    pub given: Given,
}

/// What a program is given that it does not determine itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// Values edge by edge, as a model of a path has them. The gate makes a script of them.
    #[serde(skip)]
    Choices(Vec<Choice>),
    /// What it asks for, in order.
    Script(Script),
}

/// What a run asks for, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The contents of memory that nobody wrote, as hexadecimal bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknowns: Vec<String>,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// The bits of a scalar, as a hexadecimal number.
    Bits(String),
    /// The bytes of a range of memory, as hexadecimal digits.
    Bytes(String),
}

impl Script {
    /// What a run was given.
    pub fn of(run: &interp::Run) -> Script {
        let input = |input: &interp::ConsumedInput| match &input.value {
            interp::Consumed::Scalar(value) => Input::Bits(format!("{:x}", value.bits)),
            interp::Consumed::Bytes(bytes) => Input::Bytes(digits(bytes)),
        };
        Script {
            inputs: run.inputs.iter().map(input).collect(),
            unknowns: run.unknowns.iter().map(|bytes| digits(bytes)).collect(),
        }
    }

    /// The same as an environment of the interpreter; `None` if it is no script.
    pub fn environment(&self) -> Option<interp::Script> {
        let mut inputs = Vec::new();
        for input in &self.inputs {
            inputs.push(match input {
                Input::Bits(text) => interp::InputValue::Bits(u128::from_str_radix(text, 16).ok()?),
                Input::Bytes(text) => interp::InputValue::Bytes(bytes(text)?),
            });
        }
        let unknowns: Option<Vec<Vec<u8>>> = self.unknowns.iter().map(|text| bytes(text)).collect();
        let script = interp::Script::new(inputs);
        Some(script.unknown(interp::Unknown::Script(unknowns?)))
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(
        digits
            .chunks(2)
            .map(|two| (two[0] << 4 | two[1]) as u8)
            .collect(),
    )
}

/// Clauses over the choices of the program: no execution that makes all decisions of a clause
/// violates the checks, and every execution makes those of some clause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clauses {
    /// The checks.
    pub checks: Vec<CheckId>,
    /// The points of the unrolled program that decisions are about.
    pub points: Points,
    /// The clauses.
    pub clauses: Vec<Clause>,
}

/// No run that makes these decisions violates a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// What to do at some of the branches of the path that shows it, each by its number on that
    /// path.
    pub marks: Vec<(u32, Mark)>,
    /// How many branches that path visits.
    pub branches: u32,
    /// If it is not one path that shows it, but all of them together: the points of the unrolled
    /// program that no execution comes to that makes the decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Vec<PointId>>,
}

/// A choice of one side at a branch of the unrolled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Decision {
    /// The point.
    pub point: PointId,
    /// The side, by its number among the ways that leave the branch: a call through a pointer is
    /// one edge with a side for each function that it may enter.
    pub side: u32,
}

/// What to do at a branch of the path that shows a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The clause holds the decision for this side.
    Decided(u32),
    /// It does not matter which side is taken; go on here.
    Free(LocId),
    /// The clause holds the decision for this side, and the side cannot be taken.
    Refused(u32),
}

/// A chain of walks and leaps from the start of the program to a violated check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The check.
    pub check: CheckId,
    /// The links.
    pub links: Vec<Link>,
    /// At least so many edges the run has, as a decimal number: for people, and not checked.
    pub length: String,
}

/// A part of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// One path between two cut points.
    Walk(Walk),
    /// Through a loop without unrolling it.
    Leap(Box<Leap>),
}

/// An edge, or one half of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Move {
    /// An edge that is no call.
    Edge(EdgeId),
    /// A call enters a function.
    Enter(EdgeId, FuncId),
    /// The function that the call entered returns.
    Leave(EdgeId, FuncId),
}

impl Move {
    /// The edge, or the call.
    pub fn edge(self) -> EdgeId {
        match self {
            Move::Edge(edge) | Move::Enter(edge, _) | Move::Leave(edge, _) => edge,
        }
    }
}

/// A value that the program leaves open: the edge that meets it, and how often the path has met
/// that edge before.
pub type ChoiceKey = (EdgeId, usize);

/// A walk along one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walk {
    /// The path.
    pub moves: Vec<Move>,
    /// Values of what it leaves open, as SMT-LIB literals; the others may be anything.
    pub choices: Vec<(ChoiceKey, String)>,
}

/// A leap through a loop: an abstract state that is entered, and left at its exit port only
/// (Theorem 2). Terms speak of the state at the start of an iteration, of the counts of iterations
/// (`iteration#`, `iteration1#` and so on) and of what earlier leaps left open: `left2.1#` is the second variable of the
/// third link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leap {
    /// The cut points of the loop.
    pub nodes: Vec<Node>,
    /// Where it is entered, by its number.
    pub entry: usize,
    /// Where it is left, by its number.
    pub exit: usize,
    /// The paths between the cut points: from, to and what is done.
    pub paths: Vec<(usize, usize, Vec<Move>)>,
    /// The state variables that the loop changes; `None` for a count of iterations.
    pub variables: Vec<Option<StateVarId>>,
    /// The width of the counts of iterations.
    pub counter: Option<u32>,
    /// What every path does to the counts. Where nothing is said, there is one, and all count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<Vec<Count>>,
    /// What is chosen in every iteration.
    pub strategy: Vec<(ChoiceKey, String)>,
    /// The only values with which the loop is left, if there are no others.
    pub left: Option<Vec<String>>,
}

/// What a path does to a count of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// It stays.
    Same,
    /// One more.
    Next,
    /// It begins again.
    Zero,
}

/// A cut point of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Where it is.
    pub location: LocId,
    /// The calls that are open, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(EdgeId, FuncId)>,
    /// The variables that matter here, by their number among the variables of the leap. The values
    /// of the others are never read before they are written.
    pub relevant: Vec<usize>,
    /// The abstract state.
    pub state: String,
    /// Its part from which the loop may be left.
    pub exit: String,
    /// The variables by which states are told apart, by their number.
    pub view: Vec<usize>,
}
