//! Backtest: recorded sessions through a policy, and what it would have answered (`phasegate backtest`).
//!
//! A recorded session ran without the policy, so it goes on after a call that would have been denied. What follows such a call
//! shows what else would have been stopped, and how the session ended without it.

mod parts;
mod import;
mod report;

use std::io;
use std::path::{Path, PathBuf};

use phasegate_adapter::Adapter;
use phasegate_core::{Effect, Event, EventKind, Policy};
use serde_json::Value;

pub use self::import::{client_files, works_in};
pub use self::parts::by_session;
pub use self::report::{Answer, Counts, Finding, LeftOut, PhaseSpan, Report, SessionReport};

use self::import::Import;
use self::parts::Parts;
use crate::operate::replay::{LineError, Options, Replay};

/// The most characters of a call that a finding keeps.
const MAX_WHAT: usize = 300;

/// What sessions are played with.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The policy.
    pub policy: Policy,
    /// Another one, whose answers are compared with the first one's.
    pub against: Option<Policy>,
    /// How both are replayed.
    pub options: Options,
}

/// One file's sessions during their play.
struct Player<'a> {
    replay: Replay,
    against: Option<Replay>,
    report: Report,
    file: &'a Path,
}

/// Plays the files of a session, or a file of several. `done` is told how many bytes were read.
///
/// # Errors
///
/// A file cannot be read, or a skill of the options is not in a policy.
pub fn play(
    trial: &Trial,
    adapters: &[&'static dyn Adapter],
    files: &[PathBuf],
    done: &dyn Fn(u64),
) -> io::Result<Report> {
    let replay = |policy: &Policy| Replay::new(policy.clone(), trial.options.clone()).map_err(io::Error::other);
    let against = trial.against.as_ref().map(replay).transpose()?;
    let file = files.first().map_or(Path::new(""), PathBuf::as_path);
    let mut player = Player { replay: replay(&trial.policy)?, against, report: Report::default(), file };
    let mut parts = Parts::open(files)?;
    let mut import = Import::new(adapters);
    let (mut line, mut number) = (Vec::new(), 0_u64);
    while parts.next(&mut line)? {
        number += 1;
        let place = || format!("{}:{number}", file.display());
        for event in import.events(&String::from_utf8_lossy(&line)) {
            if let Err(LineError(why)) = player.step(&event) {
                player.report.leave_out(why, &place());
            }
        }
        import.take_left_out().into_iter().for_each(|why| player.report.leave_out(why, &place()));
        done(u64::try_from(line.len()).unwrap_or_default());
    }
    player.report.files = u64::try_from(files.len()).unwrap_or_default();
    Ok(player.report)
}

impl Player<'_> {
    fn step(&mut self, event: &Event) -> Result<(), LineError> {
        let answered = |replay: &mut Replay| replay.event(event.clone()).map(|output| Answer::of(&output));
        let (new, old) = (answered(&mut self.replay), self.against.as_mut().map(answered));
        let answer = new?;
        let old = old.and_then(Result::ok);
        let file = || self.file.display().to_string();
        let Some(session) = self.report.session(&event.session, file) else { return Ok(()) };
        session.events += 1;
        session.stand(&answer);
        match &event.kind {
            EventKind::ToolCall { id, .. } => {
                let (tool, what) = (event.tool_name().unwrap_or_default().to_owned(), what(event));
                let call = session.call(answer.effect, id.clone());
                let differs = old.as_ref().is_some_and(|old| old.effect != answer.effect);
                let stops = answer.effect > Effect::Allow;
                self.report.count(&tool, &answer, differs);
                if !stops {
                    self.report.note_passed(&tool, &what);
                }
                if stops || differs {
                    let before = old.map(|old| old.effect);
                    self.report.find(&event.session, Finding::new(call, &tool, what, answer, before));
                }
            }
            EventKind::ToolResult { id, outcome, ok, tests, .. } => {
                let word = outcome.map(|outcome| outcome.word());
                let word = word.or(ok.map(|ok| if ok { "ok" } else { "failed" }));
                session.ended(id.as_deref(), word);
                if tests.iter().any(|report| report.passed > 0 && report.failed == 0 && !report.broken) {
                    session.tests_passed();
                }
            }
            EventKind::Stop { .. } if answer.effect > Effect::Allow => session.held += 1,
            _ => {}
        }
        Ok(())
    }
}

/// What a call is about, in one line.
fn what(event: &Event) -> String {
    let EventKind::ToolCall { input, .. } = &event.kind else { return String::new() };
    let named = ["command", "file_path", "path", "notebook_path", "skill", "url", "pattern", "subagent_type"];
    let text = named.iter().find_map(|name| input.get(name).and_then(Value::as_str).map(str::to_owned));
    let text = text.unwrap_or_else(|| if input.is_null() { String::new() } else { input.to_string() });
    let mut letters = text.chars();
    let short: String = letters.by_ref().take(MAX_WHAT).collect();
    if letters.next().is_some() { short + "…" } else { short }
}

/// The files of sessions at these paths: a folder stands for those below it.
///
/// # Errors
///
/// A path is not there.
pub fn session_files(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            import::below(path, &mut found);
        } else {
            path.metadata().map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display())))?;
            found.push(path.clone());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}
