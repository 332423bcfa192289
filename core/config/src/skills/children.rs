//! Skills that run others: each gets the skills that its phases run, as they are at the time.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::calls::analysis::Invocation;
use phasegate_core::policy::input::{BRANCH, Input, PART, Values};
use phasegate_core::policy::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::plan::PlanFile;
use phasegate_core::policy::{ChildRun, Phase, Skill};
use phasegate_core::{Code, FactKey};
use serde_json::Value;

use crate::read::node::Span;
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::skills::Found;
use crate::skills::instance::{self, matcher_of, sample};

/// A place where a skill names one that it runs.
pub(crate) struct Named {
    pub(crate) file: usize,
    pub(crate) skill: String,
    pub(crate) child: String,
    pub(crate) span: Span,
    /// Whether the fields of an element give values too.
    plan: bool,
    /// The name of the branch, in a parallel phase.
    branch: Option<String>,
}

impl Named {
    pub(crate) fn of(found: &Found) -> Vec<Self> {
        let (file, skill) = (found.file, &found.skill.name);
        let named = found.runs.iter();
        named
            .map(|run| Self {
                file,
                skill: skill.clone(),
                child: run.skill.clone(),
                span: run.span,
                plan: run.plan,
                branch: run.branch.clone(),
            })
            .collect()
    }
}

/// Gives each skill the skills that its phases run, and reports those that it cannot.
///
/// What a shipped skill runs and nobody has named is the shipped skill of that name.
pub(crate) fn embed(
    skills: &mut BTreeMap<String, Skill>,
    named: &[Named],
    shipped: &dyn Fn(&str) -> Option<Skill>,
    report: &mut dyn FnMut(usize, Finding),
) {
    let mut refused = BTreeSet::new();
    for name in named {
        if let Some(finding) = fault(skills, shipped, name) {
            report(name.file, finding);
            refused.insert((name.skill.clone(), name.child.clone()));
        }
    }
    let mut whole = BTreeMap::new();
    for name in skills.keys().cloned().collect::<Vec<_>>() {
        Embedding { skills, shipped, refused: &refused }.complete(&name, &mut whole);
    }
    for name in named {
        let found = whole.get(&name.skill).map(|skill| [shared_file(skill, name), starts_others(skill, name)]);
        found.into_iter().flatten().flatten().for_each(|finding| report(name.file, finding));
    }
    whole.values_mut().filter(|skill| uses_part(skill)).for_each(|skill| instance::put(skill, PART, ""));
    *skills = whole;
}

/// Whether the files of a skill are named by the place in which it is run.
fn uses_part(skill: &Skill) -> bool {
    let paths = || skill.artifacts.iter().flat_map(|artifact| &artifact.paths);
    paths().any(|path| path.contains(&sample(PART)))
}

/// Gives each place in which a skill runs another a value of its own, where that one uses it and there are several.
fn place(skill: &mut Skill, child: &mut Skill) {
    let is_its = |run: &&mut ChildRun| run.skill == child.name;
    let phases = || skill.phases.iter().filter_map(|phase| phase.run.as_ref());
    let places = phases().flat_map(|runs| &runs.each).filter(|run| run.skill == child.name).count();
    if !uses_part(child) {
        return;
    }
    if places < 2 {
        return instance::put(child, PART, "");
    }
    child.inputs.push(Input { name: PART.to_owned(), pattern: ".+".to_owned(), value: None });
    for phase in &mut skill.phases {
        let mut runs: Vec<&mut ChildRun> =
            phase.run.iter_mut().flat_map(|runs| &mut runs.each).filter(is_its).collect();
        let alone = runs.len() == 1;
        let named = phase.name.replace(|letter: char| !(letter.is_ascii_alphanumeric() || "._-".contains(letter)), "-");
        for (at, run) in runs.iter_mut().enumerate() {
            run.part = match run.branch.as_str() {
                _ if alone => format!("{named}-"),
                "" => format!("{named}-{}-", at + 1),
                branch => format!("{named}-{branch}-"),
            };
        }
    }
}

/// That a skill denies starts of subagents, and one that it runs does not: while that one judges, the line denies nothing.
fn starts_others(skill: &Skill, name: &Named) -> Option<Finding> {
    let denies = |skill: &Skill| {
        let of_phases = skill.phases.iter().filter_map(|phase| phase.unlisted.as_ref()).flat_map(|rule| &rule.lines);
        let mut lines = skill.unlisted_lines.iter().chain(of_phases);
        lines.any(|line| !line.passes && matches!(line.matcher.invokes.as_deref(), Some(Invocation::Agent(_))))
    };
    let child = skill.children.iter().find(|child| child.name == name.child)?;
    let judges = child.phases.iter().any(|phase| phase.done_by.is_some());
    if !judges || !denies(skill) || denies(child) {
        return None;
    }
    let message = format!("`{}` denies starts of subagents, and `{}`, which it runs, does not", skill.name, child.name);
    Some(
        Finding::warning(Code::ConfigValue, name.span, message)
            .cause("while a skill that is run judges, `unlisted` of the one that runs it says nothing")
            .suggest(format!("add `unlisted: [{{deny: [{{starts: TYPE}}]}}, read_only]` to `{}`", child.name)),
    )
}

/// The file that a branch makes and one before it makes too: what the one leaves counts for the other.
fn shared_file(skill: &Skill, name: &Named) -> Option<Finding> {
    let branch = name.branch.as_ref()?;
    let mut parallel = skill.phases.iter().filter_map(|phase| phase.run.as_ref()).filter(|run| run.parallel);
    let all = parallel.find_map(|run| {
        let at = run.each.iter().position(|one| one.branch == *branch && one.skill == name.child)?;
        Some((run.each.get(..at)?, run.each.get(at)?))
    });
    let (before, this) = all?;
    let own = files_of(skill, this);
    let other = before
        .iter()
        .find_map(|other| Some((other, files_of(skill, other).into_iter().find(|file| own.contains(file))?)));
    let (other, file) = other?;
    let message = format!("the branches `{}` and `{branch}` both make `{file}`", other.branch);
    let finding = Finding::warning(Code::ConfigValue, name.span, message);
    Some(
        finding
            .cause("what one of them leaves there counts for the other too")
            .suggest("put `${branch}` into the path of the artifact, or run the skills one after the other"),
    )
}

/// The files that the phases of a branch's skill make, with the name of the branch put in.
fn files_of(skill: &Skill, run: &ChildRun) -> Vec<String> {
    let Some(child) = skill.children.iter().find(|child| child.name == run.skill) else { return Vec::new() };
    let made = child.phases.iter().flat_map(|phase| child.produced_in(phase));
    made.flat_map(|artifact| &artifact.paths)
        .map(|path| path.replace("${branch}", &run.branch).replace(&sample(PART), &run.part))
        .collect()
}

/// Why a skill cannot run another.
fn fault(skills: &BTreeMap<String, Skill>, shipped: &dyn Fn(&str) -> Option<Skill>, name: &Named) -> Option<Finding> {
    let unnamed = || shipped(&name.child);
    let Some(child) = skills.get(&name.child).cloned().or_else(unnamed) else {
        let known = skills.keys().map(String::as_str);
        let meant = did_you_mean(&name.child, known.clone());
        let hint = meant.unwrap_or_else(|| format!("the skills are {}", listed(known)));
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
    if let Some(input) = child.inputs.iter().find(|input| input.name == BRANCH)
        && let Some(finding) = without_branch(name, input)
    {
        return Some(finding);
    }
    let parent = skills.get(&name.skill)?;
    let given = |input: &&Input| {
        input.name != BRANCH && !parent.inputs.iter().any(|own| own.name == input.name && own.pattern == input.pattern)
    };
    let missing = child.inputs.iter().find(given).filter(|_| !name.plan)?;
    let message = format!("`{}` has the input `{}`, for which `{}` has no value", name.child, missing.name, name.skill);
    let finding = Finding::error(Code::ConfigMissing, name.span, message);
    Some(
        finding
            .cause("values of inputs of the same name are handed on")
            .suggest(format!("add `{}: {:?}` to the `inputs` of `{}`", missing.name, missing.pattern, name.skill)),
    )
}

/// Why a skill that uses the name of its branch has none there.
fn without_branch(name: &Named, input: &Input) -> Option<Finding> {
    let (message, hint) = match &name.branch {
        Some(branch) if input.takes(branch) => return None,
        Some(branch) => (
            format!("`{}` uses `${{branch}}`, and `{branch}` cannot stand in a path", name.child),
            "name the branch with letters, digits and `._-`".to_owned(),
        ),
        None => (
            format!("`{}` uses `${{branch}}`, and this phase has no branches", name.child),
            "run it in a `parallel` phase, or give it an input of another name".to_owned(),
        ),
    };
    Some(Finding::error(Code::ConfigValue, name.span, message).suggest(hint))
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

/// The skills of a policy, to be completed.
struct Embedding<'a> {
    skills: &'a BTreeMap<String, Skill>,
    shipped: &'a dyn Fn(&str) -> Option<Skill>,
    /// Which skill cannot run which.
    refused: &'a BTreeSet<(String, String)>,
}

impl Embedding<'_> {
    /// Completes a skill, after those that it runs.
    fn complete(&self, name: &str, whole: &mut BTreeMap<String, Skill>) {
        if whole.contains_key(name) {
            return;
        }
        let Some(mut skill) = self.skills.get(name).cloned() else { return };
        self.fill(&mut skill, whole);
        whole.insert(name.to_owned(), skill);
    }

    /// Gives a skill those that it runs.
    fn fill(&self, skill: &mut Skill, whole: &mut BTreeMap<String, Skill>) {
        let wanted: BTreeSet<String> = skill.phases.iter().flat_map(names).map(ToOwned::to_owned).collect();
        let own = skill.name.clone();
        for child in wanted.iter().filter(|child| !self.refused.contains(&(own.clone(), (*child).clone()))) {
            self.complete(child, whole);
            let known = whole.get(child).cloned();
            let is_known = known.is_some();
            let Some(mut found) = known.or_else(|| (self.shipped)(child)) else { continue };
            if !is_known {
                self.fill(&mut found, whole);
            }
            place(skill, &mut found);
            skill.children.push(found);
        }
        enter_and_hand_on(skill);
    }
}

/// Takes over from the skills that a skill runs what it is entered by, and what belongs to their calls.
fn enter_and_hand_on(skill: &mut Skill) {
    let children = skill.children.clone();
    for runs in skill.phases.iter_mut().filter_map(|phase| phase.run.as_mut()) {
        if let (Some(plan), Some(run)) = (&mut runs.plan, runs.each.first())
            && let Some(child) = children.iter().find(|child| child.name == run.skill)
        {
            fill(plan, child, &skill.inputs);
        }
        let any = runs
            .plan
            .as_ref()
            .map(|plan| plan.inputs.iter().map(|input| (input.name.clone(), ANY.to_owned())).collect());
        let lines = runs.each.iter().flat_map(|run| lines_of(&children, run));
        let invocations = runs.each.iter().map(|run| invocation(&run.skill));
        for line in lines.chain(invocations) {
            let line = any.as_ref().and_then(|any| matcher_of(&line, any)).unwrap_or(line);
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
}

/// The calls of the skill that is run, with what its place gives put in.
fn lines_of(children: &[Skill], run: &ChildRun) -> Vec<Matcher> {
    let known = children.iter().find(|child| child.name == run.skill);
    let given = Values::from([(BRANCH.to_owned(), run.branch.clone()), (PART.to_owned(), run.part.clone())]);
    let of_branch = |line: &Matcher| matcher_of(line, &given).unwrap_or_else(|| line.clone());
    known.into_iter().flat_map(|child| &child.phases).flat_map(Phase::enters).map(of_branch).collect()
}

/// What stands for the values of elements in the calls that enter the phase: which elements there are, the plan says.
const ANY: &str = "*";

/// What the fields of an element give: the inputs of its run that the skill with the plan does not hand on.
fn fill(plan: &mut PlanFile, child: &Skill, own: &[Input]) {
    let handed_on = |input: &&Input| own.iter().any(|one| one.name == input.name && one.pattern == input.pattern);
    plan.inputs = child.inputs.iter().filter(|input| !handed_on(input)).cloned().collect();
    let mut arguments = plan.fact.args();
    let fields = arguments.get_mut("fields").and_then(Value::as_array_mut);
    let names = plan.inputs.iter().map(|input| Value::from(input.name.as_str()));
    if let Some(fields) = fields {
        for name in names {
            if !fields.contains(&name) {
                fields.push(name);
            }
        }
    }
    plan.fact = FactKey::new("elements", &arguments);
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
