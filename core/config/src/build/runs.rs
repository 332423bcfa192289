//! Runs that a phase consists of, as written.

use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::matcher::{Matcher, Use};
use phasegate_core::policy::plan::PlanFile;
use phasegate_core::policy::{ChildRun, ChildRuns, Phase};
use phasegate_core::{Code, FactKey};
use serde_json::json;

use super::artifact;
use super::builder::{Builder, RunName, child};
use super::condition::{self, Seen};
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::source::{BranchObject, BranchSource, EachSource, PhaseSource, RunSource};

/// The keys that a phase with `run` does not have: the runs have them.
const WITHOUT: [&str; 5] = ["allowed", "done_by", "done_when", "failed_when", "leave"];

/// The runs of a phase. The skills are looked up when all are known.
pub(super) fn runs(builder: &mut Builder<'_>, source: &PhaseSource, node: &Node) -> Option<Box<ChildRuns>> {
    let written = source.run.as_ref()?;
    let at = child(node, "run");
    let of_plan = matches!(written, RunSource::Each(_)).then_some("produces");
    for key in WITHOUT.into_iter().chain(of_plan) {
        if let Some(entry) = node.entry(key) {
            let message = format!("a phase with `run` has no `{key}`");
            let finding = Finding::error(Code::ConfigValue, entry.key_span, message);
            builder.findings.push(
                finding
                    .cause("the skills that it runs say so")
                    .suggest("put it into one of these skills, or remove it"),
            );
        }
    }
    let mut runs = ChildRuns::default();
    match written {
        RunSource::Skill(name) => add(builder, &mut runs, only(name), at.span),
        RunSource::List(names) => {
            for (name, node) in names.iter().zip(at.items()) {
                add(builder, &mut runs, only(name), node.span);
            }
        }
        RunSource::Each(_) => {}
        RunSource::Parallel(branches) => {
            runs.parallel = true;
            // The mapping of the source has lost the order of the file; the tree has it.
            for entry in child(at, "parallel").entries() {
                let Some(branch) = branches.parallel.get(&entry.key) else { continue };
                let (skill, may_fail) = match branch {
                    BranchSource::Skill(skill) => (skill, false),
                    BranchSource::Object(BranchObject { skill, fail_on_error }) => {
                        (skill, *fail_on_error == Some(false))
                    }
                };
                let run = ChildRun { branch: entry.key.clone(), may_fail, ..only(skill) };
                add(builder, &mut runs, run, child(&entry.node, "skill").span);
            }
        }
    }
    if let RunSource::Each(each) = written {
        runs.plan = plan(builder, each, at);
        runs.gate = each.gate.is_some();
        runs.each.push(only(&each.skill));
        builder.runs.push(RunName {
            skill: each.skill.clone(),
            span: child(at, "skill").span,
            plan: true,
            branch: None,
        });
    }
    if runs.each.is_empty() {
        let finding = Finding::error(Code::ConfigMissing, at.span, "`run` names no skill");
        builder.findings.push(finding.suggest("name a skill, or remove the key"));
    }
    Some(Box::new(runs))
}

/// Where the plan is whose elements the phase runs.
fn plan(builder: &mut Builder<'_>, source: &EachSource, node: &Node) -> Option<Box<PlanFile>> {
    if !(source.at.is_empty() || source.at.starts_with('/')) {
        let finding = Finding::error(Code::ConfigValue, child(node, "at").span, "`at` is not a JSON pointer");
        builder.findings.push(finding.suggest(format!("write `at: /{}`", source.at)));
    }
    let artifact = artifact::named(builder, &source.each, child(node, "each").span)?;
    let id = source.id.clone().unwrap_or_else(|| "id".to_owned());
    let fields: Vec<&String> =
        [Some(&id), source.after.as_ref(), source.barrier.as_ref()].into_iter().flatten().collect();
    let fact = FactKey::new("elements", &json!({"paths": artifact.paths, "at": source.at, "fields": fields}));
    Some(Box::new(PlanFile {
        artifact: artifact.name.clone(),
        content: artifact.content.clone(),
        fact,
        format: artifact.format.is_some(),
        id,
        after: source.after.clone(),
        barrier: source.barrier.clone(),
        inputs: Vec::new(),
    }))
}

/// What the gate of a phase asks for after each wave, and the calls that it lists there.
pub(super) struct WaveGate {
    pub(super) condition: Condition,
    pub(super) lines: Vec<Matcher>,
    pub(super) span: Span,
}

/// The gate of a phase that runs the elements of a plan.
pub(super) fn gate(builder: &mut Builder<'_>, source: &PhaseSource, node: &Node, seen: &mut Seen) -> Option<WaveGate> {
    let Some(RunSource::Each(each)) = &source.run else { return None };
    let node = child(child(node, "run"), "gate");
    let condition = condition::build(builder, each.gate.as_ref()?, node, seen)?;
    let mut lines: Vec<Matcher> = Vec::new();
    condition.each_use(Use::Permit, &mut |test, used| {
        if used == Use::Permit && !lines.contains(&test.matcher) {
            lines.push(test.matcher.clone());
        }
    });
    Some(WaveGate { condition, lines, span: node.span })
}

fn only(skill: &str) -> ChildRun {
    ChildRun { branch: String::new(), skill: skill.to_owned(), part: String::new(), may_fail: false }
}

fn add(builder: &mut Builder<'_>, runs: &mut ChildRuns, run: ChildRun, span: Span) {
    let branch = runs.parallel.then(|| run.branch.clone());
    builder.runs.push(RunName { skill: run.skill.clone(), span, plan: false, branch });
    runs.each.push(run);
}

/// Reports a first phase that cannot be the first of a skill that runs others.
pub(super) fn first(builder: &mut Builder<'_>, phases: &[Phase], span: Span) {
    let runs_others = phases.iter().any(|phase| phase.run.is_some());
    let Some(phase) = phases.first().filter(|_| runs_others) else { return };
    let parallel = phase.run.as_ref().is_some_and(|run| run.parallel);
    let optional = phase.optional.is_possible();
    let what = match (parallel, optional) {
        _ if phase.plan().is_some() => "one that runs the elements of a plan",
        (_, true) => "optional",
        (true, _) => "parallel",
        _ => return,
    };
    let message = format!("the first phase of a skill that runs others is not {what}");
    let finding = Finding::error(Code::ConfigValue, span, message);
    builder.findings.push(finding.suggest("put a phase before it"));
}

/// Reports a first phase that is not linear, where the skill demands one: one run or lines of its own, always entered.
pub(super) fn first_is_linear(builder: &mut Builder<'_>, phases: &[Phase], span: Span) {
    let Some(phase) = phases.first() else { return };
    let run = phase.run.as_ref();
    let what = match phase {
        _ if phase.optional.is_possible() => "is optional",
        _ if phase.plan().is_some() => "runs the elements of a plan",
        _ if run.is_some_and(|run| run.parallel) => "has parallel branches",
        _ if run.is_some_and(|run| run.each.len() > 1) => "consists of several runs",
        _ => return,
    };
    let message = format!("the skill demands a linear first phase, and `{}` {what}", phase.name);
    let finding = Finding::error(Code::ConfigValue, span, message);
    builder.findings.push(finding.suggest("put a linear phase before it, or remove `first_phase: linear`"));
}
