//! What belongs to one adapter: its recorded sessions, played and compared.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use phasegate_runtime::digest::sha256_hex;
use serde_json::json;

use crate::blessing::blessing;
use crate::compare::subset;
use crate::loading::Loading;
use crate::play::folders::cases;
use crate::play::player::{Played, Stage};
use crate::play::session::{Answer, SESSIONS, Session, Sessions};
use crate::report::outcome;
use crate::texts;

use crate::texts::wording;
use crate::trial::{Check, Mismatch, Trial};

/// Adds the trials of every recorded session of an adapter.
pub(crate) fn sessions(loading: &mut Loading, adapter: &str) {
    let folder = format!("{adapter}/sessions/");
    let names: BTreeSet<String> = loading
        .below(&folder)
        .iter()
        .filter_map(|path| path.strip_prefix(&folder)?.split_once('/').map(|(name, _)| name.to_string()))
        .collect();
    unrecorded(loading, adapter, &names);
    let path = format!("{adapter}/{SESSIONS}");
    let kept = loading.unused.contains(&path).then(|| loading.take(&path)).flatten().unwrap_or_default();
    let kept = Sessions::parse(&kept).unwrap_or_else(|problem| {
        loading.fails(&path, &problem);
        Sessions::default()
    });
    let mut scripts: Vec<_> = kept.unused(&names).iter().map(|problem| Mismatch::broken(&path, problem)).collect();
    for name in names {
        let frames = loading.take(&format!("{folder}{name}/frames.jsonl")).unwrap_or_default();
        match Session::parse(adapter, &name, &kept, &frames) {
            Ok(session) => {
                scripts.extend(script(&session));
                let id = format!("session/{}", session.id());
                let session = Arc::new(session);
                let run = Box::new(move || compare(&session));
                let area = format!("{adapter}/sessions");
                loading.trials.push(Trial { id, check: Check::Session, adapter: Some(adapter.into()), area, run });
            }
            Err(problem) => loading.fails(&format!("{folder}{name}"), &problem),
        }
    }
    let (id, area) = (format!("suite/{adapter}/scripts"), format!("{adapter}/sessions"));
    let run = Box::new(move || scripts.clone());
    loading.trials.push(Trial { id, check: Check::Suite, adapter: Some(adapter.into()), area, run });
}

/// Where the stories are: those for every client, and in a folder of its id those of one.
fn stories() -> PathBuf {
    cases().join("../stories")
}

/// The script of a story for this client: its own of that name, else the one for every client.
fn story(adapter: &str, name: &str) -> PathBuf {
    let (own, common) = (format!("{adapter}/{name}.json"), format!("{name}.json"));
    let own = stories().join(own);
    if own.exists() { own } else { stories().join(common) }
}

/// One trial for each story and version: the client has played it.
fn unrecorded(loading: &mut Loading, adapter: &str, names: &BTreeSet<String>) {
    let named = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".json").map(str::to_string))
    };
    let stories: BTreeSet<String> = named(stories()).chain(named(stories().join(adapter))).collect();
    for version in phasegate_adapters::find(adapter).into_iter().flat_map(|adapter| adapter.diagnostics().versions()) {
        for story in &stories {
            let name = format!("{story}@{version}");
            let missing = !names.contains(&name);
            let wanted = format!("a session: cargo xtask record {story} --client {adapter}");
            let run = Box::new(move || {
                let mismatch = || Mismatch::new("sessions", "frames", json!(wanted), json!(null));
                missing.then(mismatch).into_iter().collect()
            });
            let id = format!("session/{adapter}/cells/{name}");
            let area = format!("{adapter}/cells");
            loading.trials.push(Trial { id, check: Check::Session, adapter: Some(adapter.into()), area, run });
        }
    }
}

/// Every recorded session of every adapter.
///
/// # Errors
///
/// A session that cannot be read.
pub fn all_sessions() -> Result<Vec<Session>, String> {
    let mut sessions = Vec::new();
    for adapter in phasegate_adapters::all() {
        let folder = cases().join(adapter.id());
        let text =
            |path: PathBuf| std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()));
        let kept = Sessions::parse(&text(folder.join(SESSIONS))?)?;
        for name in kept.session.keys() {
            let frames = text(folder.join("sessions").join(name).join("frames.jsonl"))?;
            sessions.push(Session::parse(adapter.id(), name, &kept, &frames)?);
        }
    }
    Ok(sessions)
}

fn compare(session: &Session) -> Vec<Mismatch> {
    let played = match played(session) {
        Ok(played) => played,
        Err(problem) => return vec![Mismatch::broken("session", problem)],
    };
    let mut mismatches = outcome::compare(session, &played);
    if blessing() {
        let file = cases().join(&session.about.client).join("sessions").join(&session.name).join("frames.jsonl");
        texts::bless(&file, 0, played.into_iter().map(|played| played.answer).collect());
        return mismatches;
    }
    for (recorded, Played { event, answer: got, .. }) in session.frames.iter().zip(&played) {
        let place = format!("frame {} ({event})", recorded.n);
        let whole =
            |answer: &Answer| json!({"stdout": answer.stdout, "stderr": answer.stderr, "status": answer.status});
        mismatches.extend(subset(&place, "", &whole(&recorded.reply), &whole(got)));
        mismatches.extend(wording::of_reply(&place, &got.stdout));
    }
    mismatches
}

/// The story that drove the client is still there, unchanged.
fn script(session: &Session) -> Option<Mismatch> {
    let path = story(&session.about.client, &session.about.story);
    let digest = std::fs::read(&path).map(|bytes| sha256_hex(&bytes)).unwrap_or_default();
    let wanted = &session.about.script_sha256;
    let place = format!("{SESSIONS}: {}", session.name);
    (digest != *wanted).then(|| Mismatch::new(&place, "script_sha256", json!(wanted), json!(digest)))
}

fn played(session: &Session) -> Result<Vec<Played>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut stage = Stage::new(session, folder.path())?;
    let played = session.frames.iter().map(|line| stage.play(line)).collect::<Result<_, _>>()?;
    stage.believed()?;
    Ok(played)
}
