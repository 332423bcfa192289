//! Showing a recorded session to a person: what was allowed, warned and blocked, and why.

use std::fmt::Write as _;

use owo_colors::OwoColorize;
use serde_json::Value;

use crate::player::{Played, Stage};
use crate::session::{About, Session};

/// Plays a session and tells it, frame by frame.
///
/// # Errors
///
/// The session cannot be played.
pub fn show(session: &Session, say: &mut dyn FnMut(&str)) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut stage = Stage::new(session, folder.path())?;
    let About { title, client_version, recorded, .. } = &session.about;
    let from = format!("{}, recorded from version {client_version} on {recorded}", session.id());
    say(&format!("\n{}\n{}\n", title.bold(), from.dimmed()));
    for frame in &session.frames {
        say(&told(&stage.play(frame.frame.get())?));
    }
    Ok(())
}

fn told(played: &Played) -> String {
    let mut text = String::new();
    let mut quiet = true;
    for record in &played.records {
        if let Some(decision) = record.get("decision") {
            quiet = false;
            text.push_str(&decided(decision, record));
        }
        for change in record.get("records").and_then(Value::as_array).into_iter().flatten() {
            if let Some(line) = changed(change) {
                quiet = false;
                let _ = writeln!(text, "         {}", line.cyan());
            }
        }
    }
    if quiet {
        let _ = writeln!(text, "{}  {}", "      .".dimmed(), played.event.dimmed());
    }
    text
}

fn decided(decision: &Value, record: &Value) -> String {
    let of = |key: &str| decision.get(key).and_then(Value::as_str).unwrap_or_default();
    let word = match of("effect") {
        "allow" => "allowed".green().to_string(),
        "warn" => " warned".yellow().to_string(),
        "ask" => "  asked".yellow().to_string(),
        _ => "BLOCKED".red().bold().to_string(),
    };
    let phase = if of("phase").is_empty() { String::new() } else { format!("  in {}", of("phase")) };
    let by = record.pointer("/event/agent/type").and_then(Value::as_str);
    let by = by.map(|agent| format!("  by subagent {agent}")).unwrap_or_default();
    let mut text = format!("{word}  {}{}{}\n", what(of("tool"), record).bold(), phase.dimmed(), by.dimmed());
    if !of("reason").is_empty() {
        let _ = writeln!(text, "         why: {} [{}]", of("reason"), of("code"));
    }
    if !of("recovery").is_empty() {
        let _ = writeln!(text, "         way out: {}", of("recovery"));
    }
    text
}

/// The tool and the argument that tells most.
fn what(tool: &str, record: &Value) -> String {
    let input = record.pointer("/event/input");
    let telling = ["file_path", "command", "path", "skill", "description"];
    let argument = telling.iter().find_map(|key| input?.get(key)?.as_str());
    let name = record.pointer("/event/name").and_then(Value::as_str).unwrap_or(tool);
    let name = if tool.is_empty() { name } else { tool };
    argument.map_or_else(|| name.to_string(), |argument| format!("{name}  {argument}"))
}

fn changed(change: &Value) -> Option<String> {
    let of = |key: &str| change.get(key).and_then(Value::as_str).unwrap_or_default();
    Some(match of("record") {
        "activate_skill" => format!("skill {} begins in phase {}, mode {}", of("skill"), of("phase"), of("mode")),
        "deactivate_skill" => format!("skill {} ends in phase {}: {}", of("skill"), of("phase"), of("status")),
        "phase_advance" => format!("phase {} -> {}, by {}", of("from"), of("phase"), of("triggered_by")),
        "evidence_seen" => format!("seen: {} ended {} in phase {}", of("tool"), of("outcome"), of("phase")),
        "approved" => format!("approved: {}", of("name")),
        _ => return None,
    })
}
