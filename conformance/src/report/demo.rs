//! Showing a recorded session to a person: what was allowed, warned and blocked, and why.

use std::fmt::Write as _;

use owo_colors::OwoColorize;
use serde_json::Value;

use crate::play::entry;
use crate::play::player::Stage;
use crate::play::session::{About, BASE, Session};

/// How many calls were answered how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Calls that ran.
    pub allowed: usize,
    /// Calls that ran with a warning, or that a person was asked about.
    pub warned: usize,
    /// Calls that did not run.
    pub blocked: usize,
}

/// Plays a session and reports every frame.
///
/// # Errors
///
/// The session cannot be played.
pub fn show(session: &Session, say: &mut dyn FnMut(&str)) -> Result<Sum, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut stage = Stage::new(session, folder.path())?;
    let About { title, client_version, recorded, .. } = &session.about;
    let from = format!("{}, recorded from version {client_version} on {recorded}", session.id());
    say(&format!("\n{}\n{}\n", title.bold(), from.dimmed()));
    let mut sum = Sum::default();
    for frame in &session.frames {
        let played = stage.play(frame)?;
        for record in &played.records {
            say(&told(record));
            sum.add(record);
        }
    }
    let Sum { allowed, warned, blocked } = sum;
    say(&format!("{} frames: {allowed} allowed, {warned} warned, {blocked} blocked\n", session.frames.len()));
    Ok(sum)
}

impl Sum {
    fn add(&mut self, record: &Value) {
        match record.get("decision").map(|decision| effect(decision, record)) {
            Some("allow") => self.allowed += 1,
            Some("warn" | "ask") => self.warned += 1,
            Some(_) => self.blocked += 1,
            None => {}
        }
    }
}

/// The word of a decision's effect, which a journal may leave out.
fn effect<'r>(decision: &'r Value, record: &Value) -> &'r str {
    let stops = entry::is_denied(record) || entry::is_kept(record);
    decision.get("effect").and_then(Value::as_str).unwrap_or(if stops { "deny" } else { "allow" })
}

fn told(record: &Value) -> String {
    let mut text = record.get("decision").map(|decision| decided(decision, record)).unwrap_or_default();
    let event = |key: &str| record.get("event").and_then(|event| event.get(key)).and_then(Value::as_str);
    match event("event") {
        Some("prompt") => {
            let _ = writeln!(text, "{}  {}", " prompt".dimmed(), event("text").unwrap_or_default());
        }
        Some(name @ ("session_start" | "session_end" | "subagent_start" | "subagent_stop")) => {
            let kind = event("type").or_else(|| event("source")).unwrap_or_default();
            let _ = writeln!(text, "{}  {} {}", "       ".dimmed(), name.replace('_', " ").dimmed(), kind.dimmed());
        }
        _ => {}
    }
    for change in entry::changes(record) {
        if let Some(line) = changed(change) {
            let _ = writeln!(text, "         {}", line.cyan());
        }
    }
    text
}

fn decided(decision: &Value, record: &Value) -> String {
    let of = |key: &str| decision.get(key).and_then(Value::as_str).unwrap_or_default();
    let word = match effect(decision, record) {
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

/// The tool and its most telling argument.
fn what(tool: &str, record: &Value) -> String {
    let input = record.pointer("/event/input");
    let telling = ["file_path", "command", "path", "skill", "description"];
    let argument = telling.iter().find_map(|key| input?.get(key)?.as_str());
    let name = record.pointer("/event/name").and_then(Value::as_str).unwrap_or(tool);
    let name = if tool.is_empty() { name } else { tool };
    let inside = format!("{BASE}/project/");
    argument.map_or_else(|| name.to_string(), |argument| format!("{name}  {}", argument.replace(&inside, "")))
}

fn changed(change: &Value) -> Option<String> {
    let (name, what) = change.as_object()?.iter().next()?;
    let of = |key: &str| what.get(key).and_then(Value::as_str).unwrap_or_default();
    Some(match name.as_str() {
        "run_begun" => format!("skill {} begins in phase {}, mode {}", of("skill"), of("phase"), of("mode")),
        "run_ended" => format!("the skill's run {} ends: {}", of("run"), of("status")),
        "run_unfinished" => format!("the skill's run {} is left unfinished", of("run")),
        "phase_entered" => format!("phase {} begins, by {}", of("phase"), of("by")),
        "phase_back" => format!("back to phase {}", of("phase")),
        "stop_held" => "the agent is kept from ending its turn".to_string(),
        "approval_given" => format!("approved: {}", what.pointer("/approval/gate").map(plain).unwrap_or_default()),
        _ => return None,
    })
}

/// The name of what was approved, with or without what it was of.
fn plain(gate: &Value) -> String {
    gate.as_str().or_else(|| gate.get("name")?.as_str()).unwrap_or_default().to_string()
}
