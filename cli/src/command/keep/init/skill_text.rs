//! The texts of `SKILL.md` files: a skill as an agent reads it.

use std::fmt::Write as _;

use phasegate_config::Demanded;
use phasegate_core::evidence::artifact::Artifact;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::plan::PlanFile;
use phasegate_core::policy::{ChildRuns, Phase, Skill};

/// The skill as an agent reads it: its inputs, its phases, what each is for, which calls it has, and what completes it.
///
/// `command` is what a person types right before its name.
pub(crate) fn text(skill: &Skill, command: &str) -> String {
    let mut text = front_matter(skill);
    let _ = write!(text, "\n{}\n", skill.description);
    text.push_str(&inputs(skill, command));
    text.push_str(
        "\nWork in these phases, in this order. phasegate checks each tool call against the current phase, \
         and says what is missing where a call comes too early.\n",
    );
    let common = common(skill);
    if !common.is_empty() {
        let _ = write!(text, "\nAllowed in each phase: {}.\n", listed(common));
    }
    phases(&mut text, skill, "");
    if !skill.global_forbidden.is_empty() {
        let _ = write!(text, "\nForbidden in every phase: {}.\n", listed(&skill.global_forbidden));
    }
    if skill.finish_required {
        text.push_str(
            "\nThe work must be finished: who stops before the last phase is done is told what is missing.\n",
        );
    }
    text
}

/// A skill of the client that another skill asks for, where the client has none of the name.
pub(crate) fn of_demanded(asked: &Demanded) -> String {
    let Demanded { name, by, phase, task, wanted, gate } = asked;
    let (when, look) = match gate {
        true => (
            ", when a wave has finished",
            " Look at what its tasks made as a whole, and say what does not fit together.",
        ),
        false => ("", ""),
    };
    let task = if task.is_empty() { String::new() } else { format!(" ({task})") };
    format!(
        "---\nname: {name}\ndescription: {}\n---\n\n\
         The skill `{by}` asks that this one is invoked in its phase \"{phase}\"{task}{when}.{look}\n\n\
         All that is asked there: {wanted}.\n\n\
         phasegate needs the invocation alone: what else is to be done here is for you to write.\n",
        quoted(&format!("Asked for by {by} in its phase {phase}{when}"))
    )
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn front_matter(skill: &Skill) -> String {
    let mut text = format!("---\nname: {}\ndescription: {}\n", skill.name, quoted(&skill.description));
    if !skill.inputs.is_empty() {
        let _ = writeln!(text, "argument-hint: {}", quoted(&values(skill)));
    }
    text.push_str("---\n");
    text
}

/// The values as a person types them.
fn values(skill: &Skill) -> String {
    skill.inputs.iter().map(|input| format!("{}=VALUE", input.name)).collect::<Vec<_>>().join(" ")
}

/// Which values have to be given.
fn inputs(skill: &Skill, command: &str) -> String {
    if skill.inputs.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\nIt needs values, which are given where it is invoked: `{command}{} {}`, or `{}` as the arguments of the call. Without \
         them it does not begin.\n\n",
        skill.name,
        values(skill),
        values(skill)
    );
    for input in &skill.inputs {
        let _ = writeln!(text, "* `{}`: one word that fits `{}`", input.name, input.pattern);
    }
    text
}

/// The calls that each phase has.
fn common(skill: &Skill) -> Vec<&Matcher> {
    let mut lists = skill.phases.iter().filter(|phase| phase.run.is_none()).map(|phase| &phase.allowed);
    let Some(first) = lists.next() else { return Vec::new() };
    let rest: Vec<_> = lists.collect();
    let in_all = |matcher: &&Matcher| !rest.is_empty() && rest.iter().all(|list| list.contains(matcher));
    first.iter().filter(in_all).collect()
}

fn phases(text: &mut String, skill: &Skill, margin: &str) {
    for (index, phase) in skill.phases.iter().enumerate() {
        let _ = write!(text, "\n{margin}{}. **{}**", index.saturating_add(1), phase.name);
        for part in parts(skill, phase) {
            let _ = write!(text, "\n{margin}   {part}");
        }
        if let Some(runs) = &phase.run {
            text.push('\n');
            of_runs(text, skill, runs, &format!("{margin}   "));
        }
    }
    text.push('\n');
}

/// The phases of the skills that a phase runs, each skill once.
fn of_runs(text: &mut String, skill: &Skill, runs: &ChildRuns, margin: &str) {
    let mut told: Vec<&str> = Vec::new();
    for run in &runs.each {
        let child = skill.children.iter().find(|child| child.name == run.skill);
        if let Some(child) = child.filter(|_| !told.contains(&run.skill.as_str())) {
            told.push(&run.skill);
            let _ = write!(text, "\n{margin}The phases of `{}`: {}", child.name, child.description);
            let common = common(child);
            if !common.is_empty() {
                let _ = writeln!(text, "\n\n{margin}Allowed in each of them: {}.", listed(common));
            }
            phases(text, child, margin);
        }
    }
}

/// The files of an artifact, those that are deprecated left out.
fn files(artifact: &Artifact) -> String {
    let named = artifact.paths.iter().filter(|path| !artifact.deprecated.contains(path));
    named.map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" or ")
}

fn listed<'m>(matchers: impl IntoIterator<Item = &'m Matcher>) -> String {
    matchers.into_iter().map(|matcher| format!("`{}`", matcher.text)).collect::<Vec<_>>().join(", ")
}

fn parts(skill: &Skill, phase: &Phase) -> Vec<String> {
    let mut parts = Vec::new();
    if phase.task.contains('\n') {
        parts.push("phasegate gives you the text of this phase when it begins.".to_string());
    } else if !phase.task.is_empty() {
        parts.push(format!("{}.", phase.task.trim_end_matches('.')));
    }
    if phase.optional.is_possible() {
        parts.push("This phase may be left out.".to_string());
    }
    let mut written: Vec<String> = skill.produced_in(phase).map(files).collect();
    written.dedup();
    // Two artifacts may be of the same files, one of them of more.
    let all = written.clone();
    written.retain(|files| !all.iter().any(|others| others != files && others.contains(files.as_str())));
    if !written.is_empty() {
        parts.push(format!("Write: {}.", written.join(", ")));
    }
    let common = common(skill);
    let own = |matcher: &&Matcher| {
        !common.contains(matcher) && !skill.produced_in(phase).any(|artifact| artifact.writes.contains(matcher))
    };
    let calls: Vec<&Matcher> = phase.allowed.iter().filter(own).collect();
    if let Some(runs) = &phase.run {
        parts.extend(runs_of(skill, runs));
    } else if !calls.is_empty() {
        let invokes = calls.iter().any(|matcher| matcher.invokes.is_some());
        let there = if invokes { " Skills and subagents count where the client has them." } else { "" };
        parts.push(format!("Calls: {}.{there}", listed(calls)));
    }
    if let Some(kind) = &phase.done_by {
        parts.push(format!("The subagent `{kind}` does it: start it."));
    }
    let always: Vec<&Matcher> = phase.always_forbidden().map(|(_, line)| line).collect();
    if !always.is_empty() {
        parts.push(format!("Forbidden: {}.", listed(always)));
    }
    for until in &phase.forbidden_until {
        let line = listed(phase.forbidden.get(until.line));
        parts.push(format!("Forbidden until this was seen: {}: {line}.", until.condition.wanted()));
    }
    if let Some(condition) = &phase.requires {
        parts.push(format!("Before it: {}.", condition.wanted()));
    }
    match (&phase.done_when, &phase.run) {
        (Some(condition), Some(runs)) if runs.gate => {
            parts.push(format!("After each wave, before the next one begins: {}.", condition.wanted()));
        }
        (Some(condition), _) => parts.push(format!("Done when this was seen: {}.", condition.wanted())),
        (None, _) => {}
    }
    let back: Vec<_> = phase.back.iter().filter_map(|back| skill.phases.get(back.to)).collect();
    if let [first, ..] = back.as_slice() {
        parts.push(format!("If it fails, go back to **{}**.", first.name));
    }
    parts
}

/// Which runs a phase consists of.
fn runs_of(skill: &Skill, runs: &ChildRuns) -> Vec<String> {
    if let (Some(plan), [run]) = (&runs.plan, runs.each.as_slice()) {
        return of_plan(skill, plan, &run.skill);
    }
    let each = runs.each.iter().map(|run| match run.branch.as_str() {
        "" => format!("`{}`", run.skill),
        branch => format!("`{}` (branch `{branch}`)", run.skill),
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let mut parts = vec![if runs.parallel {
        format!("It consists of these skills, at once: {each}.")
    } else {
        format!("It consists of these skills, in this order: {each}.")
    }];
    if runs.parallel {
        parts.push("A subagent that does one is started with the name of its branch in the prompt.".to_string());
    }
    parts
}

fn of_plan(skill: &Skill, plan: &PlanFile, run: &str) -> Vec<String> {
    let artifact = skill.artifacts.iter().find(|artifact| artifact.name == plan.artifact);
    let file = artifact.map(files).unwrap_or_default();
    let mut fields = vec![format!("`{}` names it", plan.id)];
    fields.extend(plan.after.iter().map(|after| format!("`{after}` lists those that come before it")));
    fields.extend(plan.barrier.iter().map(|wave| format!("`{wave}` is the number of its wave")));
    fields.extend(
        plan.inputs
            .iter()
            .filter(|input| input.name != plan.id)
            .map(|input| format!("`{}` is one word that fits `{}`", input.name, input.pattern)),
    );
    vec![
        format!("For each entry of the list in {file} the skill `{run}` is done. Of an entry, {}.", fields.join(", ")),
        "A subagent that does one is started with the name of that entry as a word of its prompt, and with no other. Entries \
         of one wave that wait for none can go on at once; without subagents, do one after the other."
            .to_string(),
    ]
}
