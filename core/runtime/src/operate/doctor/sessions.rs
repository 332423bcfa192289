//! The sessions: whether events arrive at all, when the last ones did, and by which policy they went.

use std::ops::ControlFlow;

use phasegate_adapter::{Finding, Level};
use serde_json::Value;

use crate::clients::alarm::Alarm;
use crate::effects::{MAX_FILES, MAX_FOLDERS};
use crate::operate::audit::history::walk;
use crate::policies::policy_store::Current;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::sessions::{SessionInfo, sessions};
use crate::timestamp::timestamp;

/// How many sessions are reported, the most recently active first.
const MOST: usize = 5;

pub(super) fn examine(runtime: &Runtime, project: &Project) -> Vec<Finding> {
    let all = match sessions(project) {
        Ok(all) => all,
        Err(problem) => return vec![Finding::new(Level::Problem, problem.message.clone()).with(problem.remedy())],
    };
    if all.known.is_empty() && all.damaged.is_empty() {
        let what = "no event of any session ever arrived here";
        return vec![
            Finding::new(Level::Warning, what)
                .with("start a session of the platform here, call a tool, and run this again"),
        ];
    }
    let current = match runtime.current(project) {
        Ok(Current::Ready(ready)) => Some(ready.policy.version),
        Ok(Current::Unguarded | Current::Invalid { .. }) | Err(_) => None,
    };
    let mut found: Vec<_> =
        all.known.iter().take(MOST).map(|session| one(runtime, project, session, current.as_deref())).collect();
    let more = all.known.len().saturating_sub(MOST);
    if more > 0 {
        found.push(Finding::new(Level::Note, format!("{more} more sessions; `phasegate status` lists them")));
    }
    let alarms = runtime.alarms(project).unwrap_or_default();
    if !alarms.is_empty() {
        let told: Vec<String> =
            alarms.iter().map(|alarm| format!("{} (session `{}`)", alarm.text(), alarm.session)).collect();
        let level = if alarms.iter().any(Alarm::stands) { Level::Problem } else { Level::Warning };
        found.push(Finding::new(level, format!("something went past the guard: {}", told.join("; "))).with(
            "look at what ran, at the client's mods, and at which program `phasegate` is; accept it: `phasegate reload`",
        ));
    }
    let programs = runtime.other_programs(project).unwrap_or_default();
    if !programs.is_empty() {
        let what = format!("more than one program answered as the guard: {}", programs.join(", then "));
        found.push(
            Finding::new(Level::Warning, what)
                .with("if you did not install the last one, look at it; accept it: `phasegate reload`"),
        );
    }
    let changed = runtime.violations(project).unwrap_or_default();
    if !changed.is_empty() {
        let paths: Vec<_> = changed.iter().map(|one| format!("`{}` by {}", one.change.path, one.change.call)).collect();
        let what = format!(
            "calls changed files that they were not allowed to change, and only calls that read pass: {}",
            paths.join("; ")
        );
        let way = "put them back with `phasegate restore`, or accept the changes: `phasegate restore --keep`";
        found.push(Finding::new(Level::Warning, what).with(way));
    }
    let capped =
        |session: &&SessionInfo| runtime.watch_report(project, &session.id).is_some_and(|report| report.capped);
    if let Some(session) = all.known.iter().take(MOST).find(capped) {
        let what = format!(
            "session {} has more files that `forbidden` names than are watched ({MAX_FILES}, in {MAX_FOLDERS} folders)",
            session.id
        );
        found.push(Finding::new(Level::Note, what).with("name fewer in the skill, as by `src/**` for `**`"));
    }
    if all.unread > 0 {
        let what = format!("{} messages of a platform could not be read", all.unread);
        found.push(Finding::new(Level::Warning, what).with("compare the client's version with the recorded ones"));
    }
    found
}

fn one(runtime: &Runtime, project: &Project, session: &SessionInfo, current: Option<&str>) -> Finding {
    let mut last = None;
    let read = walk(&runtime.policies, project, &session.id, |past| {
        last = Some((past.event.get("event").and_then(Value::as_str).unwrap_or("message").to_string(), past.time));
        ControlFlow::Continue(())
    });
    let id = &session.id;
    let Some((event, time)) = last else {
        let why = read.err().map(|problem| format!(": {}", problem.message)).unwrap_or_default();
        return Finding::new(Level::Warning, format!("session `{id}` has no event that can be read{why}"));
    };
    let what = format!("session `{id}`: last event `{event}` at {}, {} records", timestamp(time), session.records);
    if session.policy.is_empty() {
        return Finding::new(Level::Problem, format!("{what}; no policy could be used"))
            .with("run `phasegate check`, and `phasegate audit show` for what happened");
    }
    if session.clients.iter().any(|client| client.alive() && !session.senders.contains(client)) {
        let what = format!("{what}; its client sends its messages through another program, so forged ones are taken");
        return Finding::new(Level::Warning, what)
            .with("start `phasegate hook` itself in the hook's line, as `phasegate init` writes it");
    }
    if current.is_some_and(|current| current != session.policy) {
        return Finding::new(Level::Note, format!("{what}; it uses an earlier policy")).with("run `phasegate reload`");
    }
    Finding::new(Level::Ok, what)
}
