//! Files of artifacts that lie where they no longer belong: they count, and the agent is told so once a run (rules 3.3).

use serde_json::Value;

use crate::answers::decision::Decision;
use crate::calls::analysis::Access;
use crate::events::event::{Event, EventKind};
use crate::evidence::artifact::Artifact;
use crate::evidence::eval::World;
use crate::policy::Policy;
use crate::prelude::*;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{DeprecatedFile, Run, State};
use crate::values::glob::path_fits;

/// Tells of the first such file of each artifact that a run is seen to have, or that a call is let through to write.
pub(crate) fn tell(world: &World<'_>, policy: &Policy, draft: &mut Draft, event: &Event, decision: Option<&Decision>) {
    let written = if decision.is_none_or(Decision::lets_through) { written(event) } else { Vec::new() };
    let asked = world.asks("contents");
    if written.is_empty() && !asked {
        return;
    }
    let mut changes = Vec::new();
    let state = draft.state();
    for run in state.live_runs() {
        let written = if lists_newest(state, run) { written.as_slice() } else { &[] };
        if written.is_empty() && !asked {
            continue;
        }
        let Some(skill) = policy.skill_version(&run.skill, &run.version) else { continue };
        let artifacts = skill.artifacts.iter().filter(|artifact| !artifact.deprecated.is_empty());
        for artifact in artifacts.filter(|artifact| run.deprecated.iter().all(|file| file.artifact != artifact.name)) {
            let found = world.seen_in_run(&artifact.content, run);
            let found = found.as_ref().and_then(Value::as_object).into_iter().flat_map(|files| files.keys());
            let mut paths = found.map(String::as_str).chain(written.iter().copied());
            let Some(path) = paths.find(|path| is_deprecated(artifact, path)) else { continue };
            let file = DeprecatedFile { artifact: artifact.name.clone(), path: path.into() };
            let text = format!("phasegate: {}.", told(artifact, &file));
            changes.push(Change::NoticeDue { run: run.id.clone(), about: artifact.name.clone(), text });
            changes.push(Change::DeprecatedUsed { run: run.id.clone(), file });
        }
    }
    changes.into_iter().for_each(|change| draft.change(change));
}

/// Whether the phase of a run lists the newest call of the session.
fn lists_newest(state: &State, run: &Run) -> bool {
    let visits = state.session.calls.last().into_iter().flat_map(|call| &call.visits);
    visits.into_iter().any(|visit| visit.run == run.id && visit.visit == run.visit && visit.listed)
}

/// What is said of such a file.
pub(crate) fn told(artifact: &Artifact, file: &DeprecatedFile) -> String {
    let current: Vec<String> = artifact
        .paths
        .iter()
        .filter(|path| !artifact.deprecated.contains(path))
        .map(|path| format!("`{path}`"))
        .collect();
    let (path, name) = (&file.path, &file.artifact);
    format!("`{path}` counts for the artifact `{name}`, but that place is deprecated: use {}", current.join(" or "))
}

/// The paths that a call writes, as far as they are known.
fn written(event: &Event) -> Vec<&str> {
    let EventKind::ToolCall { analysis, .. } = &event.kind else { return Vec::new() };
    let writes = analysis.paths.iter().filter(|path| path.access == Access::Write);
    writes.filter_map(|path| path.resolved.as_deref()).collect()
}

/// Whether a path of the artifact selects the file, and only one that is deprecated.
fn is_deprecated(artifact: &Artifact, path: &str) -> bool {
    let selects = |pattern: &&String| path_fits(pattern, path);
    let mut current = artifact.paths.iter().filter(|pattern| !artifact.deprecated.contains(pattern));
    artifact.deprecated.iter().any(|pattern| selects(&pattern)) && !current.any(|pattern| selects(&pattern))
}
