//! The machine that a skill is: every state to which likely calls lead, found breadth first by the engine itself.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_config::instance;
use phasegate_core::policy::input::Values;
use phasegate_core::policy::{Mode, Policy, Skill};
use phasegate_core::state::Status;
use phasegate_core::{Code, Event};
use serde_json::{Value, json};

use crate::operate::likely_calls::{LikelyCall, sample_inputs};
use crate::operate::replay::{LineError, Options, Replay};

/// The tool of the call that asks a watcher whether its condition holds.
pub const PROBE: &str = "ClaimHolds";

/// A skill, and what may happen in a run of it.
#[derive(Debug)]
pub struct Machine<'a> {
    /// The skill, with values for its inputs.
    pub skill: &'a Skill,
    /// The calls that are made.
    pub calls: &'a [LikelyCall],
    /// The line that begins the run.
    pub begin: Value,
}

/// What is asked of every state beside the skill: a skill of one phase that objects to a call.
#[derive(Clone, Debug)]
pub struct Watch<'a> {
    /// The watching skill.
    pub skill: &'a Skill,
    /// The line that begins its run.
    pub begin: Value,
    /// The phases in which it objects to nothing.
    pub outside: &'a [String],
    /// Whether it is asked once the run has finished, and not at each call.
    pub at_end: bool,
}

/// A state, and the way to it.
#[derive(Clone, Debug)]
pub struct State {
    /// The transcript up to here.
    pub replay: Replay,
    /// That of the watcher.
    watch: Option<Replay>,
    /// The state before, and the lines that led here.
    came: Option<(usize, Vec<Value>)>,
    depth: usize,
    /// The phase of the run; `None`: it has ended.
    pub phase: Option<String>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Explored {
    /// The states, the nearest first.
    pub states: Vec<State>,
    /// From which state one leads to which.
    pub moves: BTreeSet<Way>,
    /// The calls that are let through in a state.
    pub passes: BTreeSet<Way>,
    /// The calls that are denied in a state as they belong to a later phase.
    pub waiting: BTreeSet<Way>,
    /// Whether these are all states.
    pub complete: bool,
    /// The shortest transcript at whose last line the watcher objects.
    pub objection: Option<Vec<Value>>,
}

/// From a state, to a state or by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// The place of the state.
    pub from: usize,
    /// The place of the other one, or of the call.
    pub to: usize,
}

/// A skill as it is tried: alone, in mode `block`, with values for its inputs.
#[derive(Debug)]
pub struct Subject {
    /// The policy, with no other skill.
    pub policy: Policy,
    /// The skill, with the values put in.
    pub skill: Skill,
    /// The values.
    pub inputs: Values,
    /// The line that begins its run.
    pub begin: Value,
}

impl Subject {
    /// The skill of this name. Where no value is given for an input, a sample is taken.
    ///
    /// # Errors
    ///
    /// There is no such skill or input, or a value is none.
    pub fn of(mut policy: Policy, name: &str, given: &Values) -> Result<Self, LineError> {
        policy.skills.retain_mut(|skill| {
            skill.mode = Some(Mode::Block);
            skill.name == name
        });
        let none = || LineError(format!("there is no skill `{name}`"));
        let skill = policy.skill(name).ok_or_else(none)?;
        for (name, value) in given {
            let input = skill.inputs.iter().find(|input| input.name == *name);
            let input = input.ok_or_else(|| LineError(format!("the skill has no input `{name}`")))?;
            if !input.takes(value) {
                return Err(LineError(format!("`{value}` is no value of the input `{name}` ({})", input.pattern)));
            }
        }
        let inputs = sample_inputs(skill, given).ok_or_else(|| {
            LineError("no sample is a value of every input: give them with `--input NAME=VALUE`".into())
        })?;
        let made = if inputs.is_empty() { Some(skill.clone()) } else { instance(skill, &inputs) };
        let skill = made.ok_or_else(|| LineError("the skill cannot be given these values".into()))?;
        Ok(Self { begin: begin(name, &inputs), policy, skill, inputs })
    }
}

/// The line that begins a run of a skill, whatever else begins it.
pub fn begin(skill: &str, inputs: &Values) -> Value {
    let mut args = json!({"skill_name": skill, "mode": "block"});
    if let (false, Some(fields)) = (inputs.is_empty(), args.as_object_mut()) {
        fields.insert("inputs".into(), json!(inputs));
    }
    json!({"event": "command", "by": "human", "name": "activate_skill", "args": args})
}

/// Whether an answer lets the call run.
pub fn lets_through(answer: &Value) -> bool {
    matches!(answer.get("decision").and_then(Value::as_str), None | Some("allow" | "warn"))
}

/// A replay of nothing yet, by a policy.
///
/// # Errors
///
/// None that a policy causes.
pub fn replay(policy: &Policy) -> Result<Replay, LineError> {
    Replay::new(policy.clone(), Options { root: Some("/project".into()), ..Options::default() })
}

/// Steps a line of a machine.
///
/// # Errors
///
/// The line is no event.
pub fn step(replay: &mut Replay, line: &Value) -> Result<Value, LineError> {
    replay.event(Event::from_value(line.clone()).map_err(LineError)?)
}

/// The lines of a call, or the one that ends it, under an id.
pub fn with_id(line: &Value, id: usize) -> Value {
    let mut line = line.clone();
    if let Some(fields) = line.as_object_mut() {
        fields.insert("id".into(), json!(id.to_string()));
    }
    line
}

impl Machine<'_> {
    /// Finds the states, until there are no more, more than `most`, `enough` says so, or the watcher objects.
    ///
    /// # Errors
    ///
    /// The run does not begin, or a line is no event.
    pub fn explore(
        &self,
        policy: &Policy,
        watch: Option<&Watch<'_>>,
        most: usize,
        enough: &mut dyn FnMut(&Explored) -> bool,
    ) -> Result<Explored, LineError> {
        let mut begun = replay(policy)?;
        let answer = step(&mut begun, &self.begin)?;
        if begun.run_of(&self.skill.name).is_none() {
            let why = answer.get("reason").and_then(Value::as_str).unwrap_or("no run begins");
            return Err(LineError(format!("the skill `{}` does not begin: {why}", self.skill.name)));
        }
        let beside = watch.map(|watch| begun_watch(watch)).transpose()?;
        let phase = self.phase(&begun);
        let first = State { replay: begun, watch: beside, came: None, depth: 0, phase };
        let mut search = Search { machine: self, watch, known: BTreeMap::new(), found: Explored::default() };
        search.known.insert(search.key(&first), 0);
        search.found.states.push(first);
        let mut at = 0;
        while let Some(state) = search.found.states.get(at).cloned() {
            if search.found.states.len() > most || enough(&search.found) {
                return Ok(search.found);
            }
            if state.phase.is_some() {
                search.leave(at, &state)?;
            }
            if search.found.objection.is_some() {
                return Ok(search.found);
            }
            at += 1;
        }
        search.found.complete = true;
        Ok(search.found)
    }

    fn phase(&self, replay: &Replay) -> Option<String> {
        let run = replay.run_of(&self.skill.name).filter(|run| run.status == Status::Active)?;
        Some(run.phase.clone())
    }

    /// What a person says that the skill waits for, and the end of a turn.
    fn other_lines(&self) -> Vec<Value> {
        let mut names = BTreeSet::new();
        let conditions = self.skill.phases.iter().flat_map(phasegate_core::policy::Phase::conditions);
        conditions.for_each(|condition| condition.each_gate(&mut |gate| names.extend([gate.name.clone()])));
        let approve = |name| json!({"event": "command", "by": "human", "name": "approve", "args": {"name": name}});
        names.into_iter().map(approve).chain([json!({"event": "stop"})]).collect()
    }
}

fn begun_watch(watch: &Watch<'_>) -> Result<Replay, LineError> {
    let mut beside = replay(&Policy { skills: vec![watch.skill.clone()], ..Policy::default() })?;
    step(&mut beside, &watch.begin)?;
    Ok(beside)
}

struct Search<'a> {
    machine: &'a Machine<'a>,
    watch: Option<&'a Watch<'a>>,
    known: BTreeMap<String, usize>,
    found: Explored,
}

impl Search<'_> {
    fn key(&self, state: &State) -> String {
        if state.phase.is_none() {
            return String::new();
        }
        let beside = self.watch.zip(state.watch.as_ref()).map(|(watch, replay)| replay.key(watch.skill));
        state.replay.key(self.machine.skill) + &beside.unwrap_or_default()
    }

    /// Takes every way out of a state.
    fn leave(&mut self, at: usize, state: &State) -> Result<(), LineError> {
        for (number, call) in self.machine.calls.iter().enumerate() {
            let line = with_id(&call.line, state.depth + 1);
            let mut called = state.replay.clone();
            let answer = step(&mut called, &line)?;
            let way = Way { from: at, to: number };
            if !lets_through(&answer) {
                if answer.get("code").and_then(Value::as_str) == Some(Code::NotDone.id()) {
                    self.found.waiting.insert(way);
                }
                continue;
            }
            self.found.passes.insert(way);
            let mut watched = state.watch.clone();
            if let (Some(watch), Some(beside)) = (self.watch, &mut watched) {
                let objects = !lets_through(&step(beside, &line)?);
                let phase = self.machine.phase(&called);
                if objects && phase.is_some_and(|phase| !watch.outside.contains(&phase)) {
                    self.object(at, vec![line]);
                    return Ok(());
                }
            }
            for end in &call.ends {
                let end = with_id(end, state.depth + 1);
                let (mut replay, mut watch) = (called.clone(), watched.clone());
                step(&mut replay, &end)?;
                watch.as_mut().map(|beside| step(beside, &end)).transpose()?;
                self.arrive(at, replay, watch, vec![line.clone(), end])?;
            }
        }
        for line in self.machine.other_lines() {
            let (mut replay, mut watch) = (state.replay.clone(), state.watch.clone());
            step(&mut replay, &line)?;
            watch.as_mut().map(|beside| step(beside, &line)).transpose()?;
            self.arrive(at, replay, watch, vec![line])?;
        }
        Ok(())
    }

    /// Takes up a state, if it is new.
    fn arrive(
        &mut self,
        from: usize,
        replay: Replay,
        watch: Option<Replay>,
        lines: Vec<Value>,
    ) -> Result<(), LineError> {
        if self.found.objection.is_some() {
            return Ok(());
        }
        let phase = self.machine.phase(&replay);
        let finished = || replay.run_of(&self.machine.skill.name).is_some_and(|run| run.status == Status::Finished);
        if let (true, Some(beside)) = (phase.is_none() && self.watch.is_some_and(|watch| watch.at_end), &watch)
            && finished()
        {
            let probe = json!({"event": "tool_call", "id": "probe", "tool": PROBE, "input": {}});
            if !lets_through(&step(&mut beside.clone(), &probe)?) {
                self.object(from, lines);
                return Ok(());
            }
        }
        let depth = self.found.states.get(from).map_or(0, |state| state.depth) + 1;
        let state = State { replay, watch, came: Some((from, lines)), depth, phase };
        let key = self.key(&state);
        let next = self.found.states.len();
        let to = *self.known.entry(key).or_insert(next);
        if to == next {
            self.found.states.push(state);
        }
        self.found.moves.insert(Way { from, to });
        Ok(())
    }

    fn object(&mut self, at: usize, lines: Vec<Value>) {
        let mut all = self.found.transcript(at, &self.machine.begin);
        all.extend(lines);
        self.found.objection = Some(all);
    }
}

impl Explored {
    /// The shortest transcript that leads to a state.
    pub fn transcript(&self, at: usize, begin: &Value) -> Vec<Value> {
        let mut ways = Vec::new();
        let mut state = self.states.get(at);
        while let Some((before, lines)) = state.and_then(|state| state.came.as_ref()) {
            ways.push(lines.clone());
            state = self.states.get(*before);
        }
        std::iter::once(begin.clone()).chain(ways.into_iter().rev().flatten()).collect()
    }

    /// The states from which one of these can be reached, and they themselves.
    pub fn leading_to(&self, goals: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        self.moves.iter().for_each(|way| before.entry(way.to).or_default().push(way.from));
        let mut open: Vec<usize> = goals.collect();
        let mut found = BTreeSet::new();
        while let Some(at) = open.pop() {
            if found.insert(at) {
                open.extend(before.get(&at).into_iter().flatten());
            }
        }
        found
    }
}
