//! The machine of the original: a verified transition is the work of the phase's agents, one that is not verified asks for
//! the next phase.

use serde_json::{Value, json};
use xtask::failure::Result;

use super::case::{Call, Case};
use super::memory::{PASSED, whole};
use super::outcome::Outcome;
use super::player::Player;
use super::run::{Run, Stands};
use super::table::Table;

const LEARNINGS: &str = "a run that is complete has ended: what was learned is a run of develop-learnings";
const BRANCH: &str = "a branch is complete with its agent's file alone, and its phase is left with the last one";
const AUTO: &str = "AUTO is deprecated: it is taken as LINEAR, with an agent and its memory file";
const SKIPPED: &str = "a phase that is skipped is passed over before anything is asked of it";
const UNVERIFIED: &str = "a phase is left with its file, or by a person who skips it: nothing else moves a run";
const NOT_BEGUN: &str = "before it begins there is no run that could be halted, or go on";
const OVER: &str = "a run that is complete has ended: nothing halts it and nothing is skipped in it";

/// A run of the machine, and what the original has of it.
struct Machine<'p> {
    table: &'p Table,
    player: &'p Player,
    run: Option<Run<'p>>,
    /// The phases, as the run entered them.
    way: Vec<String>,
    /// The phase in which the original stands: it waits for a transition, the run does not.
    stands: String,
    /// The agents of the phase that have done their work, or failed.
    spent: Vec<String>,
    halted: Option<String>,
    /// Why the run may come out otherwise.
    why: Option<&'static str>,
}

pub(super) fn play(case: &Case) -> Result<Outcome> {
    let (table, player) = match Table::played(case)? {
        Ok(both) => both,
        Err(outcome) => return Ok(outcome),
    };
    let (way, spent, stands) = (Vec::new(), Vec::new(), String::new());
    let mut machine =
        Machine { table: &table, player: &player, run: None, way, stands, spent, halted: None, why: None };
    if table.has("AUTO") {
        machine.why = Some(AUTO);
    }
    for (number, call) in case.calls.iter().enumerate() {
        if !machine.step(call, number)? {
            return Ok(Outcome::not_supported("no step of a run asks this"));
        }
        let phase = machine.phase()?;
        if !phase.is_empty() && machine.way.last() != Some(&phase) {
            machine.way.push(phase);
        }
    }
    let got = machine.after()?;
    let wanted = case.expect.get("after").and_then(Value::as_object).cloned().unwrap_or_default();
    // Of what the case says, the machine here has these keys.
    let known = wanted.into_iter().filter(|(key, _)| got.get(key).is_some());
    let wanted: serde_json::Map<String, Value> = known.collect();
    let got = wanted.keys().filter_map(|key| Some((key.clone(), got.get(key)?.clone()))).collect();
    let outcome = Outcome::of(&Value::Object(wanted), &Value::Object(got));
    Ok(match machine.why {
        Some(why) => outcome.because(why),
        None => outcome,
    })
}

impl<'p> Machine<'p> {
    fn now(&self) -> Result<Option<Stands>> {
        self.run.as_ref().map_or(Ok(None), Run::stands)
    }

    fn phase(&self) -> Result<String> {
        Ok(self.now()?.map(|stands| stands.phase).unwrap_or_default())
    }

    /// One step; `false`: no step of a run is like it.
    fn step(&mut self, call: &Call, number: usize) -> Result<bool> {
        let is_over = self.now()?.is_some_and(|stands| stands.state == "COMPLETED");
        match call.tool.as_str() {
            "fsm.start" if self.run.is_none() => {
                self.run = Some(Run::begun(self.player, &self.table.name));
                self.stands = self.phase()?;
            }
            "fsm.require_learnings" | "fsm.complete_learnings" => self.why = Some(LEARNINGS),
            "fsm.transition" => self.transition(call, number)?,
            "fsm.branch_complete" | "fsm.branch_fail" => {
                self.why = Some(BRANCH);
                let text = |agent: &str| (call.tool == "fsm.branch_complete").then(|| whole(agent, number, PASSED));
                if let Some(agent) = self.table.branch_agent(call).filter(|agent| !self.spent.contains(agent)) {
                    self.work(&agent, text(&agent).as_deref())?;
                    self.spent.push(agent);
                }
            }
            "fsm.halt" | "fsm.skip" if self.run.is_none() => self.why = Some(NOT_BEGUN),
            "fsm.halt" | "fsm.skip" if is_over => self.why = Some(OVER),
            "fsm.halt" => {
                let reason = call.text("reason").unwrap_or_default();
                if let Some(run) = &mut self.run {
                    run.halt(reason);
                }
                self.halted = Some(reason.to_owned());
            }
            "fsm.skip" => {
                self.why = Some(SKIPPED);
                self.skip(call.text("phase").unwrap_or_default());
            }
            // What only asks changes nothing.
            name if name.starts_with("fsm.") && name != "fsm.complete_phase" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn skip(&mut self, phase: &str) {
        if let Some(run) = &mut self.run {
            run.skip(&format!("phase-{}", phase.replace('.', "-")));
        }
    }

    fn work(&mut self, agent: &str, text: Option<&str>) -> Result {
        let part = self.table.part(&self.phase()?, agent);
        self.run.as_mut().map_or(Ok(()), |run| run.work(agent, &part, text))
    }

    fn transition(&mut self, call: &Call, number: usize) -> Result {
        let here = self.phase()?;
        let verified = call.args.get("verified").and_then(Value::as_bool).unwrap_or(false);
        let next = self.table.next(&here).map(ToOwned::to_owned);
        let to = call.text("to").map(ToOwned::to_owned).or_else(|| next.clone());
        if self.run.is_none() {
            self.why = Some(NOT_BEGUN);
            return Ok(());
        }
        // What the last branch left has moved the run already.
        if std::mem::replace(&mut self.stands, here.clone()) != here {
            return Ok(());
        }
        if !verified && (to.is_none() || self.table.kind(&here) == "OPTIONAL") {
            self.why = Some(UNVERIFIED);
        }
        if let Some(to) = to.filter(|to| Some(to) != next.as_ref()) {
            let between = self.table.between(&here, &to);
            let optional = between.filter(|between| between.iter().all(|phase| self.table.kind(phase) == "OPTIONAL"));
            let Some(skipped) = optional.map(|of| of.into_iter().map(ToOwned::to_owned).collect::<Vec<_>>()) else {
                let agents = self.table.agents(&to);
                self.run.iter_mut().for_each(|run| agents.iter().for_each(|agent| drop(run.ask(agent))));
                return Ok(());
            };
            skipped.iter().filter(|_| verified).for_each(|phase| self.skip(phase));
        }
        let all = self.table.agents(&here);
        let spent = std::mem::take(&mut self.spent);
        for agent in all.into_iter().filter(|agent| !spent.contains(agent)) {
            self.work(&agent, verified.then(|| whole(&agent, number, PASSED)).as_deref())?;
        }
        self.stands = self.phase()?;
        Ok(())
    }

    /// What the original's machine would say of the run.
    fn after(&self) -> Result<Value> {
        let Some(stands) = self.now()? else {
            return Ok(json!({
                "state": "INITIALIZED", "current_phase_id": null, "history": ["INITIALIZED"], "skipped_phases": [],
            }));
        };
        let named = |word: &str, phase: &str| format!("{word}_{}", phase.replace('.', "_"));
        let mut history = vec!["INITIALIZED".to_owned()];
        let mut last = String::new();
        for phase in &self.way {
            let between = self.table.between(&last, phase).unwrap_or_default().into_iter();
            let skipped = between.filter(|between| stands.skipped.iter().any(|one| one == between));
            history.extend(skipped.map(|phase| named("SKIPPED", phase)));
            history.push(named("PHASE", phase));
            last.clone_from(phase);
        }
        history.extend(match (stands.state, &self.halted) {
            ("EXECUTING", _) => None,
            ("HALTED", Some(reason)) => Some(format!("HALTED: {reason}")),
            (state, _) => Some(state.to_owned()),
        });
        Ok(json!({
            "state": stands.state, "current_phase_id": stands.phase, "history": history,
            "skipped_phases": stands.skipped,
        }))
    }
}
