//! Steps of the original's script: the file that was written for the present agent is its work.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use xtask::failure::Result;

use super::case::{Call, Case};
use super::memory::{PASSED, mended, whole};
use super::outcome::Outcome;
use super::run::{Run, memory_file};
use super::table::Table;

const GOAL: &str = "an assessment between two phases is a phase that the skill has, and no file beside them";
const SKIPPED: &str = "a phase that is skipped is passed over before anything is asked of it";
const AUTO: &str = "AUTO is deprecated: it is taken as LINEAR, with an agent and its memory file";
const PARALLEL: &str = "a branch is complete with its agent's file alone, and no command marks it so";
const ITERATIVE: &str = "each agent of an iterative phase leaves its file; the original counts the calls of its script";
const BACK: &str = "a verdict leads back and the target is done again, where the original's script fails";
const LAST: &str = "the file of the last phase completes the run; the original repeats its directive for ever";
const EVIDENCE: &str =
    "a file counts with its own name, its agent's title, the task, text in four sections and the closing line";

const COMPLETE: &str = "evidence alone completes a run: the original's script does it from any phase";
/// The steps after which the original's state is compared.
const MOVES: [&str; 2] = ["skill.advance", "skill.complete"];

/// A run of the script.
struct Script<'p> {
    table: &'p Table,
    run: Option<Run<'p>>,
    /// The files that were written and are nobody's work yet.
    written: BTreeMap<String, String>,
    verdict: &'static str,
}

pub(super) fn play(case: &Case) -> Result<Outcome> {
    let is_refused = |call: &Value| call.get("exit_code").and_then(Value::as_i64).is_some_and(|code| code != 0);
    let of_call = |number: usize| case.expect.get("results").and_then(|results| results.get(number)).cloned();
    let (table, player) = match Table::played(case)? {
        Ok(both) => both,
        // Nothing goes on where nothing has begun.
        Err(_) if of_call(0).as_ref().is_some_and(is_refused) => return Ok(Outcome::Agrees),
        Err(outcome) => return Ok(outcome),
    };
    let is_begun = case.setup.get("started").and_then(Value::as_bool) != Some(false);
    let run = is_begun.then(|| Run::begun(&player, &table.name));
    let mut script = Script { table: &table, run, written: BTreeMap::new(), verdict: PASSED };
    let (mut wanted, mut got, mut why) = (Vec::new(), Vec::new(), None);
    for (number, call) in case.calls.iter().enumerate() {
        if !script.step(call, number)? {
            return Ok(Outcome::not_supported("no step of a run asks this"));
        }
        let Some(result) = of_call(number).filter(|result| MOVES.contains(&call.tool.as_str()) && !result.is_null())
        else {
            continue;
        };
        let stands = script.run.as_ref().map_or(Ok(None), Run::stands)?;
        let (phase, state) = stands.map_or((None, None), |stands| (Some(stands.phase), Some(stands.state)));
        let all = json!({"current_phase_id": phase, "fsm_state": state});
        let keys = ["current_phase_id", "fsm_state"].into_iter();
        let pair: Vec<[&Value; 2]> = keys.filter_map(|key| Some([result.get(key)?, all.get(key)?])).collect();
        if why.is_none() && pair.iter().any(|[wanted, got]| wanted != got) {
            why = if call.tool == "skill.complete" { Some(COMPLETE) } else { reason(&table, &result) };
        }
        wanted.push(pair.iter().map(|[wanted, _]| (*wanted).clone()).collect::<Vec<_>>());
        got.push(pair.iter().map(|[_, got]| (*got).clone()).collect::<Vec<_>>());
    }
    let outcome = Outcome::of(&json!(wanted), &json!(got));
    Ok(match why {
        Some(why) => outcome.because(why),
        None => outcome,
    })
}

/// Why a step comes out otherwise than in the original, by what it says there.
fn reason(table: &Table, result: &Value) -> Option<&'static str> {
    let said = result.get("lines").map(Value::to_string).unwrap_or_default();
    let phase = result.get("current_phase_id").and_then(Value::as_str).unwrap_or_default();
    let says = |text: &str| said.contains(text);
    match table.kind(phase) {
        _ if says("BLOCKED: Goal-Memory") => Some(GOAL),
        _ if says("Skipping optional") || table.has("OPTIONAL") => Some(SKIPPED),
        _ if says("Transition failed") || says("looping back") => Some(BACK),
        _ if table.has("AUTO") => Some(AUTO),
        _ if table.has("ITERATIVE") => Some(ITERATIVE),
        _ if table.has("PARALLEL") => Some(PARALLEL),
        _ if table.next(phase).is_none() => Some(LAST),
        _ if result.get("exit_code").and_then(Value::as_i64) == Some(0) => Some(EVIDENCE),
        _ => None,
    }
}

impl Script<'_> {
    /// One step; `false`: no step of a run is like it.
    fn step(&mut self, call: &Call, number: usize) -> Result<bool> {
        match call.tool.as_str() {
            "write" => {
                let text = |key: &str| call.text(key).unwrap_or_default().to_owned();
                self.written.insert(text("path"), text("content"));
            }
            // No command marks a branch or a run complete: its files do.
            "skill.complete_branch" | "skill.complete_all_branches" | "skill.complete" => {}
            "skill.set_metadata" => return self.set(call, number),
            "skill.advance" => self.advance(number)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set(&mut self, call: &Call, number: usize) -> Result<bool> {
        let value = call.args.get("value");
        match call.text("key").unwrap_or_default() {
            "validation_status" => {
                let again = value.and_then(Value::as_str) == Some("needs_remediation");
                self.verdict = if again { "needs_remediation" } else { PASSED };
            }
            "no_research" => {
                if let Some(run) = self.run.as_mut().filter(|_| value.and_then(Value::as_bool) == Some(true)) {
                    run.skip("phase-0-5");
                }
            }
            key if key.starts_with("remediation_count") => {
                let times = value.and_then(Value::as_u64).and_then(|times| usize::try_from(times).ok());
                for time in 0..times.unwrap_or_default().min(10) {
                    // The same text written again would not count.
                    let step = number * 100 + time;
                    for (agent, verdict) in [("validation", self.verdict), ("generation", PASSED)] {
                        if let Some(run) = &mut self.run {
                            run.work(agent, "", Some(&whole(agent, step, verdict)))?;
                        }
                    }
                }
            }
            // What nothing reads changes nothing.
            _ => {}
        }
        Ok(true)
    }

    fn advance(&mut self, number: usize) -> Result {
        let Some(run) = &mut self.run else { return Ok(()) };
        let here = run.stands()?.map(|stands| stands.phase).unwrap_or_default();
        for agent in self.table.agents(&here) {
            if let Some(text) = self.written.remove(&memory_file(&agent)?) {
                let part = self.table.part(&here, &agent);
                run.work(&agent, &part, Some(&mended(&text, &agent, number, self.verdict)))?;
            }
        }
        Ok(())
    }
}
