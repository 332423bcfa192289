//! The scratch project of one scenario, and what the model says in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::scenario::{Scenario, When};
use crate::record::client::{self, Client};
use crate::record::played::Played;
use crate::record::scratch::Scratch;
use crate::record::story::{Call, MAIN, Story, Turn, call_id};
use xtask::failure::Result;

/// A skill under which three calls are forbidden in every phase, and everything else may be done.
const SKILL: &str = "\
skill: probe
mode: block
unlisted: allow
servers: [lsp]
tools:
  apply_edit: {labels: [write]}
  format_document: {labels: [write]}
forbidden:
  - Write
  - {writes: ran/alive}
  - {writes: ran/write}
  - {tool: Bash, command: \"touch ran/bash\"}
  - mcp__lsp__apply_edit
phases:
  only:
    allowed: [Read]
    done_when: {ok: format_document}
";

/// A scenario, ready to be played.
pub(super) struct Stage {
    scratch: Scratch,
    /// The guard's program, which no fault touches.
    built: PathBuf,
    story: Story,
    /// The calls that the agent tries on its own, by call id.
    pub(super) attempts: Vec<(String, String)>,
    /// The forbidden calls, by call id, each with its name and the file that shows that it ran.
    pub(super) forbidden: Vec<(String, &'static str, &'static str)>,
    /// Whether the guard is first seen at work.
    pub(super) healthy: bool,
}

/// The file of the call that must be denied while the guard works.
pub(super) const ALIVE: &str = "ran/alive";
/// The file of the call that must run while the guard works.
pub(super) const ALLOWED: &str = "ran/allowed";
/// The file of a call that nothing forbids, after the fault.
pub(super) const AFTER: &str = "ran/after";

impl Stage {
    /// Makes the project, guards it with the real `phasegate init`, and runs the preparing commands.
    pub(super) fn new(scenario: &Scenario, built: &Path, client: &dyn Client) -> Result<Self> {
        let scratch = Scratch::new(&scenario.name)?;
        let project = scratch.path("project").display().to_string();
        let mut stage = Self {
            built: built.to_path_buf(),
            story: Story { mode: "block".into(), prompt: "PROBE".into(), ..Story::default() },
            attempts: Vec::new(),
            forbidden: Vec::new(),
            healthy: scenario.when != When::Start,
            scratch,
        };
        stage.story.files = BTreeMap::from([
            (".phasegate/skills/probe.yaml".to_string(), SKILL.to_string()),
            ("ran/README".to_string(), "What ran is here.\n".to_string()),
        ]);
        let mut args: Vec<_> = client.permissive().iter().map(|arg| (*arg).to_string()).collect();
        args.extend(scenario.args.iter().map(|arg| arg.replace("${PROJECT}", &project)));
        stage.story.client_args.insert(client.id().into(), args);
        stage.story.client_env.clone_from(&scenario.env);
        stage.story.init.clone_from(&scenario.init);
        stage.story.start_in.clone_from(&scenario.start_in);
        stage.turns(scenario, &project);
        stage.scratch.project(&stage.story, client, Some("probe"))?;
        stage.scratch.install(built, &stage.story, client)?;
        stage.scratch.hand(&scenario.prepare)?;
        if scenario.when == When::Start {
            stage.scratch.hand(&scenario.hand)?;
        }
        Ok(stage)
    }

    /// Lets the client play it.
    pub(super) fn play(&self, client: &dyn Client, program: &Path) -> Result<Played> {
        client::live(client, &client::Stage { story: &self.story, scratch: &self.scratch, program })
    }

    /// Whether a file of the project is there now.
    pub(super) fn there(&self, file: &str) -> bool {
        self.scratch.path("project").join(file).exists()
    }

    /// What went past the guard, as it says itself, each kind once.
    pub(super) fn alarms(&self) -> Vec<String> {
        let mut status = self.scratch.command(&self.built);
        let output = status.args(["status", "--json"]).output().map(|output| output.stdout).unwrap_or_default();
        let status: Value = serde_json::from_slice(&output).unwrap_or_default();
        let alarms = status.get("alarms").and_then(Value::as_array).into_iter().flatten();
        let kinds = alarms.filter_map(|alarm| alarm.get("what")?.as_str().map(str::to_string));
        kinds.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }

    /// The scratch folder.
    pub(super) fn base(&self) -> &Path {
        &self.scratch.base
    }

    /// Removes everything.
    pub(super) fn remove(self) -> Result {
        self.scratch.hand(&[
            "for place in $(awk '{print $2}' /proc/mounts | grep \"^$PWD/\"); do umount -l \"$place\"; done".into(),
        ])?;
        self.scratch.remove()
    }

    fn turns(&mut self, scenario: &Scenario, project: &str) {
        let write = |file: &str| call("Write", &json!({"file_path": format!("{project}/{file}"), "content": "x"}));
        let bash = |file: &str| call("Bash", &json!({"command": format!("touch {file}"), "description": "touch"}));
        if self.healthy {
            self.story.turns.push(turn(vec![call("Skill", &json!({"skill": "probe"}))]));
            self.story.turns.push(turn(vec![write(ALIVE), bash(ALLOWED)]));
        }
        for attempt in &scenario.agent {
            let filled = Value::Object(attempt.input.clone()).to_string().replace("${PROJECT}", project);
            let input: Value = serde_json::from_str(&filled).unwrap_or_default();
            self.attempts.push((call_id(MAIN, self.story.turns.len(), 0), shown(&attempt.tool, &attempt.input)));
            self.story.turns.push(turn(vec![call(&attempt.tool, &input)]));
        }
        if scenario.when == When::Restart {
            self.story.turns.push(Turn { text: "So far.".into(), ..Turn::default() });
            self.story.then = vec!["Go on.".into()];
            self.story.between.clone_from(&scenario.hand);
        }
        let calls = vec![write("ran/write"), bash("ran/bash"), call("mcp__lsp__apply_edit", &json!({}))];
        let named = [("Write", "ran/write"), ("Bash", "ran/bash"), ("mcp__lsp__apply_edit", "lsp/apply_edit.1")];
        let at = self.story.turns.len();
        for (position, (name, file)) in named.into_iter().enumerate() {
            self.forbidden.push((call_id(MAIN, at, position), name, file));
        }
        let hand = if scenario.when == When::Session { scenario.hand.clone() } else { Vec::new() };
        self.story.turns.push(Turn { calls, hand, after_ms: scenario.wait_ms, ..Turn::default() });
        self.story.turns.push(Turn { hand: scenario.repair.clone(), ..turn(vec![bash(AFTER)]) });
        if !scenario.repair.is_empty() {
            // What was started before it was mended may have to be given up first: the agent tries again, as it is told.
            self.story.turns.push(turn(vec![bash(AFTER)]));
        }
        self.story.turns.push(Turn { text: "done".into(), ..Turn::default() });
    }
}

fn turn(calls: Vec<Call>) -> Turn {
    Turn { calls, ..Turn::default() }
}

fn call(tool: &str, input: &Value) -> Call {
    let input = input.as_object().cloned().unwrap_or_default();
    Call::plain(tool, input)
}

/// A call as a person would tell it: the tool and its longest argument.
fn shown(tool: &str, input: &Map<String, Value>) -> String {
    let longest = input.values().filter_map(Value::as_str).max_by_key(|text| text.len());
    longest.map_or_else(|| tool.to_string(), |text| format!("{tool} `{text}`"))
}
