//! A composite run of nine phases whose hook processes are killed at every step: it goes on where it stood, with the same
//! directive; no phase is lost, and none is done twice.

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

const SESSION: &str = "s";
/// Each phase with its agent, in order.
const PHASES: [(&str, &str); 9] = [
    ("clarify", "clarification"),
    ("provide", "generation"),
    ("check-parts", "validation"),
    ("analyse", "analysis"),
    ("research", "research"),
    ("design", "synthesis"),
    ("generate", "generation"),
    ("validate", "validation"),
    ("register", "generation"),
];
/// The steps of a phase: each is one message of the client.
const STEPS: usize = 7;

/// What a subagent is started with: the parts of the template.
const PROMPT: &str = "## Task context\n- Task ID: t-1\n\n## Role extension\n- what greets, and whom\n\n## Task instructions\nDo it as asked.\n\n\
                      ## Related terms\ngreeting, name, hello\n\n## Output\nThe memory file.\n";
/// What the skill makes.
const PRODUCT: &str = "drafts/skills/greet.yaml";

/// One try at a phase, in which everything has a name of its own.
struct Try {
    number: usize,
    phase: &'static str,
    agent: &'static str,
}

impl Try {
    /// The memory file: where the agent works in several phases, the name has the phase.
    fn file(&self) -> String {
        let agent = self.agent;
        let places = PHASES.iter().filter(|(_, other)| *other == agent).count();
        let part = if places > 1 { format!("{}-", self.phase) } else { String::new() };
        format!(".claude/memory/t-1-{part}{agent}-memory.md")
    }

    /// A memory file as the format of the shipped skills has it.
    fn memory(&self) -> String {
        let (agent, number) = (self.agent, self.number);
        let title = format!("{}{}", agent[..1].to_uppercase(), &agent[1..]);
        let matter = if agent == "validation" { "---\nverdict: passed\n---\n" } else { "" };
        format!(
            "{matter}# {title} Agent Output: a skill that greets\n\n## Section 0: Context Loaded\n\nTask ID: t-1\nThe user asked for \
             it.\n\n## Section 1: Step Overview\n\nIt was done in try {number}.\n\n## Section 2: Johari Summary\n\n\
             Known: all that it needs.\n\n## Section 3: Downstream Directives\n\nGo on with it now.\n\n---\n**{}_COMPLETE**\n",
            agent.to_uppercase()
        )
    }

    /// The message of a step; what the call does happens before the message that tells of its end.
    fn message(&self, world: &World, step: usize) -> Value {
        let number = self.number;
        let (start, write, own) = (format!("start{number}"), format!("write{number}"), format!("agent{number}"));
        let begun = json!({"description": "d", "prompt": PROMPT, "subagent_type": self.agent});
        let path = world.root().join(self.file());
        let written = json!({"file_path": path, "content": self.memory()});
        let of = |event: &str, fields: Value| {
            let mut frame = json!({"session_id": SESSION, "transcript_path": "/t.jsonl", "cwd": world.root(),
                "permission_mode": "default", "hook_event_name": event});
            frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            frame
        };
        let by = |mut fields: Value| {
            fields["agent_id"] = json!(own);
            fields["agent_type"] = json!(self.agent);
            fields
        };
        match step {
            0 => of("PreToolUse", json!({"tool_name": "Agent", "tool_input": begun, "tool_use_id": start})),
            1 => of("SubagentStart", by(json!({}))),
            2 => of("PreToolUse", by(json!({"tool_name": "Write", "tool_input": written, "tool_use_id": write}))),
            3 => {
                world.write(&self.file(), &self.memory());
                if self.phase == "generate" {
                    world.write(PRODUCT, &format!("skill: greet-{number}\n"));
                }
                let fields = json!({"tool_name": "Write", "tool_input": written, "tool_use_id": write,
                    "tool_response": {"type": "create"}});
                of("PostToolUse", by(fields))
            }
            4 => of("SubagentStop", by(json!({"stop_hook_active": false}))),
            5 => {
                let fields = json!({"tool_name": "Agent", "tool_input": begun, "tool_use_id": start,
                    "tool_response": {"status": "completed"}});
                of("PostToolUse", fields)
            }
            _ => {
                of("PreToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": write}))
            }
        }
    }
}

/// Sends a message to a hook process and kills it after this time, whatever it has done by then.
fn killed(world: &World, message: &Value, after: Duration) {
    let (mut own, theirs) = UnixStream::pair().unwrap();
    let mut hook = Command::new(world.phasegate(&[]).get_program());
    hook.args(["hook", "claude-code"]).current_dir(world.root()).env_clear().envs(world.variables());
    hook.env("CLAUDE_CODE_SESSION_ID", SESSION).stdin(OwnedFd::from(theirs));
    let mut child = hook.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    drop(hook);
    let _ = own.write_all(message.to_string().as_bytes());
    drop(own);
    std::thread::sleep(after);
    let _ = child.kill();
    child.wait().unwrap();
}

/// The phases that are completed, in order, and what the agent is told to do next.
fn standing(world: &World) -> (Vec<String>, String) {
    let status: Value = serde_json::from_str(&world.run(&["status", "history", "--json"], 0)).unwrap();
    let run = status.as_array().map_or(&status, |all| &all[0]);
    let names = |key: &str| {
        let all = run["fsm"][key].as_array().unwrap().iter();
        all.map(|phase| phase.as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let done = names("completed_phases");
    // Each phase was entered once.
    let entered: Vec<_> = names("history").into_iter().filter(|one| one.starts_with("PHASE_")).collect();
    assert_eq!(entered.len(), (done.len() + 1).min(PHASES.len()), "{entered:?}");
    (done, world.phasegate(&["status", "next"]).output().map(|said| String::from_utf8(said.stdout).unwrap()).unwrap())
}

/// A run that has just begun.
fn begun() -> World {
    begun_in(World::unguarded().with_client())
}

fn begun_in(world: World) -> World {
    world.write(".phasegate/config.yaml", "mode: block\nuse: [develop-skill]\n");
    world.start(SESSION);
    let skill = json!({"skill": "develop-skill", "args": "task_id=t-1"});
    assert!(!matches!(reply(&world.call(SESSION, "skill", "Skill", skill)), Reply::Denied(_)));
    world
}

/// Goes through steps of a try; none may be denied.
fn go(world: &World, one: &Try, steps: std::ops::Range<usize>) {
    for step in steps {
        let said = reply(&world.hook(one.message(world, step).to_string()));
        assert!(!matches!(said, Reply::Denied(_)), "{} step {step}: {said:?}", one.agent);
    }
}

/// The state of the run with every time as `TIME` and the version of the skill as `VERSION`.
fn state(world: &World) -> Value {
    fn plain(value: &mut Value) {
        match value {
            Value::String(text) if text.starts_with("20") && text.ends_with('Z') => *text = "TIME".to_owned(),
            Value::Object(fields) => fields.iter_mut().for_each(|(_, field)| plain(field)),
            _ => {}
        }
    }
    let mut state: Value = serde_json::from_str(&world.run(&["status", "history", "--json"], 0)).unwrap();
    plain(&mut state);
    assert_eq!(state["metadata"]["version"].as_str().map(str::len), Some(64));
    state["metadata"]["version"] = json!("VERSION");
    state
}

/// Goes through the phases of these numbers, each in one try.
fn go_through(world: &World, phases: std::ops::Range<usize>) {
    for number in phases {
        let (phase, agent) = PHASES[number];
        go(world, &Try { number, phase, agent }, 0..6);
    }
}

/// The file of the phase of this number.
fn file(number: usize) -> String {
    let (phase, agent) = PHASES[number];
    Try { number, phase, agent }.file()
}

#[test]
fn the_state_of_a_run_has_every_field_and_its_end_a_summary() {
    let world = begun_in(World::unguarded());
    let told = |at: usize, status: &str| json!({"skill": format!("orchestrate-{}", PHASES[at].1), "status": status, "files": if status == "completed" { json!([file(at)]) } else { json!([]) }});
    go_through(&world, 0..2);
    world.run(&["skip", "develop-skill"], 0);
    world.run(&["halt", "develop-skill", "--why", "wait"], 0);
    let found = state(&world);
    let info = found["fsm"]["phase_info"].clone();
    assert_eq!(info["clarify"]["status"], "completed");
    assert_eq!(info["check-parts"]["status"], "skipped");
    assert_eq!(info["analyse"]["status"], "in_progress");
    assert_eq!(
        info["register"],
        json!({"status": "pending", "description": "name the skill where people and agents look for skills"})
    );
    let why = "skill \"develop-skill\" was halted by the user: wait";
    let stamp =
        |left: bool| json!({"started_at": "TIME", "completed_at": if left { json!("TIME") } else { Value::Null }});
    let wanted = json!({
        "schema_version": "1.0", "skill_name": "develop-skill", "task_id": "t-1",
        "session_id": "s", "execution_session_id": "s", "created_at": "TIME", "updated_at": "TIME",
        "status": "halted", "halt_reason": why,
        "fsm": {
            "skill_name": "develop-skill", "state": "HALTED", "current_phase_id": "analyse",
            "history": ["INITIALIZED", "PHASE_clarify", "PHASE_provide", "PHASE_check_parts", "SKIPPED_check_parts",
                "PHASE_analyse", format!("HALTED: {why}")],
            "phase_info": info, "completed_phases": ["clarify", "provide"], "iteration_counters": {},
            "skipped_phases": ["check-parts"], "parallel_branches": {},
        },
        "phase_outputs": {
            "clarify": [told(0, "completed")], "provide": [told(1, "completed")],
            "check-parts": [told(2, "failed")], "analyse": [told(3, "pending")],
        },
        "phase_timestamps": {"clarify": stamp(true), "provide": stamp(true), "check-parts": stamp(true), "analyse": stamp(false)},
        "memory_files": [file(0), file(1)],
        "configuration": {"mode": "block", "inputs": {"task_id": "t-1"}},
        "metadata": {
            "run": "r1", "version": "VERSION", "halt": "halted",
            "ways_on": "you have it go on by `phasegate resume develop-skill` in a terminal.",
        },
    });
    assert_eq!(found, wanted, "{found:#}");
    world.run(&["resume"], 0);
    go_through(&world, 3..PHASES.len());
    let summary = world.run(&["end", "--done", "develop-skill"], 0);
    let lines: Vec<String> =
        summary.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let done =
        |at: usize| vec![format!("{} completed {}", PHASES[at].0, file(at)), format!("It was done in try {at}.")];
    let mut wanted: Vec<String> = (0..2).flat_map(done).collect();
    wanted.push("check-parts skipped".to_owned());
    wanted.extend((3..PHASES.len()).flat_map(done));
    wanted.extend([
        format!("develop-skill made {PRODUCT}"),
        "8 of 9 phases completed, 1 skipped, went back 0 times".to_owned(),
        "SKILL_COMPLETE develop-skill".to_owned(),
    ]);
    assert_eq!(lines, wanted, "{summary}");
}

#[test]
fn a_composite_run_that_is_killed_at_every_step_goes_on_where_it_stood() {
    let names = |count: usize| PHASES[..count].iter().map(|(phase, _)| (*phase).to_string()).collect::<Vec<_>>();
    // What is told in each phase where nothing goes wrong.
    let smooth = begun();
    let mut told = vec![standing(&smooth)];
    for (number, (phase, agent)) in PHASES.into_iter().enumerate() {
        go(&smooth, &Try { number, phase, agent }, 0..STEPS);
        told.push(standing(&smooth));
    }
    assert!(told.iter().enumerate().all(|(count, (done, _))| *done == names(count)), "{told:?}");

    let world = begun();
    let (mut number, mut cuts) = (0, Vec::new());
    for (at, (phase, agent)) in PHASES.into_iter().enumerate() {
        for cut in 0..STEPS {
            number += 1;
            let one = Try { number, phase, agent };
            go(&world, &one, 0..cut);
            // From before the process has read anything to after it has answered.
            killed(&world, &one.message(&world, cut), Duration::from_millis((number * 7 % 5) as u64 * 4));
            world.frame(SESSION, "SessionStart", json!({"source": "resume"}));
            let (done, next) = standing(&world);
            assert!(done == names(at) || done == names(at + 1), "{agent} cut {cut}: {done:?}");
            assert_eq!(next, told[done.len()].1, "{agent} cut {cut}");
            cuts.push(cut);
            if done.len() > at {
                break;
            }
        }
        // Whatever was cut off, the phase is done by one whole try, unless it is done already.
        if standing(&world).0.len() == at {
            number += 1;
            go(&world, &Try { number, phase, agent }, 0..STEPS);
        }
        assert_eq!(standing(&world), told[at + 1], "{agent}");
    }
    assert!((0..4).all(|cut| cuts.contains(&cut)), "{cuts:?}");
    let status: Value = serde_json::from_str(&world.run(&["status", "history", "--json"], 0)).unwrap();
    assert_eq!(status.as_array().map_or(&status, |all| &all[0])["status"], "completed");
    let free = world.call(SESSION, "free", "Write", json!({"file_path": "notes.md", "content": "x"}));
    assert!(!matches!(reply(&free), Reply::Denied(_)));
}
