//! The course of the search: what each engine counted, over time, and what each iteration took.

use crate::results::{Results, Round};
use crate::xml::escaped;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The most rows of a table.
const MOST_ROWS: usize = 500;
const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 100.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 12.0;

/// Draws the search, an engine at a time.
pub(super) fn plots(out: &mut String, results: &Results) {
    for (index, group) in groups(&results.rounds).into_iter().enumerate() {
        let first = group[0];
        let engine = escaped(&first.engine);
        let rule = first.rule.as_deref().map(|rule| format!(", rule {rule}"));
        let rule = escaped(&rule.unwrap_or_default());
        let _ = writeln!(
            out,
            "<section class=\"engine\" aria-labelledby=\"engine-{index}\"><h3 id=\"engine-{index}\"><span \
             class=\"code\">{engine}</span>{rule}</h3>"
        );
        if group.len() > 1 {
            out.push_str("<div class=\"plots\">\n");
            for name in names(&group) {
                let points: Vec<(f64, f64)> = group
                    .iter()
                    .filter_map(|round| Some((round.seconds, count(round, name)? as f64)))
                    .collect();
                if points.iter().any(|point| point.1 > 0.0) {
                    line(out, name, &points);
                }
            }
            let took: Vec<f64> = durations(&group);
            bars(out, &took);
            out.push_str("</div>\n");
        }
        table(out, &group);
        out.push_str("</section>\n");
    }
}

/// What each engine told beside each rule, in the order in which they began.
fn groups(rounds: &[Round]) -> Vec<Vec<&Round>> {
    let mut groups: Vec<Vec<&Round>> = Vec::new();
    for round in rounds {
        let same = |group: &&mut Vec<&Round>| {
            group[0].engine == round.engine && group[0].rule == round.rule
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(round),
            None => groups.push(vec![round]),
        }
    }
    groups
}

/// What is counted, in the order in which it is told.
fn names<'r>(group: &[&'r Round]) -> Vec<&'r str> {
    let mut seen = BTreeSet::new();
    let all = group.iter().flat_map(|round| &round.counts);
    all.map(|(name, _)| name.as_str())
        .filter(|&name| seen.insert(name))
        .collect()
}

fn count(round: &Round, name: &str) -> Option<u64> {
    let mut counts = round.counts.iter();
    counts.find(|(known, _)| known == name).map(|known| known.1)
}

/// How long it took from each thing that was told to the next.
fn durations(group: &[&Round]) -> Vec<f64> {
    let pairs = group.windows(2);
    pairs
        .map(|pair| (pair[1].seconds - pair[0].seconds).max(0.0))
        .collect()
}

/// A picture with its axes; the caller draws into it and closes it.
fn frame(out: &mut String, title: &str, said: &str, most: &str, right: &str) {
    let (width, height) = (LEFT + WIDTH + 14.0, TOP + HEIGHT + 22.0);
    let bottom = TOP + HEIGHT;
    let end = LEFT + WIDTH;
    let _ = writeln!(
        out,
        "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{}\">\n\
         <path class=\"axis\" d=\"M{LEFT} {TOP} V{bottom} H{end}\" fill=\"none\"/>\
         <text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{most}</text>\
         <text x=\"{x}\" y=\"{bottom}\" text-anchor=\"end\">0</text>\
         <text x=\"{end}\" y=\"{below}\" text-anchor=\"end\">{right}</text>",
        escaped(title),
        escaped(said),
        x = LEFT - 5.0,
        y = TOP + 9.0,
        below = bottom + 16.0,
    );
}

/// A count over time.
fn line(out: &mut String, name: &str, points: &[(f64, f64)]) {
    let latest = points.iter().map(|point| point.0).fold(0.001, f64::max);
    let most = points.iter().map(|point| point.1).fold(1.0, f64::max);
    let from = points.first().map_or(0.0, |point| point.1);
    let to = points.last().map_or(0.0, |point| point.1);
    let said = format!("{name}: from {from} to {to}, at most {most}, in {latest:.2} seconds");
    let right = format!("{latest:.2} s");
    frame(out, name, &said, &most.to_string(), &right);
    let places: Vec<String> = points
        .iter()
        .map(|&(seconds, value)| {
            let x = LEFT + seconds / latest * WIDTH;
            let y = TOP + HEIGHT - value / most * HEIGHT;
            format!("{x:.1},{y:.1}")
        })
        .collect();
    let _ = writeln!(
        out,
        "<polyline class=\"plot\" points=\"{}\"/></svg></figure>",
        places.join(" ")
    );
}

/// What each iteration took.
fn bars(out: &mut String, took: &[f64]) {
    let longest = took.iter().copied().fold(0.001, f64::max);
    let count = took.len();
    let said = format!("seconds an iteration: {count} iterations, the longest took {longest:.3}");
    let most = format!("{longest:.2}");
    let title = "seconds an iteration";
    frame(out, title, &said, &most, &count.to_string());
    // Many iterations are drawn as one outline: a bar would be thinner than a dot.
    let step = WIDTH / count.max(1) as f64;
    let mut path = format!("M{LEFT} {}", TOP + HEIGHT);
    for (index, seconds) in took.iter().enumerate() {
        let x = LEFT + index as f64 * step;
        let y = TOP + HEIGHT - seconds / longest * HEIGHT;
        let _ = write!(path, " L{x:.1} {y:.1} H{:.1}", x + step);
    }
    let _ = writeln!(
        out,
        "<path class=\"bars\" d=\"{path} V{} Z\"/></svg></figure>",
        TOP + HEIGHT
    );
}

/// The same in numbers.
fn table(out: &mut String, group: &[&Round]) {
    let names = names(group);
    out.push_str(
        "<details><summary>As a table</summary><div class=\"wide\"><table><thead><tr><th scope=\"col\">Seconds\
         </th><th scope=\"col\">Doing</th>",
    );
    for name in &names {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(name));
    }
    out.push_str("<th scope=\"col\">Open checks</th></tr></thead><tbody>\n");
    for round in group.iter().take(MOST_ROWS) {
        let _ = write!(
            out,
            "<tr><td>{:.3}</td><td>{}</td>",
            round.seconds,
            escaped(&round.doing)
        );
        for name in &names {
            let count = count(round, name).map(|count| count.to_string());
            let _ = write!(out, "<td>{}</td>", count.unwrap_or_default());
        }
        let _ = writeln!(out, "<td>{}</td></tr>", round.open);
    }
    out.push_str("</tbody></table></div>\n");
    if group.len() > MOST_ROWS {
        let rest = group.len() - MOST_ROWS;
        let _ = writeln!(out, "<p>{rest} more are not listed.</p>");
    }
    out.push_str("</details>\n");
}
