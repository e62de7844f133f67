//! How a run grows: recorded item costs and assumed latencies, on 1 to 1,000 workers.
//!
//!     cargo bench -p hardbop-cluster -- .hardbop/costs.json [PICTURE.svg]
//!
//! The costs are drawn from those of a real project; what the planner believes of each is another
//! draw within a factor of two, as of a file that has changed.

#![expect(clippy::print_stdout, reason = "a program that measures")]

use hardbop_cluster::packing::Packing;
use hardbop_cluster::seal::open;
use hardbop_cluster::simulate::{Latencies, resample, simulate};
use std::collections::BTreeMap;

const ITEMS: usize = 10_000;
const WORKERS: &[usize] = &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/// A scheduler, with what it takes. These latencies are assumed, not measured.
struct Scheduler {
    name: &'static str,
    colour: &'static str,
    least: f64,
    latencies: Latencies,
}

const SCHEDULERS: &[Scheduler] = &[
    Scheduler {
        name: "HyperQueue",
        colour: "#1f77b4",
        least: 2.0,
        latencies: Latencies {
            submit: 0.5,
            between: 0.001,
            start: 0.05,
            item: 0.01,
        },
    },
    Scheduler {
        name: "Slurm",
        colour: "#d62728",
        least: 20.0,
        latencies: Latencies {
            submit: 1.0,
            between: 0.02,
            start: 1.0,
            item: 0.01,
        },
    },
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `cargo bench` adds `--bench`.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let costs: Vec<f64> = match arguments.first() {
        Some(path) => {
            let text = std::fs::read_to_string(path)?;
            let body = open("costs", &text).map_err(|_| format!("`{path}` has no costs"))?;
            let known: BTreeMap<String, f64> = serde_json::from_str(body)?;
            known.into_values().collect()
        }
        None => vec![0.1, 0.2, 0.3, 0.5, 5.0],
    };
    let total = |costs: &[f64]| costs.iter().sum::<f64>();
    println!(
        "{} recorded costs, {:.2} s each on average",
        costs.len(),
        total(&costs) / costs.len() as f64
    );
    let real = resample(&costs, ITEMS, 1);
    let noise = resample(&[0.5, 0.7, 1.0, 1.4, 2.0], ITEMS, 2);
    let believed: Vec<f64> = real
        .iter()
        .zip(&noise)
        .map(|(cost, factor)| cost * factor)
        .collect();
    println!("{ITEMS} items, {:.0} s of work", total(&real));
    println!(
        "| workers | {} |",
        SCHEDULERS
            .iter()
            .map(|s| format!("{} tasks | wall | efficiency", s.name))
            .collect::<Vec<_>>()
            .join(" | ")
    );
    let mut curves = vec![Vec::new(); SCHEDULERS.len()];
    for &workers in WORKERS {
        let mut cells = Vec::new();
        for (scheduler, curve) in SCHEDULERS.iter().zip(&mut curves) {
            let packing = Packing {
                workers,
                least: scheduler.least,
                most: 600.0,
            };
            let run = simulate(&real, &believed, &packing, &scheduler.latencies);
            cells.push(format!(
                "{} | {:.1} s | {:.0}%",
                run.tasks,
                run.wall,
                100.0 * run.efficiency
            ));
            curve.push((workers as f64, run.efficiency));
        }
        println!("| {workers} | {} |", cells.join(" | "));
    }
    if let Some(path) = arguments.get(1) {
        std::fs::write(path, picture(&curves))?;
    }
    Ok(())
}

/// Efficiency over workers, the latter on a logarithmic scale.
fn picture(curves: &[Vec<(f64, f64)>]) -> String {
    let x = |workers: f64| 60.0 + workers.log10() / 3.0 * 500.0;
    let y = |efficiency: f64| 280.0 - 240.0 * efficiency;
    let mut parts = vec![
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 340\" font-family=\"sans-serif\" font-size=\"13\">".to_owned(),
        "<rect width=\"640\" height=\"340\" fill=\"white\"/>".to_owned(),
    ];
    for percent in [0, 20, 40, 60, 80, 100] {
        let at = y(f64::from(percent) / 100.0);
        parts.push(format!(
            "<line x1=\"60\" x2=\"560\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>"
        ));
        parts.push(format!(
            "<text x=\"52\" y=\"{:.1}\" text-anchor=\"end\">{percent}%</text>",
            at + 4.0
        ));
    }
    for workers in [1, 10, 100, 1000] {
        let at = x(f64::from(workers));
        parts.push(format!(
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"40\" y2=\"280\" stroke=\"#ddd\"/>"
        ));
        parts.push(format!(
            "<text x=\"{at:.1}\" y=\"298\" text-anchor=\"middle\">{workers}</text>"
        ));
    }
    parts.push("<text x=\"310\" y=\"322\" text-anchor=\"middle\">workers</text>".to_owned());
    parts.push("<text x=\"60\" y=\"24\">efficiency, 10,000 items</text>".to_owned());
    for (number, (scheduler, curve)) in SCHEDULERS.iter().zip(curves).enumerate() {
        let points: Vec<String> = curve
            .iter()
            .map(|&(w, e)| format!("{:.1},{:.1}", x(w), y(e)))
            .collect();
        let colour = scheduler.colour;
        parts.push(format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.join(" ")
        ));
        let at = 24 + 18 * number;
        parts.push(format!(
            "<text x=\"470\" y=\"{at}\" fill=\"{colour}\">{}</text>",
            scheduler.name
        ));
    }
    parts.push("</svg>\n".to_owned());
    parts.join("\n")
}
