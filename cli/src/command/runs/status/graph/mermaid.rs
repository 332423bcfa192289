//! A graph as a flowchart of Mermaid.

use std::fmt::Write as _;

use super::children::Part;
use super::model::{Graph, Node};
use super::words::State;

/// The look of each state, readable on a light and on a dark page.
const STYLES: [(State, &str); 4] = [
    (State::Current, "fill:#dbeafe,stroke:#1d4ed8,stroke-width:3px,color:#172554"),
    (State::Done, "fill:#dcfce7,stroke:#15803d,color:#052e16"),
    (State::Skipped, "fill:#f4f4f5,stroke:#a1a1aa,stroke-dasharray:4 3,color:#52525b"),
    (State::Failed, "fill:#fee2e2,stroke:#b91c1c,color:#450a0a"),
];

pub(super) fn drawn(graph: &Graph) -> String {
    let mut text = String::from("flowchart TD\n");
    for (at, node) in graph.phases.iter().enumerate() {
        phase(&mut text, at, node);
    }
    for way in &graph.ways {
        let arrow = match (way.back, way.label.is_empty()) {
            (false, true) => "-->".to_string(),
            (false, false) => format!("-->|\"{}\"|", escaped(&way.label)),
            (true, true) => "-.->".to_string(),
            (true, false) => format!("-.->|\"{}\"|", escaped(&way.label)),
        };
        let _ = writeln!(text, "  p{} {arrow} p{}", way.from, way.to);
    }
    for (state, look) in STYLES {
        let marked = marked(graph, state);
        if !marked.is_empty() {
            let _ = writeln!(text, "  classDef {} {look}", state.style());
            let _ = writeln!(text, "  class {} {}", marked.join(","), state.style());
        }
    }
    text
}

fn phase(text: &mut String, at: usize, node: &Node) {
    let label = label(&node.name, &node.notes);
    let Some(group) = &node.group else {
        let box_of = if node.optional { format!("([\"{label}\"])") } else { format!("[\"{label}\"]") };
        let _ = writeln!(text, "  p{at}{box_of}");
        return;
    };
    let _ = writeln!(text, "  subgraph p{at}[\"{label}\"]");
    let _ = writeln!(text, "    direction LR");
    for (row, one) in group.rows.iter().enumerate() {
        let margin = if one.label.is_empty() { "    " } else { "      " };
        if !one.label.is_empty() {
            let _ = writeln!(text, "    subgraph p{at}r{row}[\"{}\"]", escaped(&one.label));
        }
        for (place, part) in one.parts.iter().enumerate() {
            let _ = writeln!(text, "{margin}{}[\"{}\"]", id(at, row, place), of_part(part));
            if one.in_order && place > 0 {
                let _ = writeln!(text, "{margin}{} --> {}", id(at, row, place - 1), id(at, row, place));
            }
        }
        if !one.label.is_empty() {
            let _ = writeln!(text, "    end");
        }
        if row > 0 {
            let gate =
                if group.gate.is_empty() { String::new() } else { format!("|\"gate: {}\"|", escaped(&group.gate)) };
            let _ = writeln!(text, "    p{at}r{} -->{gate} p{at}r{row}", row - 1);
        }
    }
    if group.rows.len() == 1 && !group.gate.is_empty() {
        let _ = writeln!(text, "    p{at}gate{{{{\"gate: {}\"}}}}", escaped(&group.gate));
    }
    let _ = writeln!(text, "  end");
}

fn id(phase: usize, row: usize, place: usize) -> String {
    format!("p{phase}r{row}c{place}")
}

fn of_part(part: &Part) -> String {
    label(&part.name, &part.notes)
}

fn label(name: &str, notes: &[String]) -> String {
    let notes =
        notes.iter().filter(|note| !note.is_empty()).map(|note| format!("<br/><small>{}</small>", escaped(note)));
    format!("{}{}", escaped(name), notes.collect::<String>())
}

/// The ids of what is in a state.
fn marked(graph: &Graph, state: State) -> Vec<String> {
    let mut marked = Vec::new();
    for (at, node) in graph.phases.iter().enumerate() {
        if node.state == state {
            marked.push(format!("p{at}"));
        }
        for (row, one) in node.group.iter().flat_map(|group| &group.rows).enumerate() {
            let parts = one.parts.iter().enumerate().filter(|(_, part)| part.state == state);
            marked.extend(parts.map(|(place, _)| id(at, row, place)));
        }
    }
    marked
}

fn escaped(text: &str) -> String {
    text.replace('&', "#amp;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;").replace('`', "#96;")
}
