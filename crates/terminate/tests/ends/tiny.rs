//! Random programs over tiny words, all of whose states can be enumerated.
//!
//! A program has three variables of four bits. It is printed as C, and walked by its own meaning:
//! it has an execution that never ends exactly if its graph of states that can be reached has a
//! cycle.

use hardbop_test_support::random::Random;
use std::collections::HashMap;
use std::fmt::Write;

/// The variables.
const NAMES: [&str; 3] = ["a", "b", "c"];
/// Their values are below this.
const VALUES: u8 = 16;

/// A value of four bits.
#[derive(Clone, Debug)]
enum Expr {
    Number(u8),
    Variable(usize),
    Binary(char, Box<Expr>, Box<Expr>),
}

/// A condition.
#[derive(Clone, Debug)]
enum Condition {
    /// Whatever the environment wants.
    Open,
    Compare(&'static str, Expr, Expr),
}

#[derive(Clone, Debug)]
enum Statement {
    Assign(usize, Expr),
    /// A value that the environment chooses.
    Input(usize),
    If(Condition, Vec<Statement>, Vec<Statement>),
    While(Condition, Vec<Statement>),
    Break,
    Return,
}

/// A random program.
#[derive(Clone, Debug)]
pub struct Tiny {
    inputs: [bool; 3],
    body: Vec<Statement>,
}

/// What is done at a point of a program.
enum Op {
    Assign(usize, Expr),
    Input(usize),
    Branch(Condition, usize, usize),
    Jump(usize),
    End,
}

impl Tiny {
    /// The program of a seed.
    pub fn new(seed: u64) -> Tiny {
        let mut random = Random(seed);
        let inputs = [0, 1, 2].map(|_| random.percent(60));
        let mut budget = 9;
        let mut body = vec![Statement::While(
            condition(&mut random),
            statements(&mut random, 2, true, &mut budget),
        )];
        if random.one_in(3) {
            let more = statements(&mut random, 2, false, &mut budget);
            body.extend(more);
        }
        Tiny { inputs, body }
    }

    /// As C.
    pub fn text(&self) -> String {
        let mut text = "int main(void) {\n".to_owned();
        for (name, input) in NAMES.iter().zip(self.inputs) {
            let value = if input {
                "__VERIFIER_nondet_uchar() & 15"
            } else {
                "3"
            };
            let _ = writeln!(text, "  unsigned char {name} = {value};");
        }
        print(&mut text, &self.body, 1);
        text.push_str("  return 0;\n}\n");
        text
    }

    /// Whether every execution ends.
    pub fn ends(&self) -> bool {
        let mut code = Vec::new();
        compile(&self.body, &mut code, &mut Vec::new());
        code.push(Op::End);
        let mut starts: Vec<[u8; 3]> = vec![[3; 3]];
        for (at, input) in self.inputs.iter().enumerate() {
            if *input {
                let with = |start: &[u8; 3], value: u8| {
                    let mut start = *start;
                    start[at] = value;
                    start
                };
                starts = starts
                    .iter()
                    .flat_map(|start| (0..VALUES).map(move |value| with(start, value)))
                    .collect();
            }
        }
        // Depth first: a state that is met while it is open is on a cycle.
        let mut closed: HashMap<(usize, [u8; 3]), bool> = HashMap::new();
        for start in starts {
            let first = (0, start);
            if closed.contains_key(&first) {
                continue;
            }
            closed.insert(first, false);
            let mut stack = vec![(first, successors(&code, first))];
            while let Some((state, next)) = stack.last_mut() {
                let Some(to) = next.pop() else {
                    closed.insert(*state, true);
                    stack.pop();
                    continue;
                };
                match closed.get(&to) {
                    Some(true) => {}
                    Some(false) => return false,
                    None => {
                        closed.insert(to, false);
                        stack.push((to, successors(&code, to)));
                    }
                }
            }
        }
        true
    }
}

fn condition(random: &mut Random) -> Condition {
    match random.below(8u32) {
        0 => Condition::Open,
        _ => {
            let sign = random.pick(&["<", "<=", "!=", "==", ">", "<", "!="]);
            let left = Expr::Variable(random.below(3usize));
            let right = match random.percent(50) {
                true => Expr::Variable(random.below(3usize)),
                false => Expr::Number(random.below(16u32) as u8),
            };
            Condition::Compare(sign, left, right)
        }
    }
}

fn expression(random: &mut Random) -> Expr {
    let leaf = |random: &mut Random| match random.percent(60) {
        true => Expr::Variable(random.below(3usize)),
        false => Expr::Number(random.pick(&[0, 1, 1, 1, 2, 3, 5, 8, 15])),
    };
    let left = Expr::Variable(random.below(3usize));
    match random.below(6u32) {
        0 => leaf(random),
        _ => {
            let sign = random.pick(&['+', '-', '+', '-', '&', '|', '^', '>']);
            let right = leaf(random);
            Expr::Binary(sign, Box::new(left), Box::new(right))
        }
    }
}

fn statements(random: &mut Random, depth: u32, inside: bool, budget: &mut u32) -> Vec<Statement> {
    let mut found = Vec::new();
    for _ in 0..1 + random.below(3u32) {
        if *budget == 0 {
            break;
        }
        *budget -= 1;
        found.push(match random.below(12u32) {
            0 | 1 if depth > 0 => {
                let condition = condition(random);
                let then = statements(random, depth - 1, inside, budget);
                let otherwise = match random.percent(50) {
                    true => statements(random, depth - 1, inside, budget),
                    false => Vec::new(),
                };
                Statement::If(condition, then, otherwise)
            }
            2 if depth > 0 => {
                let condition = condition(random);
                Statement::While(condition, statements(random, depth - 1, true, budget))
            }
            3 if inside && random.percent(30) => Statement::Break,
            4 if random.percent(15) => Statement::Return,
            5 => Statement::Input(random.below(3usize)),
            _ => Statement::Assign(random.below(3usize), expression(random)),
        });
    }
    found
}

fn expression_text(expr: &Expr) -> String {
    match expr {
        Expr::Number(number) => number.to_string(),
        Expr::Variable(variable) => NAMES[*variable].to_owned(),
        Expr::Binary('>', left, right) => {
            format!(
                "({} >> ({} & 3))",
                expression_text(left),
                expression_text(right)
            )
        }
        Expr::Binary(sign, left, right) => {
            format!(
                "({} {sign} {})",
                expression_text(left),
                expression_text(right)
            )
        }
    }
}

fn condition_text(condition: &Condition) -> String {
    match condition {
        Condition::Open => "__VERIFIER_nondet_uchar() & 1".to_owned(),
        Condition::Compare(sign, left, right) => {
            format!(
                "{} {sign} {}",
                expression_text(left),
                expression_text(right)
            )
        }
    }
}

fn print(text: &mut String, statements: &[Statement], depth: usize) {
    let indent = "  ".repeat(depth);
    for statement in statements {
        let _ = match statement {
            Statement::Assign(variable, expr) => {
                let (name, value) = (NAMES[*variable], expression_text(expr));
                writeln!(text, "{indent}{name} = {value} & 15;")
            }
            Statement::Input(variable) => {
                let name = NAMES[*variable];
                writeln!(text, "{indent}{name} = __VERIFIER_nondet_uchar() & 15;")
            }
            Statement::Break => writeln!(text, "{indent}break;"),
            Statement::Return => writeln!(text, "{indent}return 0;"),
            Statement::If(condition, then, otherwise) => {
                let _ = writeln!(text, "{indent}if ({}) {{", condition_text(condition));
                print(text, then, depth + 1);
                let _ = writeln!(text, "{indent}}} else {{");
                print(text, otherwise, depth + 1);
                writeln!(text, "{indent}}}")
            }
            Statement::While(condition, body) => {
                let _ = writeln!(text, "{indent}while ({}) {{", condition_text(condition));
                print(text, body, depth + 1);
                writeln!(text, "{indent}}}")
            }
        };
    }
}

/// Adds the code of statements; `breaks` are jumps out of the innermost loop.
fn compile(statements: &[Statement], code: &mut Vec<Op>, breaks: &mut Vec<usize>) {
    for statement in statements {
        match statement {
            Statement::Assign(variable, expr) => code.push(Op::Assign(*variable, expr.clone())),
            Statement::Input(variable) => code.push(Op::Input(*variable)),
            Statement::Return => code.push(Op::End),
            Statement::Break => {
                breaks.push(code.len());
                code.push(Op::Jump(0));
            }
            Statement::If(condition, then, otherwise) => {
                let branch = code.len();
                code.push(Op::End);
                compile(then, code, breaks);
                let jump = code.len();
                code.push(Op::End);
                let second = code.len();
                compile(otherwise, code, breaks);
                code[branch] = Op::Branch(condition.clone(), branch + 1, second);
                code[jump] = Op::Jump(code.len());
            }
            Statement::While(condition, body) => {
                let head = code.len();
                code.push(Op::End);
                let mut inner = Vec::new();
                compile(body, code, &mut inner);
                code.push(Op::Jump(head));
                let end = code.len();
                code[head] = Op::Branch(condition.clone(), head + 1, end);
                for at in inner {
                    code[at] = Op::Jump(end);
                }
            }
        }
    }
}

fn value(expr: &Expr, state: &[u8; 3]) -> i32 {
    match expr {
        Expr::Number(number) => i32::from(*number),
        Expr::Variable(variable) => i32::from(state[*variable]),
        Expr::Binary(sign, left, right) => {
            let (a, b) = (value(left, state), value(right, state));
            match sign {
                '+' => a + b,
                '-' => a - b,
                '&' => a & b,
                '|' => a | b,
                '^' => a ^ b,
                _ => a >> (b & 3),
            }
        }
    }
}

fn successors(code: &[Op], (at, state): (usize, [u8; 3])) -> Vec<(usize, [u8; 3])> {
    let with = |variable: usize, value: u8| {
        let mut state = state;
        state[variable] = value;
        (at + 1, state)
    };
    match &code[at] {
        Op::End => Vec::new(),
        Op::Jump(to) => vec![(*to, state)],
        Op::Assign(variable, expr) => vec![with(*variable, (value(expr, &state) & 15) as u8)],
        Op::Input(variable) => (0..VALUES).map(|value| with(*variable, value)).collect(),
        Op::Branch(Condition::Open, then, otherwise) => vec![(*then, state), (*otherwise, state)],
        Op::Branch(Condition::Compare(sign, left, right), then, otherwise) => {
            let (a, b) = (value(left, &state), value(right, &state));
            let holds = match *sign {
                "<" => a < b,
                "<=" => a <= b,
                ">" => a > b,
                "==" => a == b,
                _ => a != b,
            };
            vec![(if holds { *then } else { *otherwise }, state)]
        }
    }
}
