//! The configs: which there are, and what they mean.

use phasegate_adapter::{Finding, Level};
use phasegate_core::policy::Mode;

use crate::policies::policy_store::{Current, Ready, strictest_of_skills, summary};
use crate::project::Project;
use crate::project::strays::strays;
use crate::runtime::Runtime;

pub(super) fn examine(runtime: &Runtime, project: &Project) -> Vec<Finding> {
    let files: Vec<_> = runtime.discover(project).files.iter().map(|file| format!("`{}`", file.path)).collect();
    let mut found = Vec::new();
    if !files.is_empty() {
        found.push(Finding::new(Level::Ok, format!("configs found: {}", files.join(", "))));
    }
    found.extend(strays(&project.root).into_iter().map(|stray| {
        Finding::new(Level::Warning, format!("`{}`: {}", stray.path, stray.message))
            .with(stray.suggestion.unwrap_or_default())
    }));
    let remembered = match project.remembered() {
        Ok(remembered) => remembered,
        Err(problem) => {
            found.push(Finding::new(Level::Problem, problem.message.clone()).with(problem.remedy()));
            None
        }
    };
    match runtime.current(project) {
        Ok(Current::Ready(ready)) => found.extend(ready_findings(&ready)),
        Ok(Current::Invalid { diagnostics, .. }) => {
            found.push(Finding::new(Level::Problem, summary(&diagnostics)).with("run `phasegate check`"));
        }
        Ok(Current::Unguarded) => {
            let what = match remembered {
                Some(_) => "the project is guarded but has no config",
                None => "no config guards the project",
            };
            found.push(Finding::new(Level::Problem, what).with("run `phasegate init`"));
        }
        Err(problem) => found.push(Finding::new(Level::Problem, problem.message.clone()).with(problem.remedy())),
    }
    if let Ok(Some(offer)) = runtime.offer(project) {
        let what = format!("the configs changed, and the accepted ones stay in force: {}", offer.difference.join("; "));
        let level = if offer.usable { Level::Warning } else { Level::Problem };
        found.push(Finding::new(level, what).with(format!("{} Their digest: {}", offer.way, offer.digest)));
    }
    let other = runtime.other_servers(project).unwrap_or_default();
    if !other.is_empty() {
        found.push(Finding::new(Level::Warning, other.join("; ")).with("accept it: `phasegate reload`"));
    }
    if remembered.is_some_and(|memory| memory.damaged) {
        let what = format!("`{}` is damaged: the project counts as guarded in block mode", project.memory().display());
        found.push(Finding::new(Level::Problem, what).with("nothing to do: the next call of a session writes it anew"));
    } else if let Some(memory) = remembered {
        let what = format!("remembered outside of the project: guarded, {} mode", memory.mode.word());
        found.push(Finding::new(Level::Ok, what));
    }
    found
}

fn ready_findings(ready: &Ready) -> Vec<Finding> {
    let skills: Vec<_> = ready.policy.skills.iter().map(|skill| skill.name.as_str()).collect();
    let mut parts = vec![format!("policy {}", ready.policy.version)];
    if !skills.is_empty() {
        parts.push(format!("skills {}", skills.join(", ")));
    }
    parts.extend(rules(ready));
    if !ready.policy.budgets.is_empty() {
        let names: Vec<_> = ready.policy.budgets.iter().map(|budget| budget.name.as_str()).collect();
        parts.push(format!("budgets {}", names.join(", ")));
    }
    if !ready.policy.access.is_normal() {
        parts.push(format!("access {}", ready.policy.access.word()));
    }
    let mut found = vec![Finding::new(Level::Ok, format!("valid: {}", parts.join("; ")))];
    // The first part is the version alone.
    if parts.len() == 1 {
        found.push(Finding::new(Level::Warning, "the configs name no skill, so no phase is ever enforced").with(
            "name a shipped skill under `use` in `.phasegate/config.yaml`, or write one into `.phasegate/skills/`",
        ));
    }
    let of_skills = strictest_of_skills(&ready.policy, ready.settings.mode);
    found.push(match ready.strictest() {
        Mode::Block if of_skills != Mode::Block => {
            let what = "rules, budgets and access deny; violations of skills run and are reported (`mode: warn`)";
            Finding::new(Level::Ok, what)
        }
        Mode::Block => Finding::new(Level::Ok, "block mode: violations are denied"),
        Mode::Warn => Finding::new(Level::Note, "warn mode: violations run and are reported")
            .with("set `mode: block` in `.phasegate/config.yaml` to deny them"),
    });
    if !ready.own {
        let what = "only configs of the user or the machine apply; a project without its own is not remembered";
        found.push(Finding::new(Level::Note, what));
    }
    found
}

/// The packs and the number of the rules.
fn rules(ready: &Ready) -> Option<String> {
    let levels = ready.policy.rules.iter().flat_map(|rules| &rules.levels);
    let ids: Vec<&str> = levels.flat_map(|level| level.rules.rules()).map(|rule| rule.id.as_str()).collect();
    let mut packs: Vec<&str> = ids.iter().filter_map(|id| Some(id.split_once('/')?.0)).collect();
    packs.dedup();
    let of = if packs.is_empty() { String::new() } else { format!(" (packs {})", packs.join(", ")) };
    let number = if ids.len() == 1 { "rule" } else { "rules" };
    (!ids.is_empty()).then(|| format!("{} {number}{of}", ids.len()))
}
