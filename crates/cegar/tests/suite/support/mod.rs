//! What the tests share: loading C text, and running a program on all its inputs.

pub mod generate;

use hardbop_cfront::ids::TypeId;
use hardbop_cfront::interp::{Environment, Request};
use hardbop_cfront::load::load_text;
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::Program;

/// Loads a program that has no errors.
pub fn load(text: &str) -> (Program, PointsTo) {
    let loaded = load_text("test.c", text).expect(text);
    (loaded.program, loaded.points_to)
}

/// Goes through every sequence of one-byte inputs.
#[derive(Default)]
pub struct AllInputs {
    values: Vec<u8>,
    position: usize,
    /// Whether something was asked for that is not an input.
    pub unknown_asked: bool,
}

impl AllInputs {
    /// Prepares the next sequence. Says whether there is one.
    pub fn next(&mut self) -> bool {
        self.values.truncate(self.position);
        self.position = 0;
        while let Some(last) = self.values.last_mut() {
            if *last < u8::MAX {
                *last += 1;
                return true;
            }
            self.values.pop();
        }
        false
    }
}

impl Environment for AllInputs {
    fn input(&mut self, _: Request<'_>, _: TypeId) -> Option<u128> {
        if self.position == self.values.len() {
            self.values.push(0);
        }
        let value = self.values[self.position];
        self.position += 1;
        Some(u128::from(value))
    }

    fn input_bytes(&mut self, _: Request<'_>, _: &mut [u8]) -> bool {
        self.unknown_asked = true;
        true
    }

    fn unknown(&mut self, _: Request<'_>, _: &mut [u8]) {}
}
