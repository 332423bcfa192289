//! Cases of skill protocols: the original's tables of phases become skills, and each step of its machine is the work of a
//! subagent.

use serde_json::{Value, json};
use xtask::failure::Result;

use super::case::Case;
use super::machine;
use super::memory::{AGENTS, PASSED, agent_of, mended};
use super::outcome::Outcome;
use super::player::Player;
use super::run::{Run, TASK};
use super::steps;
use super::table::Table;

/// Operations for which the program has nothing.
const CONFIG: &str = "which skills ask for an assessment or for learnings, their phases say: there are no lists";
const UNKNOWN: &str = "no skill that ships has this agent: who writes one says what its file must have";
/// Why a file that the original takes does not count.
const EVIDENCE: &str = "the seed asks for more than the original looks at: the file's own name, the agent's title, the \
                        task, four headings word by word with text below each";
const INACTIVE: &str = "outside of a run a shipped skill denies nothing: a project that wants it writes it";
const READS: &str = "in a run the main agent may do what changes nothing, whatever the tool is called";
const SUBAGENT: &str = "a subagent has the lines of its phase, and does not simply pass";

pub(super) fn play(case: &Case) -> Result<Outcome> {
    let first = case.calls.first().map(|call| call.tool.as_str()).unwrap_or_default();
    match first {
        _ if first.starts_with("fsm.") => machine::play(case),
        _ if first.starts_with("evidence.verify") => evidence(case),
        "skill.entry" => entry(case),
        _ if case.setup.get("orchestration_active").is_some() => hook(case),
        _ if case.calls.iter().any(|call| call.tool.starts_with("skill.")) => steps::play(case),
        _ => Ok(Outcome::not_supported(CONFIG)),
    }
}

/// A memory file alone, as its agent writes it: whether it completes the phase.
fn evidence(case: &Case) -> Result<Outcome> {
    let content = case.setup.get("content").and_then(Value::as_str);
    let asked = case.calls.first().and_then(|call| call.text("agent"));
    let agent = asked.or_else(|| agent_of(content?)).unwrap_or("clarification");
    if !AGENTS.contains(&agent) {
        return Ok(Outcome::not_supported(UNKNOWN));
    }
    let task = case.setup.get("task_id").and_then(Value::as_str).unwrap_or(TASK);
    let files = case.setup.get("memory_files").and_then(Value::as_object);
    let named = files.and_then(|files| files.get(&format!("{task}-{agent}-memory.md"))).and_then(Value::as_str);
    let text = content.or(named).map(|text| mended(&of_task(text), agent, 1, PASSED));
    let skill = format!("orchestrate-{agent}");
    let player = Player::new(&skill, "strict")?;
    let mut run = Run::begun(&player, &skill);
    run.work(agent, "", text.as_deref())?;
    let got = run.stands()?.is_some_and(|stands| stands.state == "COMPLETED");
    let wanted = ["passed", "valid"].iter().find_map(|key| case.expect.get(key)?.as_bool()).unwrap_or(false);
    let outcome = Outcome::of(&wanted, &got);
    Ok(if wanted { outcome.because(EVIDENCE) } else { outcome })
}

/// The text with the task of the cases in place of the one that it names.
fn of_task(text: &str) -> String {
    const LINE: &str = "Task ID: ";
    let Some((before, rest)) = text.split_once(LINE) else { return text.to_owned() };
    let end = rest.find(|letter: char| letter == ',' || letter.is_whitespace()).unwrap_or(rest.len());
    format!("{before}{LINE}{TASK}{}", rest.get(end..).unwrap_or_default())
}

/// What cannot begin ends with the status 1.
fn entry(case: &Case) -> Result<Outcome> {
    let begun = match Table::of(case)? {
        None => Run::begun(&Player::with_settings("mode: block\n")?, "unknown").stands()?.is_some(),
        Some(table) => match table.player()? {
            Ok(player) => Run::begun(&player, &table.name).stands()?.is_some(),
            Err(_) => false,
        },
    };
    let wanted = case.expect.get("exit_code").and_then(Value::as_i64) == Some(0);
    Ok(Outcome::of(&wanted, &begun))
}

/// Who may call what: the main agent, and a subagent that makes things, in a run or outside of one.
fn hook(case: &Case) -> Result<Outcome> {
    let truth = |key: &str| case.setup.get(key).and_then(Value::as_bool).unwrap_or(false);
    let (active, subagent) = (truth("orchestration_active"), truth("subagent"));
    let Some(call) = case.calls.first() else { return Ok(Outcome::not_supported(CONFIG)) };
    let player = Player::new("orchestrate-generation", "strict")?;
    let mut run = if active { Run::begun(&player, "orchestrate-generation") } else { Run::idle(&player) };
    // Outside of a run it is one that no skill starts, and so is one that a subagent starts.
    let kind = if active { "generation" } else { "Explore" };
    let agent = subagent.then(|| {
        let start = run.start(kind);
        json!({"id": format!("{kind}-{start}"), "type": kind})
    });
    let input = match call.tool.as_str() {
        "Bash" => json!({"command": "make"}),
        "Grep" | "Glob" => json!({"pattern": "x"}),
        "Read" | "Edit" | "Write" => json!({"file_path": "src/a.py", "content": "x"}),
        "NotebookEdit" => json!({"notebook_path": "a.ipynb", "new_source": "x"}),
        "WebSearch" => json!({"query": "x"}),
        "WebFetch" => json!({"url": "https://example.com", "prompt": "x"}),
        "Task" => json!({"subagent_type": if subagent { "Explore" } else { kind }, "prompt": super::run::PROMPT}),
        _ => json!({}),
    };
    let tool = if call.tool == "Task" { "Agent" } else { &call.tool };
    let answer = run.decision(tool, &input, agent)?;
    let got = if answer.get("decision").and_then(Value::as_str) == Some("deny") { "block" } else { "allow" };
    let outcome = Outcome::of(&case.expect.get("intended").and_then(Value::as_str).unwrap_or_default(), &got);
    Ok(match (active, subagent, got) {
        (false, _, "allow") => outcome.because(INACTIVE),
        (true, false, "allow") => outcome.because(READS),
        (true, true, "block") => outcome.because(SUBAGENT),
        _ => outcome,
    })
}
