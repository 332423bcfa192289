//! A graph in the language of Graphviz.

use std::fmt::Write as _;

use super::children::Group;
use super::model::{Graph, Node};
use super::words::State;

pub(super) fn drawn(graph: &Graph) -> String {
    let mut text = String::from("digraph phases {\n");
    let title = graph.run.as_ref().map_or_else(|| graph.name.clone(), |run| format!("{}, {run}", graph.name));
    let _ = writeln!(text, "  graph [rankdir=TB, label={}, labelloc=t, fontname=Helvetica]", quoted(&title));
    let _ = writeln!(text, "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=Helvetica]");
    let _ = writeln!(text, "  edge [fontname=Helvetica, fontsize=10]");
    for (at, node) in graph.phases.iter().enumerate() {
        phase(&mut text, at, node);
    }
    for way in &graph.ways {
        let look = if way.back { ", style=dashed, constraint=false" } else { "" };
        let _ = writeln!(text, "  p{} -> p{} [label={}{look}]", way.from, way.to, quoted(&way.label));
    }
    text.push_str("}\n");
    text
}

fn phase(text: &mut String, at: usize, node: &Node) {
    let own = format!("p{at} [label={}, {}]", label(&node.name, &node.notes), look(node.state, node.optional));
    let Some(group) = &node.group else {
        let _ = writeln!(text, "  {own}");
        return;
    };
    let _ = writeln!(text, "  subgraph cluster_p{at} {{");
    let gate = if group.gate.is_empty() { String::new() } else { format!("gate: {}", group.gate) };
    let label = quoted(&gate);
    let _ = writeln!(text, "    label={label}; labelloc=b; fontsize=10; style=rounded; color=\"#94a3b8\"");
    let _ = writeln!(text, "    {own}");
    parts(text, at, group);
    let _ = writeln!(text, "  }}");
}

fn parts(text: &mut String, at: usize, group: &Group) {
    for (row, one) in group.rows.iter().enumerate() {
        for (place, part) in one.parts.iter().enumerate() {
            let id = format!("p{at}r{row}c{place}");
            let label = label(&part.name, &part.notes);
            let _ = writeln!(text, "    {id} [label={label}, fontsize=11, {}]", look(part.state, false));
            match place.checked_sub(1).filter(|_| one.in_order) {
                Some(before) => {
                    let _ = writeln!(text, "    p{at}r{row}c{before} -> {id}");
                }
                None if row == 0 => {
                    let _ = writeln!(text, "    p{at} -> {id} [arrowhead=none, label={}]", quoted(&one.label));
                }
                None => {
                    let label = if group.gate.is_empty() { one.label.clone() } else { format!("{}: gate", one.label) };
                    let label = if place == 0 { label } else { String::new() };
                    let _ = writeln!(text, "    p{at}r{}c0 -> {id} [label={}]", row - 1, quoted(&label));
                }
            }
        }
    }
}

fn look(state: State, optional: bool) -> String {
    let (fill, line, width) = match state {
        State::Current => ("#dbeafe", "#1d4ed8", 3),
        State::Done => ("#dcfce7", "#15803d", 1),
        State::Skipped => ("#f4f4f5", "#a1a1aa", 1),
        State::Failed => ("#fee2e2", "#b91c1c", 1),
        State::Ahead => ("#ffffff", "#475569", 1),
    };
    let dashed = if optional || state == State::Skipped { ",dashed" } else { "" };
    format!("fillcolor=\"{fill}\", color=\"{line}\", penwidth={width}, style=\"rounded,filled{dashed}\"")
}

fn label(name: &str, notes: &[String]) -> String {
    let lines: Vec<&str> = std::iter::once(name).chain(notes.iter().map(String::as_str)).collect();
    let lines: Vec<String> = lines.iter().filter(|line| !line.is_empty()).map(|line| escaped(line)).collect();
    format!("\"{}\"", lines.join("\\n"))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
