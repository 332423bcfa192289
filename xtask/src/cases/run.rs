//! A run of a composite skill, played as a transcript: who works, and where the run stands after each step.

use serde::Deserialize;
use serde_json::{Value, json};
use xtask::failure::{Failure, Result};

use super::player::Player;

/// Where memory files lie.
const PLACES: &str = include_str!("../../cases/protocols.toml");
/// The task of the cases.
pub(super) const TASK: &str = "t1";
/// What a subagent is started with: the parts of the seed's template.
pub(super) const PROMPT: &str = "## Task context\n- Task ID: t1\n- The branches: a b\n\n## Role extension\nEach of them.\n\n\
                      ## Task instructions\nDo it as asked.\n\n## Related terms\nNone of weight.\n\n## Output\nThe memory file.\n";

/// A transcript under way.
pub(super) struct Run<'p> {
    player: &'p Player,
    lines: Vec<Value>,
    calls: usize,
}

/// Where a run stands.
pub(super) struct Stands {
    /// `EXECUTING`, `COMPLETED` or `HALTED`.
    pub(super) state: &'static str,
    /// The id of the phase, as the original has it.
    pub(super) phase: String,
    pub(super) skipped: Vec<String>,
}

impl<'p> Run<'p> {
    pub(super) fn begun(player: &'p Player, skill: &str) -> Self {
        let typed = format!("/phasegate start {skill} task_id={TASK} block");
        let mut run = Self { player, lines: Vec::new(), calls: 0 };
        run.lines.push(json!({"event": "session_start", "source": "startup"}));
        run.lines.push(json!({"event": "prompt", "text": typed, "interactive": true}));
        run
    }

    /// A run of nothing.
    pub(super) fn idle(player: &'p Player) -> Self {
        let lines = vec![json!({"event": "session_start", "source": "startup"})];
        Self { player, lines, calls: 0 }
    }

    /// A person skips a phase.
    pub(super) fn skip(&mut self, phase: &str) {
        let args = json!({"phase": phase});
        self.lines.push(json!({"event": "command", "by": "human", "name": "skip_phase", "args": args}));
    }

    /// A person halts the run.
    pub(super) fn halt(&mut self, why: &str) {
        let args = json!({"why": why});
        self.lines.push(json!({"event": "command", "by": "human", "name": "halt_run", "args": args}));
    }

    /// A subagent does its work, if it leaves a memory file; else it ends without one. `part` is what the file's name has
    /// before the agent, where the agent works in several phases.
    pub(super) fn work(&mut self, agent: &str, part: &str, output: Option<&str>) -> Result {
        let start = self.start(agent);
        let id = format!("{agent}-{start}");
        let own = json!({"id": id, "type": agent});
        if let Some(text) = output {
            let path = memory_file(&format!("{part}{agent}"))?;
            let call = self.id();
            let input = json!({"file_path": path, "content": text});
            self.lines.push(json!({"event": "tool_call", "id": call, "tool": "Write", "input": input, "agent": own}));
            self.lines.push(json!({"event": "file", "path": path, "content": text}));
            self.lines.push(json!({"event": "tool_result", "id": call, "ok": true, "agent": own}));
        }
        self.lines.push(json!({"event": "subagent_stop", "id": id, "type": agent, "can_hold": false}));
        self.lines.push(json!({"event": "tool_result", "id": start, "ok": true}));
        Ok(())
    }

    /// The main agent asks for a subagent that is not to be started here; gives the id of the call.
    pub(super) fn ask(&mut self, agent: &str) -> String {
        let call = self.id();
        let input = json!({"subagent_type": agent, "prompt": PROMPT});
        self.lines.push(json!({"event": "tool_call", "id": call, "tool": "Agent", "input": input}));
        call
    }

    /// The main agent starts a subagent; gives the id of the call.
    pub(super) fn start(&mut self, agent: &str) -> String {
        let call = self.ask(agent);
        let id = format!("{agent}-{call}");
        self.lines.push(json!({"event": "subagent_start", "id": id, "type": agent, "call": call}));
        call
    }

    fn id(&mut self) -> String {
        self.calls += 1;
        format!("c{}", self.calls)
    }

    /// What the guard says to a call, which is then taken back.
    pub(super) fn decision(&self, tool: &str, input: &Value, agent: Option<Value>) -> Result<Value> {
        let mut call = json!({"event": "tool_call", "id": "probe", "tool": tool, "input": input});
        if let (Some(fields), Some(agent)) = (call.as_object_mut(), agent) {
            fields.insert("agent".into(), agent);
        }
        let lines: Vec<Value> = self.lines.iter().cloned().chain([call]).collect();
        Ok(self.player.answers(&lines)?.pop().unwrap_or_default())
    }

    /// Where the run stands.
    pub(super) fn stands(&self) -> Result<Option<Stands>> {
        let answers = self.player.answers(&self.lines)?;
        let of = |run: &Value, key: &str| run.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let runs = answers.last().and_then(|last| last.get("runs")).and_then(Value::as_array).cloned();
        let root = runs.into_iter().flatten().find(|run| run.get("parent").is_none_or(Value::is_null));
        let Some(root) = root else { return Ok(None) };
        let state = match of(&root, "status").as_str() {
            "finished" => "COMPLETED",
            "active" if self.stands_still()? => "HALTED",
            "active" => "EXECUTING",
            _ => "HALTED",
        };
        let skipped = root.get("skipped").and_then(Value::as_array).into_iter().flatten();
        let skipped = skipped.map(|one| id_of(&of(one, "phase"))).collect();
        Ok(Some(Stands { state, phase: id_of(&of(&root, "phase")), skipped }))
    }

    fn stands_still(&self) -> Result<bool> {
        let answer = self.decision("Write", &json!({"file_path": "src/a.py", "content": "x"}), None)?;
        Ok(answer.get("code").and_then(Value::as_str) == Some("stopped"))
    }
}

/// The path of the memory file of an agent.
pub(super) fn memory_file(agent: &str) -> Result<String> {
    let places: Places = toml::from_str(PLACES).map_err(|error| Failure::new(format!("protocols.toml: {error}")))?;
    Ok(places.memory.replace("{task}", TASK).replace("{agent}", agent))
}

#[derive(Deserialize)]
struct Places {
    memory: String,
}

/// The id that a phase has in the original.
fn id_of(phase: &str) -> String {
    phase.trim_start_matches("phase-").replace('-', ".")
}
