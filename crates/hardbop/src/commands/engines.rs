//! Which engines `hardbop check` runs: those that were asked for.

use crate::cli::{CheckArgs, EngineChoice, SearchArith, Share};
use crate::failure::Failure;
use hardbop_cegar::Slam;
use hardbop_diagrams::Diagrams;
use hardbop_dpr::Dpr;
use hardbop_engine::Encodings;
use hardbop_horn::WholeProgram;
use hardbop_houdini::{Houdini, Nodes};
use hardbop_induction::Induction;
use hardbop_leap::Leap;
use hardbop_pdr::Pdr;
use hardbop_portfolio::{Functions, Plan, default_plan};
use hardbop_unroll::{Runs, Unroll};
use hardbop_values::Values;

/// How programs are read.
pub fn encodings(arith: SearchArith) -> Encodings {
    match arith {
        SearchArith::Auto => Encodings::IntegersFirst,
        SearchArith::Bits => Encodings::BitsOnly,
    }
}

/// The options of a search of a part of the paths, if that is what is wanted.
pub fn part(arguments: &CheckArgs) -> Result<Option<hardbop_dpr::Options>, Failure> {
    let Some(Share { index, of }) = arguments.cube else {
        return Ok(None);
    };
    let part = hardbop_dpr::Part::new(index, of);
    if arguments.engine != EngineChoice::Dpr || part.is_none() {
        return Err(Failure::message(
            "--cube I/N is for --engine dpr, and N is 2, 4, 8, ... 256",
        ));
    }
    Ok(Some(hardbop_dpr::Options {
        part,
        ..hardbop_dpr::Options::default()
    }))
}

/// The plan for an engine, or for all of them.
pub fn plan(engine: EngineChoice, arith: SearchArith) -> Plan {
    let arithmetic = encodings(arith);
    match engine {
        EngineChoice::Auto => default_plan(arithmetic),
        EngineChoice::Diagrams => Plan::alone(Diagrams::default()),
        EngineChoice::Dpr => Plan::alone(Dpr::default()),
        EngineChoice::Functions => Plan::alone(Functions::default()),
        EngineChoice::Houdini => {
            let mut plan = Plan::alone(Houdini::default());
            plan.first.push(Box::new(Houdini::remembering()));
            plan.first.push(Box::new(Houdini::of_powers()));
            plan.first.push(Box::new(Houdini::of_rooms()));
            plan.first.push(Box::new(Houdini::of_texts()));
            plan
        }
        EngineChoice::Horn => Plan::alone(WholeProgram::reading(arithmetic)),
        EngineChoice::Induction => Plan::alone(Induction::default()),
        EngineChoice::Leap => Plan::alone(Leap::default()),
        EngineChoice::Nodes => Plan::alone(Nodes::default()),
        EngineChoice::Pdr => Plan::alone(Pdr::default()),
        EngineChoice::Polynomials => {
            let mut plan = Plan::alone(Houdini::of_products());
            plan.first.push(Box::new(Houdini::of_arguments()));
            plan
        }
        EngineChoice::Sat => Plan::alone(Unroll::on_circuits()),
        EngineChoice::Run => Plan::alone(Runs::default()),
        EngineChoice::Slam => Plan::alone(Slam::reading(arithmetic)),
        EngineChoice::Unroll => Plan::alone(Unroll::default()),
        EngineChoice::Values => Plan::alone(Values::default()),
    }
}
