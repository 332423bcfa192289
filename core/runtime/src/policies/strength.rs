//! How much a policy asks for, so that one that asks for less is noticed when a session starts (rules 4).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use phasegate_core::policy::{Approve, LeaveSkill, Mode, OnViolation, Skill, Unlisted};
use phasegate_store::digest::sha256_hex;
use serde::{Deserialize, Serialize};

use crate::clients::client_settings;
use crate::clients::modules;
use crate::clients::servers;
use crate::policies::policy_store::Ready;

/// How much a policy asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// The strictest mode that a run can begin with unasked.
    pub mode: Mode,
    /// The skills, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skills: BTreeMap<String, SkillStrength>,
    /// The programs that shell lines may name beside the shipped table, each with the digest of what is said of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, String>,
    /// The programs whose commands agents may classify.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub classified: BTreeSet<String>,
    /// Whether the repository's own configuration may name programs that no person chose.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub distrust_repository: bool,
    /// Whether calls that only read are approved, so that the user is not asked about them.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub approves_reads: bool,
    /// The MCP servers that the clients' settings define, each with the digest of how it is started; by their files the
    /// project's settings, and by their folders the modules that the clients load, each with that of its content. Absent where
    /// that was not looked at yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<BTreeMap<String, String>>,
}

/// How much a skill asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillStrength {
    /// The least strict mode that a run may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How calls that no line lists are answered.
    pub unlisted: Unlisted,
    /// How many lines allow calls that no phase lists.
    #[serde(default)]
    pub unlisted_allowed: usize,
    /// Who may leave it.
    pub leave: LeaveSkill,
    /// What begins it.
    #[serde(default)]
    pub starts: usize,
    /// Whether the agent has to finish it.
    #[serde(default)]
    pub required: bool,
    /// The phases.
    pub phases: usize,
    /// What is forbidden, in every phase or in one.
    pub forbidden: usize,
    /// The conditions on entering and on leaving phases.
    pub conditions: usize,
    /// How many lines have a person asked about calls that no phase lists.
    #[serde(default, skip_serializing_if = "phasegate_core::values::is_default")]
    pub asks: usize,
    /// What becomes of a violation in block mode.
    #[serde(default, skip_serializing_if = "phasegate_core::values::is_default")]
    pub on_violation: OnViolation,
}

impl Strength {
    /// How much these configs ask for, where the clients start these servers.
    pub fn of(ready: &Ready, servers: Option<BTreeMap<String, String>>) -> Self {
        let digest = |rule: &phasegate_shell::Rule| sha256_hex(&serde_json::to_vec(rule).unwrap_or_default());
        let safety = &ready.policy.safety;
        let any = safety.any.then(|| "any".to_owned());
        Self {
            mode: ready.strictest(),
            skills: ready.policy.skills.iter().map(|skill| (skill.name.clone(), SkillStrength::of(skill))).collect(),
            programs: ready.settings.programs.iter().map(|(name, rule)| (name.clone(), digest(rule))).collect(),
            distrust_repository: ready.settings.distrust_repository,
            approves_reads: ready.policy.approve == Approve::Reads,
            classified: safety.programs.iter().chain(&safety.overrides).cloned().chain(any).collect(),
            servers,
        }
    }

    /// In what it asks for less than `before`, each as a fragment; empty if it does not.
    pub fn less_than(&self, before: &Self) -> Vec<String> {
        let mut less = Vec::new();
        if self.mode < before.mode {
            less.push("block mode is gone".to_owned());
        }
        for (name, was) in &before.skills {
            match self.skills.get(name) {
                None => less.push(format!("skill `{name}` is gone")),
                Some(is) => less.extend(is.less_than(was).into_iter().map(|what| format!("skill `{name}` has {what}"))),
            }
        }
        let new = |(name, digest): &(&String, &String)| before.programs.get(*name) != Some(digest);
        less.extend(
            self.programs.iter().filter(new).map(|(name, _)| format!("the settings trust the program `{name}`")),
        );
        let new = self.classified.difference(&before.classified);
        less.extend(new.map(|name| format!("the settings let agents classify `{name}`")));
        if before.distrust_repository && !self.distrust_repository {
            less.push("the repository's configuration is trusted".to_owned());
        }
        if self.approves_reads && !before.approves_reads {
            less.push("the user is no longer asked about calls that only read (`approve: reads`)".to_owned());
        }
        less
    }

    /// In what it asks for more than `before`, each as a fragment; empty if it does not.
    pub(crate) fn more_than(&self, before: &Self) -> Vec<String> {
        let mut more = Vec::new();
        if self.mode > before.mode {
            more.push("block mode is new".to_owned());
        }
        for (name, is) in &self.skills {
            match before.skills.get(name) {
                None => more.push(format!("skill `{name}` is new")),
                Some(was) => {
                    more.extend(is.more_than(was).into_iter().map(|what| format!("skill `{name}` has {what}")))
                }
            }
        }
        more
    }

    /// What a person is told of servers, settings and modules that are not as they were `before`, without some, each as a fragment.
    pub fn others(&self, before: &Self, without: &BTreeSet<String>) -> Vec<String> {
        let told = |(name, is_new)| match client_settings::file(name) {
            Some(file) => client_settings::notice(file, is_new),
            None if is_module(name) => modules::notice(name, is_new),
            None => servers::notice(name, is_new),
        };
        self.unproven(before).filter(|(name, _)| !without.contains(*name)).map(told).collect()
    }

    /// The servers, settings and modules that are not as they were `before`, and whether they are new.
    pub(crate) fn unproven<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = (&'a str, bool)> {
        let both = self.servers.as_ref().zip(before.servers.as_ref());
        both.into_iter().flat_map(|(now, known)| {
            let other = now.iter().filter(|(name, digest)| known.get(*name) != Some(digest));
            other.map(|(name, _)| (name.as_str(), !known.contains_key(name)))
        })
    }
}

impl SkillStrength {
    fn of(skill: &Skill) -> Self {
        let conditions = skill.phases.iter().flat_map(|phase| [&phase.requires, &phase.done_when]);
        let rules = || skill.phases.iter().filter_map(|phase| phase.unlisted.as_ref());
        let lines = || skill.unlisted_lines.iter().chain(rules().flat_map(|rule| &rule.lines));
        Self {
            mode: skill.mode,
            unlisted: skill.unlisted,
            unlisted_allowed: lines().filter(|line| line.passes).count(),
            leave: skill.leave_skill,
            starts: skill.start.len(),
            required: skill.finish_required,
            phases: skill.phases.len(),
            forbidden: skill.global_forbidden.len()
                + skill.phases.iter().map(|phase| phase.forbidden.len()).sum::<usize>()
                + lines().filter(|line| !line.passes).count(),
            conditions: conditions.flatten().count(),
            asks: lines().filter(|line| line.asks).count(),
            on_violation: skill.on_violation,
        }
    }

    fn more_than(&self, was: &Self) -> Vec<&'static str> {
        let all = [
            (self.mode > was.mode, "a stricter mode"),
            (self.unlisted > was.unlisted, "fewer calls allowed that it does not list"),
            (self.phases > was.phases, "more phases"),
            (self.forbidden > was.forbidden, "more forbidden calls"),
            (self.conditions > was.conditions, "more conditions"),
        ];
        all.into_iter().filter_map(|(more, what)| more.then_some(what)).collect()
    }

    fn less_than(&self, was: &Self) -> Vec<&'static str> {
        let all = [
            (self.mode < was.mode, "a weaker mode"),
            (
                self.unlisted < was.unlisted || self.unlisted_allowed > was.unlisted_allowed,
                "more calls allowed that it does not list",
            ),
            (
                self.on_violation < was.on_violation || self.asks > was.asks,
                "more calls that a person is asked about in place of a denial",
            ),
            (self.leave < was.leave, "fewer limits on who may leave it"),
            (self.starts < was.starts, "fewer ways to begin"),
            (was.required && !self.required, "no need to finish it"),
            (self.phases < was.phases, "fewer phases"),
            (self.forbidden < was.forbidden, "fewer forbidden calls"),
            (self.conditions < was.conditions, "fewer conditions"),
        ];
        all.into_iter().filter_map(|(less, what)| less.then_some(what)).collect()
    }
}

/// Whether a name is the folder of a module: those of servers have no sign of a path.
pub(crate) fn is_module(name: &str) -> bool {
    Path::new(name).is_absolute()
}

/// What a person is told of servers and modules that are others.
pub fn notice(less: &[String]) -> String {
    format!("phasegate: {}. `phasegate reload` accepts it.", less.join("; "))
}
