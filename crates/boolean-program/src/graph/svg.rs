//! The graph as SVG, laid out by ourselves.
//!
//! The statements of a procedure stand below each other in the order of the text, as a reader
//! knows them; control that does not simply go on runs down on the right side or back up on the
//! left one, in lanes that do not overlap. This takes linear time and needs no other program.

use super::{edge_text, vertex_texts};
use crate::program::{ProcId, Program, VertexId, VertexKind};
use hardbop_diagnostics::Sources;
use std::fmt::Write;

const CHARACTER: usize = 8;
const BOX_HEIGHT: usize = 24;
const ROW: usize = 46;
const LANE: usize = 14;
const MARGIN: usize = 16;
const TITLE: usize = 28;
/// Procedures go into a new row beyond this width.
const WIDEST_ROW: usize = 2000;
/// With more jumps than this side by side, some share a lane.
const MOST_LANES: usize = 40;

/// The graph as an SVG document. `sources` must hold the text that the program comes from.
pub fn to_svg(program: &Program, sources: &Sources) -> String {
    let (mut x, mut y, mut row_height, mut width) = (MARGIN, MARGIN, 0, 0);
    let mut body = String::new();
    let all_texts = vertex_texts(program, sources);
    for index in 0..program.procedures.len() {
        let panel = Panel::new(program, &all_texts, ProcId(index as u32));
        if x > MARGIN && x + panel.width > WIDEST_ROW {
            x = MARGIN;
            y += row_height + MARGIN;
            row_height = 0;
        }
        let _ = writeln!(body, "<g transform=\"translate({x} {y})\">");
        panel.draw(&mut body, program);
        body.push_str("</g>\n");
        x += panel.width + MARGIN;
        width = width.max(x);
        row_height = row_height.max(panel.height);
    }
    let height = y + row_height + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">
<style>
text {{ font: 12px monospace; }}
rect, path {{ fill: none; stroke: #333; }}
.panel {{ fill: #fafafa; stroke: #bbb; }}
.plain {{ fill: #fff; }}
.branch {{ fill: #eef4ff; }}
.call {{ fill: #f2fbef; }}
.exit {{ fill: #eee; }}
.failed {{ fill: #fdd; stroke: #b00; }}
.when {{ font-size: 10px; fill: #666; }}
</style>
<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:#333;stroke:none\"/></marker></defs>
{body}</svg>
"
    )
}

/// One procedure's picture.
struct Panel {
    title: String,
    first: u32,
    texts: Vec<String>,
    /// The edges that do not lead to the row below, each with its lane.
    jumps: Vec<Jump>,
    left: usize,
    box_width: usize,
    width: usize,
    height: usize,
}

struct Jump {
    from: usize,
    to: usize,
    lane: usize,
    when: &'static str,
}

impl Jump {
    fn goes_back(&self) -> bool {
        self.to <= self.from
    }
}

impl Panel {
    fn new(program: &Program, all_texts: &[String], id: ProcId) -> Panel {
        let procedure = &program.procedures[id.index()];
        let first = procedure.vertices.start;
        let texts = all_texts[first as usize..procedure.vertices.end as usize].to_vec();
        let mut jumps = Vec::new();
        for vertex in procedure.vertices.clone() {
            for (_, edge) in program.edges_from(VertexId(vertex)) {
                if edge.to.0 != vertex + 1 {
                    let (from, to) = ((vertex - first) as usize, (edge.to.0 - first) as usize);
                    jumps.push(Jump {
                        from,
                        to,
                        lane: 0,
                        when: edge_text(program, edge),
                    });
                }
            }
        }
        let (back, forth): (Vec<_>, Vec<_>) = jumps.into_iter().partition(Jump::goes_back);
        let (back, lanes_left) = with_lanes(back);
        let (forth, lanes_right) = with_lanes(forth);
        let longest = texts.iter().map(|t| t.chars().count()).max().unwrap_or(0);
        let title = procedure.name.clone();
        let box_width = (longest.max(title.chars().count()) + 2) * CHARACTER;
        let left = MARGIN + (lanes_left + 1) * LANE;
        Panel {
            title,
            first,
            height: TITLE + texts.len() * ROW + MARGIN,
            texts,
            jumps: back.into_iter().chain(forth).collect(),
            left,
            box_width,
            width: left + box_width + (lanes_right + 1) * LANE + 3 * MARGIN,
        }
    }

    fn draw(&self, out: &mut String, program: &Program) {
        let Panel {
            width,
            height,
            left,
            box_width,
            ..
        } = self;
        let _ = writeln!(
            out,
            "<rect class=\"panel\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>"
        );
        let _ = writeln!(
            out,
            "<text x=\"{left}\" y=\"18\">{}</text>",
            escaped(&self.title)
        );
        let middle = left + box_width / 2;
        for (row, text) in self.texts.iter().enumerate() {
            let vertex = VertexId(self.first + row as u32);
            let class = match program.vertices[vertex.index()].kind {
                VertexKind::If | VertexKind::While | VertexKind::Assert => "branch",
                VertexKind::Call => "call",
                VertexKind::Exit => "exit",
                VertexKind::Failed => "failed",
                _ => "plain",
            };
            let top = TITLE + row * ROW;
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"{box_width}\" height=\"{BOX_HEIGHT}\" rx=\"3\"/>\
                 <text x=\"{}\" y=\"{}\">{}</text>",
                left + CHARACTER,
                top + 16,
                escaped(text)
            );
            for (_, edge) in program.edges_from(vertex) {
                if edge.to.0 == vertex.0 + 1 {
                    let (start, end) = (top + BOX_HEIGHT, top + ROW);
                    self.arrow(out, &format!("M{middle} {start}L{middle} {end}"));
                    self.when(out, middle + 4, start + 12, edge_text(program, edge));
                }
            }
        }
        for jump in &self.jumps {
            let start = TITLE + jump.from * ROW + 16;
            let end = TITLE + jump.to * ROW + 8;
            let (side, lane) = match jump.goes_back() {
                true => (*left, left - (jump.lane + 1) * LANE),
                false => (left + box_width, left + box_width + (jump.lane + 1) * LANE),
            };
            self.arrow(
                out,
                &format!("M{side} {start}L{lane} {start}L{lane} {end}L{side} {end}"),
            );
            let text_x = if jump.goes_back() { lane } else { side + 2 };
            self.when(out, text_x, start + 11, jump.when);
        }
    }

    fn arrow(&self, out: &mut String, path: &str) {
        let _ = writeln!(out, "<path d=\"{path}\" marker-end=\"url(#tip)\"/>");
    }

    fn when(&self, out: &mut String, x: usize, y: usize, text: &str) {
        if !text.is_empty() {
            let _ = writeln!(
                out,
                "<text class=\"when\" x=\"{x}\" y=\"{y}\">{text}</text>"
            );
        }
    }
}

/// Gives every jump the first lane in which it meets no other one, and counts the lanes.
fn with_lanes(mut jumps: Vec<Jump>) -> (Vec<Jump>, usize) {
    let low = |jump: &Jump| jump.from.min(jump.to);
    let high = |jump: &Jump| jump.from.max(jump.to);
    jumps.sort_by_key(|jump| (low(jump), high(jump)));
    let mut ends: Vec<usize> = Vec::new();
    for jump in &mut jumps {
        let free = ends.iter().position(|&end| end < low(jump));
        jump.lane = match free {
            Some(lane) => lane,
            None if ends.len() < MOST_LANES => {
                ends.push(0);
                ends.len() - 1
            }
            None => MOST_LANES - 1,
        };
        ends[jump.lane] = ends[jump.lane].max(high(jump));
    }
    (jumps, ends.len())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
