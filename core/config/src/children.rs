//! Skills that run others: each gets the skills that its phases run, as they are at the time.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::Code;
use phasegate_core::analysis::Invocation;
use phasegate_core::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::{ChildRun, Phase, Skill};

use crate::node::Span;
use crate::report::Finding;
use crate::shipped::shipped;
use crate::skills::Found;
use crate::suggestion::{did_you_mean, listed};

/// A place where a skill names one that it runs.
pub(crate) struct Named {
    file: usize,
    skill: String,
    child: String,
    span: Span,
}

impl Named {
    pub(crate) fn of(found: &Found) -> Vec<Self> {
        let (file, skill) = (found.file, &found.skill.name);
        let named = found.runs.iter();
        named.map(|run| Self { file, skill: skill.clone(), child: run.skill.clone(), span: run.span }).collect()
    }
}

/// Gives each skill the skills that its phases run, and reports those that it cannot.
pub(crate) fn embed(skills: &mut BTreeMap<String, Skill>, named: &[Named], report: &mut dyn FnMut(usize, Finding)) {
    let mut refused = BTreeSet::new();
    for name in named {
        if let Some(finding) = fault(skills, name) {
            report(name.file, finding);
            refused.insert((name.skill.clone(), name.child.clone()));
        }
    }
    let mut whole = BTreeMap::new();
    for name in skills.keys().cloned().collect::<Vec<_>>() {
        complete(&name, skills, &refused, &mut whole);
    }
    *skills = whole;
}

/// Why a skill cannot run another.
fn fault(skills: &BTreeMap<String, Skill>, name: &Named) -> Option<Finding> {
    let Some(child) = skills.get(&name.child) else {
        let known = skills.keys().map(String::as_str);
        let is_shipped = shipped().iter().any(|shipped| shipped.name == name.child);
        let hint = match did_you_mean(&name.child, known.clone()) {
            _ if is_shipped => format!("name it under `use` in `config.yaml`: [{}]", name.child),
            Some(meant) => meant,
            None => format!("the skills are {}", listed(known)),
        };
        let message = format!("there is no skill `{}`", name.child);
        return Some(Finding::error(Code::SkillUnknownUse, name.span, message).suggest(hint));
    };
    if let Some(through) = way(skills, &name.child, &name.skill, &mut BTreeSet::new()) {
        let message = format!("the skill `{}` runs itself: {} -> {through}", name.skill, name.skill);
        let finding = Finding::error(Code::ConfigValue, name.span, message);
        return Some(finding.suggest("remove one of these runs"));
    }
    if child.compat {
        let message = format!("`{}` is in the compat form, which no phase runs", name.child);
        return Some(Finding::error(Code::ConfigValue, name.span, message).suggest("write it in the strict form"));
    }
    let parent = skills.get(&name.skill)?;
    let given = |input: &&phasegate_core::input::Input| {
        !parent.inputs.iter().any(|own| own.name == input.name && own.pattern == input.pattern)
    };
    let missing = child.inputs.iter().find(given)?;
    let message = format!("`{}` has the input `{}`, for which `{}` has no value", name.child, missing.name, name.skill);
    let finding = Finding::error(Code::ConfigMissing, name.span, message);
    Some(
        finding
            .cause("values of inputs of the same name are handed on")
            .suggest(format!("add `{}: {:?}` to the `inputs` of `{}`", missing.name, missing.pattern, name.skill)),
    )
}

/// The names of the skills by which one runs another, if it does.
fn way(skills: &BTreeMap<String, Skill>, from: &str, to: &str, seen: &mut BTreeSet<String>) -> Option<String> {
    if from == to {
        return Some(to.to_owned());
    }
    if !seen.insert(from.to_owned()) {
        return None;
    }
    let mut next = skills.get(from)?.phases.iter().flat_map(names);
    next.find_map(|name| Some(format!("{from} -> {}", way(skills, name, to, seen)?)))
}

fn names(phase: &Phase) -> impl Iterator<Item = &str> {
    phase.run.iter().flat_map(|runs| &runs.each).map(|run| run.skill.as_str())
}

/// Completes a skill, after those that it runs.
fn complete(
    name: &str,
    skills: &BTreeMap<String, Skill>,
    refused: &BTreeSet<(String, String)>,
    whole: &mut BTreeMap<String, Skill>,
) {
    if whole.contains_key(name) {
        return;
    }
    let Some(mut skill) = skills.get(name).cloned() else { return };
    let wanted: BTreeSet<String> = skill.phases.iter().flat_map(names).map(ToOwned::to_owned).collect();
    for child in wanted.iter().filter(|child| !refused.contains(&(name.to_owned(), (*child).clone()))) {
        complete(child, skills, refused, whole);
        skill.children.extend(whole.get(child).cloned());
    }
    let children = skill.children.clone();
    for runs in skill.phases.iter_mut().filter_map(|phase| phase.run.as_mut()) {
        let known = |run: &ChildRun| children.iter().find(|child| child.name == run.skill);
        let lines = runs.each.iter().filter_map(known).flat_map(|child| &child.phases).flat_map(Phase::enters).cloned();
        let invocations = runs.each.iter().map(|run| invocation(&run.skill));
        for line in lines.chain(invocations) {
            if !runs.enters.contains(&line) {
                runs.enters.push(line);
            }
        }
    }
    for child in &children {
        skill.servers.extend(child.servers.iter().cloned());
        let new = child.tools.iter().filter(|note| !skill.tools.contains(note)).cloned();
        let new: Vec<_> = new.collect();
        skill.tools.extend(new);
    }
    skill.servers.sort_unstable();
    skill.servers.dedup();
    whole.insert(name.to_owned(), skill);
}

/// The call that invokes a skill.
fn invocation(skill: &str) -> Matcher {
    Matcher {
        text: format!("invokes the skill {skill}"),
        tool: ToolPattern::Any,
        server: ServerPattern::Bare,
        args: Vec::new(),
        commands: Vec::new(),
        paths: Vec::new(),
        invokes: Some(Box::new(Invocation::Skill(skill.to_owned()))),
        agent: None,
        except: Vec::new(),
    }
}
