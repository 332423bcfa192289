//! What the journals keep as state: the engine's, and what the runtime needs besides; and the changes of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use phasegate_core::calls::forbidden_change::ForbiddenChange;
use phasegate_core::{Change, state};
use phasegate_formats::tagged::{self, Tagged};
use phasegate_shell::Readers;
use phasegate_store::state::JournalState;
use serde::de::{Deserializer, MapAccess};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clients::alarm::{self, Alarm, JudgedCall, MAX_JUDGED, Past};
use crate::clients::client_records::{ReadRecord, RecordRead};
use crate::clients::client_shell::LineEnd;
use crate::clients::guard_file::GuardFile;
use crate::policies::policy_store::KeptSettings;
use crate::policies::strength::{Strength, is_module};
use crate::processes::ancestors::Process;
use crate::project::texts::Accepted;
use crate::sessions::index::{Rested, SessionIndex};

/// How many checkpoints the project keeps; the oldest go first.
const MAX_CHECKPOINTS: usize = 256;
/// How many calls a session keeps of which something was not kept.
const MAX_NOT_KEPT: usize = 8;

/// The state in a session's journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionSnapshot {
    /// The engine's half.
    pub session: state::Session,
    /// The client's processes that have served it, the newest last; ended ones are removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<Process>,
    /// Those of them that were seen to write its messages themselves: no other process may (rules 4.5).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<Process>,
    /// The guards of servers and proxies that serve it now; ended ones while a call of theirs is open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Process>,
    /// Who was behind the last event that said so, as the adapter established it: a client of a server for many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// What the adapter remembers.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub memory: Value,
    /// The settings the session began with.
    pub settings: KeptSettings,
    /// The digest of the file that its policy is stored in; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub policy_digest: String,
    /// Why the platform's settings did not start the guard when the session began; absent if they did, or if that was
    /// not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwired: Option<String>,
    /// Whether the record with this state changed what matters, so that the project is still to note how far the
    /// journal has come.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anchor_due: bool,
    /// How many of its records the project had noted, as far as the session saw; the project forgets the oldest notes.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub anchored: u64,
    /// How many records of the project's journal were on the disk for good.
    pub project: u64,
    /// Whether the first event of the session was not a start, and its project had no state: it is denied in block mode
    /// until it starts anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// The commands of which a call has changed what they obey, since a person last had the configs used.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub distrusted: BTreeSet<Readers>,
    /// The MCP servers whose results are no evidence, since they are started in another way than a person accepted.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unproven: BTreeSet<String>,
    /// How the files were that the client loads texts from, when the session began or a person last accepted them: by the
    /// place's name, where there was one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// The sessions of other projects whose agents started the client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outer: Vec<String>,
    /// Where the manifest of the watched files is (rules 4.11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<WatchMark>,
    /// The client's own record of the session, and how far it was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<ReadRecord>,
    /// The last calls that were judged, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgedCall>,
    /// What the person is to be told with the next answer that does not deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_notice: Option<String>,
    /// The last calls of which something was not kept, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<NotKept>,
}

/// What was not kept of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotKept {
    /// The platform's id of the call.
    pub call: String,
    /// What came of its line.
    pub end: LineEnd,
}

/// Which file holds the manifest of a session's watched files, and how it was left: a file that is otherwise was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchMark {
    /// How often it was written.
    pub number: u64,
    /// What the system said of it then.
    pub stamp: String,
    /// How often a person had accepted changes in the project.
    pub kept: u64,
}

/// The state in a project's journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectSnapshot {
    /// The engine's half.
    pub project: state::Project,
    /// How far the journal of each session had come, by the name of its file.
    pub sessions: BTreeMap<String, Checkpoint>,
    /// The number of the last record that was on the disk for good when its answer went out.
    pub synced: u64,
    /// How many records the journals had that were set aside before this one (rules 8.9).
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub base: u64,
    /// Whether the project is remembered as guarded, so that its memory must be there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guarded: bool,
    /// Which sessions a session's start must look at; `None` if that is not known, so that it must look at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<SessionIndex>,
    /// How far the removal of old journals has come.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub sweep: Sweep,
    /// Whether the first event in this project was not a session start: state may be lost, and a session without a
    /// start event is denied in block mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// How much the policy asked for that was seen first, or that a person accepted; more if it asked for more since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The configs that decide: those seen first, or that a person accepted, or that only asked for more since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    /// What happened past the guard; the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alarms: Vec<Alarm>,
    /// The programs that answered as the guard, since a person last accepted the newest; the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<GuardFile>,
    /// The files that calls changed although they might not, until they are as they were or a person accepts that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
    /// How often a person accepted such changes: what was watched before is then taken as it is.
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    pub changes_kept: u64,
}

impl ProjectSnapshot {
    /// The folders of the modules that were accepted, or that a person is to look at.
    pub(crate) fn known_modules(&self) -> BTreeSet<PathBuf> {
        let accepted = self.strength.iter().filter_map(|strength| strength.servers.as_ref()).flat_map(BTreeMap::keys);
        let waiting =
            self.alarms.iter().filter(|alarm| alarm.what == Past::Module && !alarm.seen).map(|alarm| &alarm.id);
        accepted.filter(|name| is_module(name)).chain(waiting).map(PathBuf::from).collect()
    }

    /// What changes when a person has looked at what went past the guard, and at which program answers.
    pub(crate) fn looked_at(&self) -> Vec<ProjectChange> {
        let mut changes = Vec::new();
        if self.alarms.iter().any(|alarm| !alarm.seen) {
            let seen = self.alarms.iter().cloned().map(|alarm| Alarm { seen: true, ..alarm });
            changes.push(ProjectChange::Alarms(seen.collect()));
        }
        if let [_, .., last] = self.programs.as_slice() {
            changes.push(ProjectChange::Programs(vec![last.clone()]));
        }
        changes
    }
}

/// A file that a call changed although it might not, as it was seen after the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The session of the call.
    pub session: String,
    /// The platform's id of the call, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The file, and who forbids it.
    pub change: ForbiddenChange,
    /// The digest of what was there; absent: nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The digest of what was there then; absent: nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// How far the removal of a project's old journals by itself has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sweep {
    /// When every journal had been looked at, in milliseconds since 1970-01-01 UTC.
    pub done: i64,
    /// The session whose journal was looked at last since then, by the name of its file; empty before the first.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub after: String,
}

/// How far the journal of a session had come: a journal that is shorter now was tampered with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The number of its last record.
    pub seq: u64,
    /// The chain hash of that record.
    pub head: String,
    /// When that was, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
}

impl ProjectSnapshot {
    /// Whether a session's start would look at this session, by the name of its file.
    pub fn is_awake(&self, session: &str) -> bool {
        self.index.as_ref().is_none_or(|index| index.awake.contains(session))
    }

    /// Notes how far a session's journal has come. The oldest checkpoint makes room.
    fn checkpoint(&mut self, session: &str, checkpoint: Checkpoint) {
        if let Some(index) = &mut self.index {
            index.wake(session);
        }
        self.sessions.insert(session.to_string(), checkpoint);
        if self.sessions.len() > MAX_CHECKPOINTS {
            let oldest =
                self.sessions.iter().min_by_key(|(_, checkpoint)| checkpoint.time).map(|(name, _)| name.clone());
            oldest.and_then(|name| self.sessions.remove(&name));
        }
    }
}

/// A change of a [`SessionSnapshot`]. Each field that the runtime keeps has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionChange {
    /// The processes that have served the session.
    Clients(Vec<Process>),
    /// The clients that were seen to write the session's messages.
    Senders(Vec<Process>),
    /// The guards of servers and proxies that serve the session.
    Guards(Vec<Process>),
    /// Who is behind the session.
    Principal(Option<String>),
    /// What the adapter remembers.
    Memory(Value),
    /// The settings that the session uses.
    Settings(Box<KeptSettings>),
    /// The digest of the stored policy.
    PolicyDigest(String),
    /// Why the platform's settings did not start the guard.
    Unwired(Option<String>),
    /// Whether the project is still to note how far the journal has come.
    CheckpointDue(bool),
    /// How many of its records the project has noted.
    Checkpointed(u64),
    /// How many records of the project's journal are durable.
    ProjectSynced(u64),
    /// Whether what was known of the session may be lost.
    Lost(bool),
    /// The commands that are no longer trusted to only read.
    Distrusted(BTreeSet<Readers>),
    /// The servers whose results are no evidence.
    Unproven(BTreeSet<String>),
    /// How the files are that the client loads texts from.
    Texts(BTreeMap<String, String>),
    /// The sessions of other projects that the client is below.
    Outer(Vec<String>),
    /// Where the manifest of the watched files is.
    Watch(Option<WatchMark>),
    /// The client's own record, and how far it was compared.
    Record(Option<Box<ReadRecord>>),
    /// How much more of it was compared.
    RecordRead(RecordRead),
    /// A call was denied, or its end told.
    CallJudged(JudgedCall),
    /// What the person is to be told with a later answer.
    HeldNotice(Option<String>),
    /// Something of a call was not kept.
    NotKept(NotKept),
    /// A change of the engine's half, written as itself. Its names must not be those of the changes above.
    #[serde(untagged)]
    Engine(Change),
}

/// How far the journal of one session had come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionCheckpoint {
    /// The name of the journal's file.
    pub session: String,
    /// How far.
    pub at: Checkpoint,
}

/// A change of a [`ProjectSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectChange {
    /// How far a session's journal has come.
    Checkpoint(SessionCheckpoint),
    /// These sessions were removed on purpose, by the names of their files.
    Removed(Vec<String>),
    /// The number of the last durable record.
    Synced(u64),
    /// Whether the project is remembered as guarded.
    Guarded(bool),
    /// Which sessions a session's start must look at, after all were looked at; or that this is not known any more.
    Index(Option<SessionIndex>),
    /// These sessions came to rest.
    Rested(Vec<Rested>),
    /// These guards of servers and proxies, which served sessions at rest, are gone.
    GuardsGone(Vec<Process>),
    /// How far the removal of old journals has come.
    Sweep(Sweep),
    /// Whether what was known of the project may be lost.
    Lost(bool),
    /// How much the policy asks for.
    Strength(Option<Box<Strength>>),
    /// The configs that decide.
    Accepted(Option<Accepted>),
    /// The programs that answered as the guard.
    Programs(Vec<GuardFile>),
    /// The files that calls changed although they might not.
    Violations(Vec<Violation>),
    /// How often a person accepted such changes.
    ChangesKept(u64),
    /// What happened past the guard.
    Alarms(Vec<Alarm>),
    /// A change of the engine's half, written as itself. Its names must not be those of the changes above.
    #[serde(untagged)]
    Engine(Change),
}

impl Tagged for SessionChange {
    fn from_tag<'de, A: MapAccess<'de>>(tag: Cow<'de, str>, mut map: A) -> Result<Self, A::Error> {
        Ok(match tag.as_ref() {
            "clients" => Self::Clients(map.next_value()?),
            "senders" => Self::Senders(map.next_value()?),
            "guards" => Self::Guards(map.next_value()?),
            "principal" => Self::Principal(map.next_value()?),
            "memory" => Self::Memory(map.next_value()?),
            "settings" => Self::Settings(map.next_value()?),
            "policy_digest" => Self::PolicyDigest(map.next_value()?),
            "unwired" => Self::Unwired(map.next_value()?),
            "checkpoint_due" => Self::CheckpointDue(map.next_value()?),
            "checkpointed" => Self::Checkpointed(map.next_value()?),
            "project_synced" => Self::ProjectSynced(map.next_value()?),
            "lost" => Self::Lost(map.next_value()?),
            "distrusted" => Self::Distrusted(map.next_value()?),
            "unproven" => Self::Unproven(map.next_value()?),
            "texts" => Self::Texts(map.next_value()?),
            "outer" => Self::Outer(map.next_value()?),
            "watch" => Self::Watch(map.next_value()?),
            "record" => Self::Record(map.next_value()?),
            "record_read" => Self::RecordRead(map.next_value()?),
            "call_judged" => Self::CallJudged(map.next_value()?),
            "held_notice" => Self::HeldNotice(map.next_value()?),
            "not_kept" => Self::NotKept(map.next_value()?),
            _ => Self::Engine(tagged::rest(tag, map)?),
        })
    }
}

impl<'de> Deserialize<'de> for SessionChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl Tagged for ProjectChange {
    fn from_tag<'de, A: MapAccess<'de>>(tag: Cow<'de, str>, mut map: A) -> Result<Self, A::Error> {
        Ok(match tag.as_ref() {
            "checkpoint" => Self::Checkpoint(map.next_value()?),
            "removed" => Self::Removed(map.next_value()?),
            "synced" => Self::Synced(map.next_value()?),
            "guarded" => Self::Guarded(map.next_value()?),
            "index" => Self::Index(map.next_value()?),
            "rested" => Self::Rested(map.next_value()?),
            "guards_gone" => Self::GuardsGone(map.next_value()?),
            "sweep" => Self::Sweep(map.next_value()?),
            "lost" => Self::Lost(map.next_value()?),
            "strength" => Self::Strength(map.next_value()?),
            "accepted" => Self::Accepted(map.next_value()?),
            "programs" => Self::Programs(map.next_value()?),
            "violations" => Self::Violations(map.next_value()?),
            "changes_kept" => Self::ChangesKept(map.next_value()?),
            "alarms" => Self::Alarms(map.next_value()?),
            _ => Self::Engine(tagged::rest(tag, map)?),
        })
    }
}

impl<'de> Deserialize<'de> for ProjectChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl SessionSnapshot {
    /// Notes a call that was let through as judged: a change of the engine's half says it already.
    pub(crate) fn note_opened(&mut self, change: &Change) {
        if let Change::CallOpened(call) = change
            && let Some(id) = &call.id
        {
            let call = JudgedCall { input: call.input.clone(), ..JudgedCall::allowed(id) };
            alarm::note(&mut self.judged, &call, MAX_JUDGED);
        }
    }

    /// Whether the change has no effect. Of the engine's half that is never said.
    pub fn has(&self, change: &SessionChange) -> bool {
        match change {
            SessionChange::Engine(_) => false,
            SessionChange::Clients(clients) => self.clients == *clients,
            SessionChange::Senders(senders) => self.senders == *senders,
            SessionChange::Guards(guards) => self.guards == *guards,
            SessionChange::Principal(principal) => self.principal == *principal,
            SessionChange::Memory(memory) => self.memory == *memory,
            SessionChange::Settings(settings) => self.settings == **settings,
            SessionChange::PolicyDigest(digest) => self.policy_digest == *digest,
            SessionChange::Unwired(why) => self.unwired == *why,
            SessionChange::CheckpointDue(due) => self.anchor_due == *due,
            SessionChange::Checkpointed(seq) => self.anchored == *seq,
            SessionChange::ProjectSynced(seq) => self.project == *seq,
            SessionChange::Lost(lost) => self.lost == *lost,
            SessionChange::Distrusted(readers) => self.distrusted == *readers,
            SessionChange::Unproven(servers) => self.unproven == *servers,
            SessionChange::Texts(texts) => self.texts == *texts,
            SessionChange::Outer(sessions) => self.outer == *sessions,
            SessionChange::Watch(mark) => self.watch == *mark,
            SessionChange::Record(record) => self.record.as_ref() == record.as_deref(),
            SessionChange::RecordRead(read) => self.record.as_ref().is_none_or(|record| record.knows(read)),
            SessionChange::HeldNotice(notice) => self.held_notice == *notice,
            SessionChange::NotKept(call) => self.not_kept.contains(call),
            SessionChange::CallJudged(call) => self.judged.iter().any(|one| one.id == call.id && one == call),
        }
    }
}

impl JournalState for SessionSnapshot {
    type Change = SessionChange;

    fn apply(&mut self, change: &SessionChange) {
        match change {
            SessionChange::Engine(change) => {
                self.session.apply(change);
                self.note_opened(change);
            }
            SessionChange::Clients(clients) => self.clients.clone_from(clients),
            SessionChange::Senders(senders) => self.senders.clone_from(senders),
            SessionChange::Guards(guards) => self.guards.clone_from(guards),
            SessionChange::Principal(principal) => self.principal.clone_from(principal),
            SessionChange::Memory(memory) => self.memory.clone_from(memory),
            SessionChange::Settings(settings) => self.settings.clone_from(settings),
            SessionChange::PolicyDigest(digest) => self.policy_digest.clone_from(digest),
            SessionChange::Unwired(why) => self.unwired.clone_from(why),
            SessionChange::CheckpointDue(due) => self.anchor_due = *due,
            SessionChange::Checkpointed(seq) => self.anchored = *seq,
            SessionChange::ProjectSynced(seq) => self.project = *seq,
            SessionChange::Lost(lost) => self.lost = *lost,
            SessionChange::Distrusted(readers) => self.distrusted.clone_from(readers),
            SessionChange::Unproven(servers) => self.unproven.clone_from(servers),
            SessionChange::Texts(texts) => self.texts.clone_from(texts),
            SessionChange::Outer(sessions) => self.outer.clone_from(sessions),
            SessionChange::Watch(mark) => self.watch.clone_from(mark),
            SessionChange::Record(record) => self.record = record.as_deref().cloned(),
            SessionChange::RecordRead(read) => self.record.iter_mut().for_each(|record| record.take_up(read)),
            SessionChange::HeldNotice(notice) => self.held_notice.clone_from(notice),
            SessionChange::NotKept(call) => {
                let surplus = self.not_kept.len().saturating_add(1).saturating_sub(MAX_NOT_KEPT);
                self.not_kept.drain(..surplus);
                self.not_kept.push(call.clone());
            }
            SessionChange::CallJudged(call) => alarm::note(&mut self.judged, call, MAX_JUDGED),
        }
    }
}

impl JournalState for ProjectSnapshot {
    type Change = ProjectChange;

    fn apply(&mut self, change: &ProjectChange) {
        match change {
            ProjectChange::Engine(change) => self.project.apply(change),
            ProjectChange::Checkpoint(SessionCheckpoint { session, at }) => self.checkpoint(session, at.clone()),
            ProjectChange::Removed(sessions) => {
                self.sessions.retain(|name, _| !sessions.contains(name));
                let index = self.index.iter_mut();
                index.for_each(|index| sessions.iter().for_each(|session| index.forget(session)));
            }
            ProjectChange::Synced(seq) => self.synced = *seq,
            ProjectChange::Guarded(guarded) => self.guarded = *guarded,
            ProjectChange::Index(index) => self.index.clone_from(index),
            ProjectChange::Rested(rested) => {
                let index = self.index.iter_mut();
                index.for_each(|index| rested.iter().for_each(|session| index.rest(session)));
            }
            ProjectChange::GuardsGone(gone) => self.index.iter_mut().for_each(|index| index.guards_gone(gone)),
            ProjectChange::Sweep(sweep) => self.sweep.clone_from(sweep),
            ProjectChange::Lost(lost) => self.lost = *lost,
            ProjectChange::Strength(strength) => self.strength = strength.as_deref().cloned(),
            ProjectChange::Accepted(accepted) => self.accepted.clone_from(accepted),
            ProjectChange::Programs(programs) => self.programs.clone_from(programs),
            ProjectChange::Violations(violations) => self.violations.clone_from(violations),
            ProjectChange::ChangesKept(times) => self.changes_kept = *times,
            ProjectChange::Alarms(alarms) => self.alarms.clone_from(alarms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::alarm::Past;
    use serde_json::json;

    #[test]
    fn every_change_is_read_as_it_was_written() {
        let checkpoint = Checkpoint { seq: 3, head: "ab".to_string(), time: 5 };
        let engine = || serde_json::from_value::<Change>(json!({"approved": {"name": "n", "by": "human"}})).unwrap();
        let project = [
            ProjectChange::Checkpoint(SessionCheckpoint { session: "s".to_string(), at: checkpoint }),
            ProjectChange::Removed(vec!["s".to_string()]),
            ProjectChange::Synced(1),
            ProjectChange::Guarded(true),
            ProjectChange::Index(Some(SessionIndex::default())),
            ProjectChange::Rested(vec![Rested { session: "s".to_string(), time: 5, ..Rested::default() }]),
            ProjectChange::GuardsGone(vec![Process(1, 2, 3)]),
            ProjectChange::Sweep(Sweep { done: 1, after: "s".to_string() }),
            ProjectChange::Lost(true),
            ProjectChange::Strength(None),
            ProjectChange::Accepted(Some(Accepted { project: "p".into(), user: "u".into() })),
            ProjectChange::Programs(GuardFile::own().into_iter().cloned().collect()),
            ProjectChange::Violations(Vec::new()),
            ProjectChange::ChangesKept(1),
            ProjectChange::Alarms(vec![Alarm {
                session: "s".into(),
                id: "t1".into(),
                tool: "Write".into(),
                what: Past::Denied,
                seen: true,
                more: 0,
            }]),
            ProjectChange::Engine(engine()),
        ];
        let session = [
            SessionChange::Clients(Vec::new()),
            SessionChange::Senders(Vec::new()),
            SessionChange::Guards(Vec::new()),
            SessionChange::Principal(Some("p".to_string())),
            SessionChange::Memory(json!({"a": [1]})),
            SessionChange::Settings(Box::default()),
            SessionChange::PolicyDigest("d".to_string()),
            SessionChange::Unwired(Some("w".to_string())),
            SessionChange::CheckpointDue(true),
            SessionChange::Checkpointed(4),
            SessionChange::ProjectSynced(5),
            SessionChange::Lost(true),
            SessionChange::Distrusted([Readers::Programs].into()),
            SessionChange::Unproven(["s".to_string()].into()),
            SessionChange::Outer(vec!["s".to_string()]),
            SessionChange::Watch(Some(WatchMark { number: 1, stamp: "1 2".into(), kept: 3 })),
            SessionChange::Record(None),
            SessionChange::RecordRead(RecordRead { read: 1, heard: 0, others: [("a".into(), 2)].into() }),
            SessionChange::CallJudged(JudgedCall { denied: true, ..JudgedCall::allowed("t1") }),
            SessionChange::HeldNotice(Some("look".into())),
            SessionChange::NotKept(NotKept { call: "c".into(), end: LineEnd::default() }),
            SessionChange::Engine(engine()),
        ];
        let (of_project, of_session) =
            (serde_json::to_string(&project).unwrap(), serde_json::to_string(&session).unwrap());
        assert_eq!(serde_json::from_str::<Vec<ProjectChange>>(&of_project).unwrap(), project);
        assert_eq!(serde_json::from_str::<Vec<SessionChange>>(&of_session).unwrap(), session);
        for wrong in [r#"{"unheard_of":1}"#, "{}", r#"{"lost":true,"lost":true}"#, r#""lost""#] {
            assert!(serde_json::from_str::<ProjectChange>(wrong).is_err(), "{wrong}");
            assert!(serde_json::from_str::<SessionChange>(wrong).is_err(), "{wrong}");
        }
    }
}
