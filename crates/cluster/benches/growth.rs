//! How a run grows: recorded item costs and measured latencies, on 1 to 1,000 workers.
//!
//!     cargo bench -p hardbop-cluster -- .hardbop/costs.json LATENCIES.json [PICTURE.svg]
//!
//! The costs are drawn from those of a real project; what the planner believes of each is another
//! draw within a factor of two, as of a file that has changed. The latencies are those that
//! `benches/cluster-latencies` measured. It fails if less than 80% of the work of 100 workers is
//! for 10,000 items.

#![expect(clippy::print_stdout, reason = "a program that measures")]

use hardbop_cluster::packing::Packing;
use hardbop_cluster::seal::open;
use hardbop_cluster::simulate::{Latencies, resample, simulate};
use hardbop_cluster::site::On;
use std::collections::BTreeMap;

const ITEMS: usize = 10_000;
/// How much of the work of 100 workers must be for items.
const BAR: f64 = 0.8;
const WORKERS: &[usize] = &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/// A scheduler.
struct Scheduler {
    name: &'static str,
    /// Its name in the file of latencies.
    key: &'static str,
    colour: &'static str,
    on: On,
}

const SCHEDULERS: &[Scheduler] = &[
    Scheduler {
        name: "HyperQueue",
        key: "hq",
        colour: "#1f77b4",
        on: On::Hq(None),
    },
    Scheduler {
        name: "Slurm",
        key: "slurm",
        colour: "#d62728",
        on: On::Slurm(None),
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
    let measured: BTreeMap<String, Latencies> = match arguments.get(1) {
        Some(path) => serde_json::from_str(&std::fs::read_to_string(path)?)?,
        None => BTreeMap::new(),
    };
    let latencies = |scheduler: &Scheduler| match measured.get(scheduler.key) {
        Some(latencies) => *latencies,
        None => Latencies::of(&scheduler.on),
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
    for scheduler in SCHEDULERS {
        println!("{}: {:?}", scheduler.name, latencies(scheduler));
    }
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
                least: scheduler.on.worth(),
                most: 600.0,
            };
            let run = simulate(&real, &believed, &packing, &latencies(scheduler));
            cells.push(format!(
                "{} | {:.1} s | {:.0}%",
                run.tasks,
                run.wall,
                100.0 * run.efficiency
            ));
            curve.push(Point {
                workers: workers as f64,
                wall: run.wall,
                efficiency: run.efficiency,
            });
        }
        println!("| {workers} | {} |", cells.join(" | "));
    }
    if let Some(path) = arguments.get(2) {
        std::fs::write(path, picture(&curves))?;
    }
    for (scheduler, curve) in SCHEDULERS.iter().zip(&curves) {
        let at = curve.iter().find(|point| point.workers == 100.0);
        let efficiency = at.map_or(0.0, |point| point.efficiency);
        if efficiency < BAR {
            let percent = 100.0 * efficiency;
            return Err(format!("{}: {percent:.0}% at 100 workers", scheduler.name).into());
        }
    }
    Ok(())
}

/// A point of a curve.
#[derive(Clone, Copy)]
struct Point {
    workers: f64,
    wall: f64,
    efficiency: f64,
}

/// Wall time and efficiency over workers; workers and time on logarithmic scales.
fn picture(curves: &[Vec<Point>]) -> String {
    let wall = Axes {
        left: 60.0,
        title: "wall time, 10,000 items",
        marks: &[
            (1.0, "1 s"),
            (10.0, "10 s"),
            (100.0, "100 s"),
            (1000.0, "1,000 s"),
        ],
        height: &|seconds| seconds.log10() / 4.0,
    };
    let efficiency = Axes {
        left: 440.0,
        title: "efficiency",
        marks: &[
            (0.0, "0%"),
            (0.2, "20%"),
            (0.4, "40%"),
            (0.6, "60%"),
            (0.8, "80%"),
            (1.0, "100%"),
        ],
        height: &|part| part,
    };
    let mut parts = vec![
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 340\" font-family=\"sans-serif\" font-size=\"13\">".to_owned(),
        "<rect width=\"760\" height=\"340\" fill=\"white\"/>".to_owned(),
    ];
    wall.draw(&mut parts, curves, &|point| point.wall);
    efficiency.draw(&mut parts, curves, &|point| point.efficiency);
    for (number, scheduler) in SCHEDULERS.iter().enumerate() {
        let (at, colour, name) = (560 + 100 * number, scheduler.colour, scheduler.name);
        parts.push(format!(
            "<text x=\"{at}\" y=\"24\" fill=\"{colour}\">{name}</text>"
        ));
    }
    parts.push("</svg>\n".to_owned());
    parts.join("\n")
}

/// Where curves are drawn.
struct Axes<'a> {
    left: f64,
    title: &'a str,
    /// Values with what is written beside them.
    marks: &'a [(f64, &'a str)],
    /// How high a value is, from 0 to 1.
    height: &'a dyn Fn(f64) -> f64,
}

impl Axes<'_> {
    fn draw(&self, parts: &mut Vec<String>, curves: &[Vec<Point>], of: &dyn Fn(&Point) -> f64) {
        let left = self.left;
        let right = left + 280.0;
        let x = |workers: f64| left + workers.log10() / 3.0 * 280.0;
        let y = |value: f64| 280.0 - 240.0 * (self.height)(value);
        let text = |x: f64, y: f64, anchor: &str, what: &str| {
            format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>")
        };
        for &(value, mark) in self.marks {
            let at = y(value);
            parts.push(format!(
                "<line x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>"
            ));
            parts.push(text(left - 8.0, at + 4.0, "end", mark));
        }
        for workers in [1.0, 10.0, 100.0, 1000.0] {
            let at = x(workers);
            parts.push(format!(
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"40\" y2=\"280\" stroke=\"#ddd\"/>"
            ));
            parts.push(text(at, 298.0, "middle", &workers.to_string()));
        }
        parts.push(text(left + 140.0, 322.0, "middle", "workers"));
        parts.push(text(left, 24.0, "start", self.title));
        for (scheduler, curve) in SCHEDULERS.iter().zip(curves) {
            let point = |point: &Point| format!("{:.1},{:.1}", x(point.workers), y(of(point)));
            let points: Vec<String> = curve.iter().map(point).collect();
            parts.push(format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
                points.join(" "),
                scheduler.colour
            ));
        }
    }
}
