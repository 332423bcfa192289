//! A table of phases of the original, as the skill that `phasegate skill new NAME --registry` makes of it.

use std::process::Stdio;

use serde_json::Value;
use xtask::failure::{Failure, Result};
use xtask::process::{program, scratch};
use xtask::root::{read, root};

use super::case::{Call, Case};
use super::outcome::Outcome;
use super::player::Player;

const FIXTURES: &str = "xtask/cases/003-fixtures.json";
/// Why a table is no skill here.
pub(super) const REFUSED: &str = "a table that breaks an invariant of the seed is refused when the skill is made of it";
/// Why a case without a skill plays nothing.
const NO_SKILL: &str = "there is no skill of this name, so nothing begins";

/// A skill of the fixtures, or of the case.
pub(super) struct Table {
    pub(super) name: String,
    phases: Value,
}

impl Table {
    /// The table of a case; `None`: its skill is not there.
    pub(super) fn of(case: &Case) -> Result<Option<Self>> {
        let named = case.setup.get("skill").and_then(Value::as_str);
        let name = named.or_else(|| case.calls.first()?.text("skill")).unwrap_or("made").to_owned();
        if let Some(phases) = case.setup.get("phases").filter(|phases| phases.is_object()) {
            return Ok(Some(Self { name, phases: phases.clone() }));
        }
        let fixtures: Value = serde_json::from_str(&read(&root().join(FIXTURES))?)
            .map_err(|error| Failure::new(format!("{FIXTURES}: {error}")))?;
        let found = ["test_skills", "builtin_skills"].iter().find_map(|of| fixtures.get(of)?.get(&name));
        Ok(found.cloned().map(|phases| Self { name, phases }))
    }

    /// A project with the skill, or how a case comes out that has none.
    pub(super) fn played(case: &Case) -> Result<std::result::Result<(Self, Player), Outcome>> {
        let Some(table) = Self::of(case)? else { return Ok(Err(Outcome::not_supported(NO_SKILL))) };
        Ok(match table.player()? {
            Ok(player) => Ok((table, player)),
            Err(why) => Err(Outcome::of(&"a skill", &why.trim()).because(REFUSED)),
        })
    }

    /// A project with the skill; or why the table is refused.
    pub(super) fn player(&self) -> Result<std::result::Result<Player, String>> {
        let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", self.name));
        let table = tempfile::Builder::new().suffix(".json").tempfile_in(scratch()).map_err(failed)?;
        std::fs::write(table.path(), self.phases.to_string()).map_err(failed)?;
        let mut command = program("phasegate");
        command.args(["skill", "new", "--dry-run", &self.name, "--registry"]).arg(table.path());
        let output = command.stdin(Stdio::null()).output().map_err(failed)?;
        if !output.status.success() {
            return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Player::with_skill("mode: block\n", &self.name, &String::from_utf8_lossy(&output.stdout)).map(Ok)
    }

    fn phase(&self, id: &str) -> Option<&Value> {
        self.phases.get(id)
    }

    /// The type of a phase.
    pub(super) fn kind(&self, phase: &str) -> &str {
        self.phase(phase).and_then(|phase| phase.get("type")?.as_str()).unwrap_or("LINEAR")
    }

    /// Whether a phase of this type is in the table.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.order().iter().any(|phase| self.kind(phase) == kind)
    }

    /// What follows a phase.
    pub(super) fn next(&self, phase: &str) -> Option<&str> {
        self.phase(phase)?.get("next")?.as_str()
    }

    /// The phases in their order.
    pub(super) fn order(&self) -> Vec<&str> {
        let phases = self.phases.as_object();
        let first =
            phases.and_then(|phases| phases.keys().find(|id| !phases.keys().any(|of| self.next(of) == Some(id))));
        let mut order: Vec<&str> = Vec::new();
        let mut at = first.map(String::as_str);
        while let Some(phase) = at.filter(|phase| !order.contains(phase)) {
            order.push(phase);
            at = self.next(phase);
        }
        order
    }

    /// The phases between one and a later one; `None`: it is not later.
    pub(super) fn between(&self, from: &str, to: &str) -> Option<Vec<&str>> {
        let mut after = self.order().into_iter().skip_while(|phase| *phase != from).skip(1);
        let between = after.by_ref().take_while(|phase| *phase != to).collect();
        self.order().into_iter().skip_while(|phase| *phase != from).skip(1).any(|phase| phase == to).then_some(between)
    }

    /// What stands before the agent in the name of its memory file: the phase, where it works in several places.
    pub(super) fn part(&self, phase: &str, agent: &str) -> String {
        let places: usize = self.order().iter().map(|phase| self.times(phase, agent)).sum();
        if places < 2 { String::new() } else { format!("phase-{}-", phase.replace('.', "-")) }
    }

    fn times(&self, phase: &str, agent: &str) -> usize {
        self.agents(phase).iter().filter(|one| *one == agent).count()
    }

    /// The agents of a phase, in order.
    pub(super) fn agents(&self, phase: &str) -> Vec<String> {
        let Some(phase) = self.phase(phase) else { return Vec::new() };
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
    pub(super) fn branch_agent(&self, call: &Call) -> Option<String> {
        let branches = self.phase(call.text("phase")?)?.get("parallel_branches")?;
        branches.get(call.text("branch")?)?.get("uses_atomic_skill").and_then(Value::as_str).map(agent_of)
    }
}

fn agent_of(skill: &str) -> String {
    skill.trim_start_matches("orchestrate-").to_owned()
}
