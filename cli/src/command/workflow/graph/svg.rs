//! A graph as a picture.

use std::fmt::Write as _;

use super::children::{Group, Part};
use super::layout::{ARROW, Area, LINE, NAME, PAD, PlacedNode, PlacedPart, PlacedWay, laid_out, width_of};
use super::model::{Graph, Node, Way};
use super::words::State;

/// The look of everything.
const STYLE: &str = "\
text { font-family: 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1e293b; font-size: 11px }
.title { font-size: 20px; font-weight: 700 } .about { font-size: 12px; fill: #475569 }
.name { font-size: 14px; font-weight: 600 } .note { fill: #475569 } .label { font-weight: 600; fill: #475569 }
.way { fill: none; stroke: #475569; stroke-width: 1.5 } .back { stroke: #b45309; stroke-dasharray: 5 4 }
.end { text-anchor: end } .said { fill: #334155 } .said-back { fill: #92400e }
rect { fill: #ffffff; stroke: #64748b; stroke-width: 1.3 } .page { fill: #ffffff; stroke: none }
.optional { stroke-dasharray: 6 4 } .part { stroke: #94a3b8; stroke-width: 1 }
.done { fill: #ecfdf3; stroke: #15803d } .current { fill: #dbeafe; stroke: #1d4ed8; stroke-width: 2.6 }
.skipped { fill: #f4f4f5; stroke: #a1a1aa; stroke-dasharray: 3 3 } .failed { fill: #fee2e2; stroke: #b91c1c }
.tag { stroke: none } .tag-text { fill: #ffffff; font-weight: 600; font-size: 10px }
.tag-current { fill: #1d4ed8 } .tag-done { fill: #15803d } .tag-skipped { fill: #71717a } .tag-failed { fill: #b91c1c }
";

pub(super) fn drawn(graph: &Graph) -> String {
    let picture = laid_out(graph);
    let (width, height) = (picture.width, picture.height);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">"
    );
    let _ = writeln!(text, "<title>{}</title>\n<style>\n{STYLE}</style>", escaped(&graph.name));
    for (id, colour) in [("forward", "#475569"), ("backward", "#b45309")] {
        let _ = writeln!(
            text,
            "<marker id=\"{id}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path d=\"M0 0 10 5 0 10z\" fill=\"{colour}\"/></marker>"
        );
    }
    let _ = writeln!(text, "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
    line(&mut text, &Line { x: 28, y: 40, class: "title", text: &graph.name });
    for (y, words) in (60..).step_by(15).zip(&picture.heading) {
        line(&mut text, &Line { x: 28, y, class: "about", text: words });
    }
    for (way, placed) in graph.ways.iter().zip(&picture.ways) {
        one_way(&mut text, way, placed);
    }
    for (node, placed) in graph.phases.iter().zip(&picture.nodes) {
        phase(&mut text, node, placed);
    }
    text.push_str("</svg>\n");
    text
}

/// A line of text.
struct Line<'a> {
    x: i32,
    y: i32,
    class: &'a str,
    text: &'a str,
}

fn line(out: &mut String, line: &Line<'_>) {
    let Line { x, y, class, text } = line;
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escaped(text));
}

fn rect(out: &mut String, area: &Area, class: &str, round: i32) {
    let Area { x, y, w, h } = area;
    let class = class.trim();
    let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{round}\" class=\"{class}\"/>");
}

fn phase(out: &mut String, node: &Node, placed: &PlacedNode) {
    let area = &placed.area;
    let optional = if node.optional && node.state == State::Ahead { "optional" } else { "" };
    rect(out, area, &format!("{optional} {}", node.state.style()), 9);
    tag(out, area, node.state);
    let mut y = area.y + PAD + NAME - 2;
    line(out, &Line { x: area.x + PAD, y, class: "name", text: &node.name });
    for note in &placed.notes {
        y += LINE;
        line(out, &Line { x: area.x + PAD, y, class: "note", text: note });
    }
    if let Some(group) = &node.group {
        parts(out, group, placed);
    }
}

/// The word for what became of a phase, in its corner.
fn tag(out: &mut String, area: &Area, state: State) {
    let word = match state {
        State::Current => "now",
        State::Ahead => return,
        other => other.style(),
    };
    let w = width_of(word, 10) + 14;
    let place = Area { x: area.right() - w - 8, y: area.y + 8, w, h: 16 };
    rect(out, &place, &format!("tag tag-{}", state.style()), 8);
    line(out, &Line { x: place.x + 7, y: place.y + 12, class: "tag-text", text: word });
}

fn parts(out: &mut String, group: &Group, placed: &PlacedNode) {
    for (row, at) in group.rows.iter().zip(&placed.rows) {
        if let Some(y) = at.label {
            line(out, &Line { x: placed.area.x + PAD, y, class: "label", text: &row.label });
        }
        for (part, place) in row.parts.iter().zip(&at.parts) {
            one_part(out, part, place);
        }
        for pair in at.parts.windows(2).filter(|_| row.in_order) {
            if let [one, next] = pair
                && one.area.y == next.area.y
            {
                let (from, y) = (one.area.right() + 3, one.area.y + one.area.h.min(next.area.h) / 2);
                let to = from + ARROW - 7;
                let _ = writeln!(out, "<path class=\"way\" d=\"M{from} {y}H{to}\" marker-end=\"url(#forward)\"/>");
            }
        }
    }
    for (y, words) in (placed.gate_at..).step_by(15).zip(&placed.gate) {
        line(out, &Line { x: placed.area.x + PAD, y, class: "label", text: words });
    }
}

fn one_part(out: &mut String, part: &Part, placed: &PlacedPart) {
    rect(out, &placed.area, &format!("part {}", part.state.style()), 6);
    let mut y = placed.area.y + PAD + NAME - 4;
    line(out, &Line { x: placed.area.x + PAD, y, class: "name", text: &part.name });
    for note in &placed.notes {
        y += LINE;
        line(out, &Line { x: placed.area.x + PAD, y, class: "note", text: note });
    }
}

fn one_way(out: &mut String, way: &Way, placed: &PlacedWay) {
    let (class, said, marker) =
        if way.back { ("way back", "said-back", "backward") } else { ("way", "said", "forward") };
    match placed {
        PlacedWay::Down { x, from, to, label } => {
            let end = to - 2;
            let _ = writeln!(out, "<path class=\"{class}\" d=\"M{x} {from}V{end}\" marker-end=\"url(#{marker})\"/>");
            for (y, words) in (from + 18..).step_by(15).zip(label) {
                line(out, &Line { x: x + 8, y, class: said, text: words });
            }
        }
        PlacedWay::Past { from, lane, to } => {
            let outward = if *lane < from.x { -1 } else { 1 };
            let turn = if to.y > from.y { 6 } else { -6 };
            let (out_x, in_y, end_y) = (lane - 6 * outward, from.y + turn, to.y - turn);
            let end = to.x + 2 * outward;
            let _ = writeln!(
                out,
                "<path class=\"{class}\" d=\"M{} {}H{out_x}Q{lane} {} {lane} {in_y}V{end_y}Q{lane} {} {out_x} {}H{end}\" \
                 marker-end=\"url(#{marker})\"/>",
                from.x, from.y, from.y, to.y, to.y
            );
            let end = if outward < 0 { " end" } else { "" };
            let class = format!("{said}{end}");
            line(out, &Line { x: from.x + 8 * outward, y: from.y - 4, class: &class, text: &way.label });
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
