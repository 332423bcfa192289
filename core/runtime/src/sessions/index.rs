//! The index of a project's sessions: which of them the start of another session must look at (rules 8.2).
//!
//! It is a part of the project's journal, so a program that changes it damages that journal. A session is awake from its
//! first record on, and again before every record that follows a rest. A start reads the journals of the sessions awake,
//! and then lets those rest that can have no call open and no client at work. Of a session at rest a start needs only
//! the live runs in block mode, and of each skill only the latest.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::processes::ancestors::Process;

/// How many sessions at rest are listed of each kind. Once none of them serves, every journal is read.
const LISTED: usize = 8;

/// Which sessions of a project a start must look at. A session is named by its file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionIndex {
    /// The sessions with a record since they rested last, if they ever did.
    pub awake: BTreeSet<String>,
    /// The latest sessions at rest with a live run in block mode: by its skill, and by what else joining asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resting: Vec<Resting>,
}

/// The sessions at rest with a live run in block mode of one skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resting {
    /// The skill.
    pub skill: String,
    /// Whether the sessions have ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// The principal of the sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The guards of servers and proxies that serve them, as far as they are not known to be gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Process>,
    /// When the last record of each session was written, in milliseconds since 1970-01-01 UTC.
    pub sessions: BTreeMap<String, i64>,
    /// The latest such time of a session that is not listed any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<i64>,
}

/// A session that has come to rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rested {
    /// The session.
    pub session: String,
    /// When its last record was written, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
    /// Whether it has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Its principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The guards of servers and proxies that served it then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Process>,
    /// The skills of its live runs in block mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
}

impl SessionIndex {
    /// Notes a record of a session.
    pub fn wake(&mut self, session: &str) {
        if self.awake.insert(session.to_string()) {
            self.drop_resting(session);
        }
    }

    /// Lets a session rest.
    pub fn rest(&mut self, rested: &Rested) {
        self.awake.remove(&rested.session);
        self.drop_resting(&rested.session);
        for skill in &rested.skills {
            self.add(Resting {
                skill: skill.clone(),
                ended: rested.ended,
                principal: rested.principal.clone(),
                guards: rested.guards.clone(),
                sessions: BTreeMap::from([(rested.session.clone(), rested.time)]),
                unlisted: None,
            });
        }
    }

    /// Notes that these guards are gone, so that sessions are of the same kind whichever of them served them.
    pub fn guards_gone(&mut self, gone: &[Process]) {
        for mut kind in std::mem::take(&mut self.resting) {
            kind.guards.retain(|guard| !gone.contains(guard));
            self.add(kind);
        }
    }

    fn add(&mut self, new: Resting) {
        match self.resting.iter_mut().find(|kind| kind.is_like(&new)) {
            Some(kind) => kind.take_in(new),
            None => self.resting.push(new),
        }
    }

    /// Forgets a session whose journal is removed.
    pub fn forget(&mut self, session: &str) {
        self.awake.remove(session);
        self.drop_resting(session);
    }

    fn drop_resting(&mut self, session: &str) {
        for kind in &mut self.resting {
            kind.sessions.remove(session);
        }
        self.resting.retain(|kind| !kind.sessions.is_empty() || kind.unlisted.is_some());
    }
}

impl Resting {
    fn is_like(&self, other: &Self) -> bool {
        let kind = |of: &Self| (of.skill.clone(), of.ended, of.principal.clone(), of.guards.clone());
        kind(self) == kind(other)
    }

    fn take_in(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.unlisted = self.unlisted.max(other.unlisted);
        while self.sessions.len() > LISTED
            && let Some((name, time)) = self.latest_first().pop().map(|(name, time)| (name.to_string(), time))
        {
            self.sessions.remove(&name);
            self.unlisted = self.unlisted.max(Some(time));
        }
    }

    /// Whether a guard that serves the sessions still runs.
    pub fn is_served(&self) -> bool {
        self.guards.iter().any(|guard| guard.alive())
    }

    /// The sessions with their times, the latest first.
    pub fn latest_first(&self) -> Vec<(&str, i64)> {
        let mut sessions: Vec<_> = self.sessions.iter().map(|(name, time)| (name.as_str(), *time)).collect();
        sessions.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        sessions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rested(session: &str, time: i64, skills: &[&str]) -> Rested {
        let skills = skills.iter().map(ToString::to_string).collect();
        Rested { session: session.to_string(), time, skills, ..Rested::default() }
    }

    #[test]
    fn a_session_is_awake_or_listed_by_its_skills_and_never_both() {
        let mut index = SessionIndex::default();
        index.wake("a");
        index.rest(&rested("a", 1, &["s", "t"]));
        index.rest(&rested("b", 2, &["s"]));
        assert!(index.awake.is_empty());
        assert_eq!(
            index.resting.iter().map(|kind| kind.latest_first()).collect::<Vec<_>>(),
            [vec![("b", 2), ("a", 1)], vec![("a", 1)]]
        );
        index.wake("a");
        assert_eq!(index.resting.len(), 1);
        index.forget("b");
        assert!(index.resting.is_empty() && index.awake.contains("a"));
    }

    #[test]
    fn what_is_no_longer_listed_is_known_to_be_there() {
        let mut index = SessionIndex::default();
        (0..20).for_each(|at| index.rest(&rested(&format!("s{at}"), at, &["s"])));
        let kind = &index.resting[0];
        assert_eq!((kind.sessions.len(), kind.unlisted), (LISTED, Some(11)));
        assert_eq!(kind.latest_first()[0], ("s19", 19));
        let mut served = rested("x", 30, &["s"]);
        served.principal = Some("ann".to_string());
        index.rest(&served);
        assert_eq!(index.resting.len(), 2, "another kind");
        (12..20).for_each(|at| index.wake(&format!("s{at}")));
        assert_eq!(index.resting[0].unlisted, Some(11), "none is listed, and there are more");
    }

    #[test]
    fn sessions_whose_guards_are_gone_are_of_one_kind() {
        let mut index = SessionIndex::default();
        for at in 0..12 {
            let guards = vec![Process(at, 1, 1)];
            let time = i64::from(at);
            index.rest(&Rested { guards, ..rested(&format!("s{at:02}"), time, &["s"]) });
        }
        index.guards_gone(&(0..11).map(|at| Process(at, 1, 1)).collect::<Vec<_>>());
        assert_eq!(index.resting.len(), 2);
        let kind = &index.resting[0];
        assert_eq!((kind.sessions.len(), kind.unlisted, kind.latest_first()[0].0), (LISTED, Some(2), "s10"));
    }
}
