//! Cases of skill protocols: the original's tables of phases become skills, and each step of its machine is the work of a
//! subagent.

use std::process::Stdio;

use serde_json::{Value, json};
use xtask::failure::{Failure, Result};
use xtask::process::{program, scratch};
use xtask::root::{read, root};

use super::case::{Call, Case};
use super::outcome::Outcome;
use super::player::Player;
use super::run::{Run, Stands, TASK, memory_file};

const FIXTURES: &str = "xtask/cases/003-fixtures.json";
/// The verdict of a validation that found nothing.
const PASSED: &str = "passed";
/// Operations for which the program has nothing.
const LEARNINGS: &str = "a run that is complete has ended: what was learned is a run of develop-learnings";
const CONFIG: &str = "which skills ask for an assessment or for learnings, their phases say: there are no lists";

/// A skill of the fixtures.
struct Skill {
    name: String,
    phases: Value,
}

pub(super) fn play(case: &Case) -> Result<Outcome> {
    let first = case.calls.first().map(|call| call.tool.as_str()).unwrap_or_default();
    match first {
        "" => Ok(Outcome::not_supported(CONFIG)),
        _ if case.calls.iter().any(|call| call.tool.ends_with("_learnings")) => Ok(Outcome::not_supported(LEARNINGS)),
        _ if first.starts_with("fsm.") => machine(case),
        "evidence.verify_phase" | "evidence.verify_format" => evidence(case),
        "skill.entry" => entry(case),
        _ if case.setup.get("orchestration_active").is_some() => hook(case),
        _ if case.calls.iter().any(|call| call.tool == "skill.advance") => advance(case),
        _ => Ok(Outcome::not_supported("no step of a run asks this")),
    }
}

impl Skill {
    fn of(case: &Case) -> Result<Self> {
        let name = case.setup.get("skill").and_then(Value::as_str).unwrap_or_default().to_owned();
        let fixtures: Value = serde_json::from_str(&read(&root().join(FIXTURES))?)
            .map_err(|error| Failure::new(format!("{FIXTURES}: {error}")))?;
        let found = ["test_skills", "builtin_skills"].iter().find_map(|of| fixtures.get(of)?.get(&name));
        let phases = found.cloned().ok_or_else(|| Failure::new(format!("{FIXTURES}: there is no skill `{name}`")))?;
        Ok(Self { name, phases })
    }

    /// A project with the skill, as `phasegate skill new --registry` makes it.
    fn player(&self) -> Result<Player> {
        let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", self.name));
        let table = tempfile::Builder::new().suffix(".json").tempfile_in(scratch()).map_err(failed)?;
        std::fs::write(table.path(), self.phases.to_string()).map_err(failed)?;
        let mut command = program("phasegate");
        command.args(["skill", "new", "--dry-run", &self.name, "--registry"]).arg(table.path());
        let output = command.stdin(Stdio::null()).output().map_err(failed)?;
        if !output.status.success() {
            return Err(Failure::new(format!("{}: {}", self.name, String::from_utf8_lossy(&output.stderr))));
        }
        Player::with_skill("mode: block\n", &self.name, &String::from_utf8_lossy(&output.stdout))
    }

    /// The agents of a phase, in order.
    fn agents(&self, phase: &str) -> Vec<String> {
        let Some(phase) = self.phases.get(phase) else { return Vec::new() };
        let list = phase.get("iteration_agents").and_then(Value::as_array);
        if let Some(agents) = list {
            return agents.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
        }
        let skill = |of: &Value| of.get("uses_atomic_skill").and_then(Value::as_str).map(agent_of);
        match phase.get("parallel_branches").and_then(Value::as_object) {
            Some(branches) => branches.values().filter_map(skill).collect(),
            None => vec![skill(phase).unwrap_or_else(|| "generation".to_owned())],
        }
    }

    /// The agent of a branch.
    fn branch_agent(&self, call: &Call) -> Option<String> {
        let branches = self.phases.get(call.text("phase")?)?.get("parallel_branches")?;
        branches.get(call.text("branch")?)?.get("uses_atomic_skill").and_then(Value::as_str).map(agent_of)
    }

    /// How many phases there are, and how far a run has come: as the original counts them.
    fn after(&self, way: &[String], stands: &Stands) -> Value {
        let mut history = vec!["INITIALIZED".to_owned()];
        history.extend(way.iter().map(|phase| format!("PHASE_{}", phase.replace('.', "_"))));
        history.extend((stands.state != "EXECUTING").then(|| stands.state.to_owned()));
        json!({
            "state": stands.state, "current_phase_id": stands.phase, "history": history, "skipped_phases": stands.skipped,
        })
    }
}

fn agent_of(skill: &str) -> String {
    skill.trim_start_matches("orchestrate-").to_owned()
}

/// A memory file in the form of the seed.
fn memory(agent: &str, number: usize, verdict: &str) -> String {
    let matter = if agent == "validation" { format!("---\nverdict: {verdict}\n---\n") } else { String::new() };
    let name = agent.get(..1).unwrap_or_default().to_uppercase() + agent.get(1..).unwrap_or_default();
    format!(
        "{matter}# {name} Agent Output: step {number}\n\n## Section 0: Context Loaded\n\nTask ID: {TASK}\nA task.\n\n\
         ## Section 1: Step Overview\n\nStep {number} was done.\n\n## Section 2: Johari Summary\n\nAll is known now.\n\n\
         ## Section 3: Downstream Directives\n\nGo on with it.\n\n---\n**{}_COMPLETE**\n",
        agent.to_uppercase()
    )
}

/// The machine: a verified transition is the work of the phase's agents, one that is not verified asks for the next phase.
fn machine(case: &Case) -> Result<Outcome> {
    let skill = Skill::of(case)?;
    let player = skill.player()?;
    let mut run = Run::begun(&player, &skill.name);
    let (mut way, mut failed): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (number, call) in case.calls.iter().enumerate() {
        let here = run.stands()?.map(|stands| stands.phase).unwrap_or_default();
        match call.tool.as_str() {
            "fsm.start" | "fsm.init_branches" | "fsm.all_branches_complete" | "fsm.critical_failure" => {}
            "fsm.transition" => {
                let verified = call.args.get("verified").and_then(Value::as_bool).unwrap_or(false);
                for agent in skill.agents(&here).into_iter().filter(|agent| !failed.contains(agent)) {
                    run.work(&agent, verified.then(|| memory(&agent, number, PASSED)).as_deref())?;
                }
            }
            "fsm.branch_fail" => {
                let agent = skill.branch_agent(call).unwrap_or_default();
                run.work(&agent, None)?;
                failed.push(agent);
            }
            "fsm.halt" => run.halt(call.text("reason").unwrap_or_default()),
            "fsm.skip" => run.skip(&format!("phase-{}", call.text("phase").unwrap_or_default().replace('.', "-"))),
            _ => return Ok(Outcome::not_supported("no step of a run asks this")),
        }
        let phase = run.stands()?.map(|stands| stands.phase).unwrap_or_default();
        if way.last() != Some(&phase) {
            way.push(phase);
        }
    }
    let Some(stands) = run.stands()? else { return Ok(Outcome::of(&"a run", &"none")) };
    let wanted = case.expect.get("after").cloned().unwrap_or_default();
    let got = skill.after(&way, &stands);
    let keys = ["state", "current_phase_id", "history", "skipped_phases"];
    let only: serde_json::Map<String, Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), wanted.get(key)?.clone()))).collect();
    Ok(Outcome::of(&Value::Object(only), &got))
}

/// A memory file alone, as its agent writes it: whether it completes the phase.
fn evidence(case: &Case) -> Result<Outcome> {
    let content = case.setup.get("content").and_then(Value::as_str);
    let files = case.setup.get("memory_files").and_then(Value::as_object);
    let agent = case.calls.first().and_then(|call| call.text("agent")).unwrap_or("clarification").to_owned();
    let named = files.and_then(|files| files.get(&format!("{TASK}-{agent}-memory.md"))).and_then(Value::as_str);
    let text = content.or(named);
    let skill = format!("orchestrate-{agent}");
    let player = Player::new(&skill, "strict")?;
    let mut run = Run::begun(&player, &skill);
    run.work(&agent, text)?;
    let got = run.stands()?.is_some_and(|stands| stands.state == "COMPLETED");
    let wanted = ["passed", "valid"].iter().find_map(|key| case.expect.get(key)?.as_bool()).unwrap_or(false);
    Ok(Outcome::of(&wanted, &got))
}

fn entry(case: &Case) -> Result<Outcome> {
    let skill = Skill::of(case)?;
    let player = skill.player()?;
    let begun = Run::begun(&player, &skill.name).stands()?.is_some();
    let wanted = case.expect.get("exit_code").and_then(Value::as_i64) == Some(0);
    Ok(Outcome::of(&wanted, &begun))
}

/// Who may call what: the main agent, and a subagent that makes things, in a run or outside of one.
fn hook(case: &Case) -> Result<Outcome> {
    let truth = |key: &str| case.setup.get(key).and_then(Value::as_bool).unwrap_or(false);
    let Some(call) = case.calls.first() else { return Ok(Outcome::not_supported(CONFIG)) };
    let player = Player::new("orchestrate-generation", "strict")?;
    let mut run =
        if truth("orchestration_active") { Run::begun(&player, "orchestrate-generation") } else { Run::idle(&player) };
    let agent = truth("subagent").then(|| {
        let start = run.start("generation");
        json!({"id": format!("generation-{start}"), "type": "generation"})
    });
    let input = match call.tool.as_str() {
        "Bash" => json!({"command": "make"}),
        "Grep" | "Glob" => json!({"pattern": "x"}),
        "Read" | "Edit" | "Write" => json!({"file_path": "src/a.py", "content": "x"}),
        "NotebookEdit" => json!({"notebook_path": "a.ipynb", "new_source": "x"}),
        "WebSearch" => json!({"query": "x"}),
        "WebFetch" => json!({"url": "https://example.com", "prompt": "x"}),
        "Task" => json!({"subagent_type": "generation", "prompt": "x"}),
        _ => json!({}),
    };
    let tool = if call.tool == "Task" { "Agent" } else { &call.tool };
    let answer = run.decision(tool, &input, agent)?;
    let got = if answer.get("decision").and_then(Value::as_str) == Some("deny") { "block" } else { "allow" };
    Ok(Outcome::of(&case.expect.get("intended").and_then(Value::as_str).unwrap_or_default(), &got))
}

/// Steps of the original's script: the file that was written for the present agent is its work.
fn advance(case: &Case) -> Result<Outcome> {
    let skill = Skill::of(case)?;
    let player = skill.player()?;
    let mut run = Run::begun(&player, &skill.name);
    let (mut written, mut wanted, mut got) = (Vec::new(), Vec::new(), Vec::new());
    let mut verdict = PASSED;
    for (number, call) in case.calls.iter().enumerate() {
        match call.tool.as_str() {
            "write" => written.push(call.text("path").unwrap_or_default().to_owned()),
            "skill.set_metadata" => match call.text("key").unwrap_or_default() {
                "validation_status" => verdict = "needs_remediation",
                "no_research" => run.skip("phase-0-5"),
                key if key.starts_with("remediation_count") => {
                    let times = call.args.get("value").and_then(Value::as_u64).unwrap_or_default();
                    for time in 0..usize::try_from(times).unwrap_or_default() {
                        // The same text written again would not count.
                        let step = number * 100 + time;
                        run.work("validation", Some(&memory("validation", step, verdict)))?;
                        run.work("generation", Some(&memory("generation", step, PASSED)))?;
                    }
                }
                _ => return Ok(Outcome::not_supported("no step of a run asks this")),
            },
            "skill.advance" => {
                let here = run.stands()?.map(|stands| stands.phase).unwrap_or_default();
                for agent in skill.agents(&here) {
                    let file = memory_file(&agent)?;
                    if let Some(at) = written.iter().position(|path| *path == file) {
                        written.remove(at);
                        run.work(&agent, Some(&memory(&agent, number, verdict)))?;
                    }
                }
                let result = case.expect.get("results").and_then(|results| results.get(number)).cloned();
                let result = result.unwrap_or_default();
                wanted.push(json!([result.get("current_phase_id"), result.get("fsm_state")]));
                got.push(run.stands()?.map_or(Value::Null, |stands| json!([stands.phase, stands.state])));
            }
            _ => return Ok(Outcome::not_supported("no step of a run asks this")),
        }
    }
    Ok(Outcome::of(&Value::from(wanted), &Value::from(got)))
}
