//! What belongs to one adapter: its recorded sessions, played and compared.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::cases;
use crate::compare::subset;
use crate::player::Stage;
use crate::session::{Answer, Session};
use crate::suite::Loading;
use crate::trial::{Check, Mismatch, Trial};

/// Adds the trials of every recorded session of an adapter.
pub(crate) fn sessions(loading: &mut Loading, adapter: &str) {
    let folder = format!("{adapter}/sessions/");
    let names: BTreeSet<String> = loading
        .below(&folder)
        .iter()
        .filter_map(|path| path.strip_prefix(&folder)?.split_once('/').map(|(name, _)| name.to_string()))
        .collect();
    for name in names {
        match read(loading, adapter, &name) {
            Ok(session) => {
                let id = format!("session/{}", session.id());
                let session = Arc::new(session);
                let run = Box::new(move || compare(&session));
                let area = format!("{adapter}/sessions");
                loading.trials.push(Trial { id, check: Check::Session, adapter: Some(adapter.into()), area, run });
            }
            Err(problem) => loading.fails(&format!("{folder}{name}"), &problem),
        }
    }
}

fn read(loading: &mut Loading, adapter: &str, name: &str) -> Result<Session, String> {
    let mut take = |file: &str| loading.take(&format!("{adapter}/sessions/{name}/{file}")).unwrap_or_default();
    let (about, frames, expected) = (take("session.toml"), take("frames.jsonl"), take("expect.jsonl"));
    Session::parse(adapter, name, [&about, &frames, &expected])
}

/// Every recorded session of every adapter.
///
/// # Errors
///
/// A session that cannot be read.
pub fn all_sessions() -> Result<Vec<Session>, String> {
    let mut sessions = Vec::new();
    for adapter in phasegate_adapters::all() {
        let folder = cases().join(adapter.id()).join("sessions");
        let mut names: Vec<_> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.file_name()).collect();
        names.sort();
        for name in names {
            let name = name.to_string_lossy().into_owned();
            let text = |file: &str| {
                let path = cases().join(adapter.id()).join("sessions").join(&name).join(file);
                std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
            };
            let expected = text("expect.jsonl").unwrap_or_default();
            let (about, frames) = (text("session.toml")?, text("frames.jsonl")?);
            sessions.push(Session::parse(adapter.id(), &name, [&about, &frames, &expected])?);
        }
    }
    Ok(sessions)
}

fn compare(session: &Session) -> Vec<Mismatch> {
    let answers = match played(session) {
        Ok(answers) => answers,
        Err(problem) => return vec![Mismatch::broken("session", problem)],
    };
    if std::env::var_os("PHASEGATE_BLESS").is_some() {
        return bless(session, &answers);
    }
    if session.expected.is_empty() {
        return vec![Mismatch::broken("expect.jsonl", "empty: run `cargo xtask bless`, then read the diff")];
    }
    let held = session.expected.iter().zip(&answers).enumerate();
    held.flat_map(|(at, (wanted, (event, got)))| {
        let place = format!("frame {} ({event})", at + 1);
        subset(&place, "", &whole(wanted), &whole(got))
    })
    .collect()
}

fn played(session: &Session) -> Result<Vec<(String, Answer)>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut stage = Stage::new(session, folder.path())?;
    session.frames.iter().map(|frame| stage.play(frame).map(|played| (played.event, played.answer))).collect()
}

/// An answer with every field, so that what is not expected is a mismatch too.
fn whole(answer: &Answer) -> Value {
    let decisions: Vec<Value> = answer
        .decisions
        .iter()
        .map(|d| serde_json::json!({"decision": d.decision, "tool": d.tool, "code": d.code, "phase": d.phase}))
        .collect();
    serde_json::json!({
        "decisions": decisions,
        "stdout": answer.stdout,
        "stderr": answer.stderr,
        "status": answer.status,
    })
}

fn bless(session: &Session, answers: &[(String, Answer)]) -> Vec<Mismatch> {
    let path = cases().join(&session.adapter).join("sessions").join(&session.name).join("expect.jsonl");
    let lines: Result<Vec<String>, _> = answers.iter().map(|(_, answer)| serde_json::to_string(answer)).collect();
    let written = lines
        .map_err(|error| error.to_string())
        .and_then(|lines| std::fs::write(&path, lines.join("\n") + "\n").map_err(|error| error.to_string()));
    written.err().map(|problem| Mismatch::broken("expect.jsonl", problem)).into_iter().collect()
}
