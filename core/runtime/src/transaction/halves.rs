//! The two halves of what is loaded: the project's and the session's. A process that lives long keeps them between events.

use std::path::PathBuf;
use std::sync::Arc;

use phasegate_adapter::{Memory, Problem};
use phasegate_core::policy::Policy;
use phasegate_core::state;

use crate::ancestors::Process;
use crate::audit;
use crate::journal::Journal;
use crate::kept::{KeptProject, KeptSession, from_state};
use crate::policy_store::KeptSettings;
use crate::project::{Project, Remembered};
use crate::witness::Witnesses;

/// The project's half.
#[derive(Debug)]
pub struct Shared {
    /// What the project's journal holds.
    pub kept: KeptProject,
    /// What is remembered of the project.
    pub remembered: Option<Remembered>,
}

/// The session's half.
#[derive(Debug)]
pub struct Own {
    /// The engine's state, while no transaction has it.
    pub state: state::Session,
    /// The settings the session began with.
    pub settings: KeptSettings,
    /// The digest of the stored policy that the session goes by.
    pub policy_digest: String,
    /// Whether the last record is still to be anchored.
    pub(super) anchor_due: bool,
    /// How many records of the project's journal were on the disk for good, as the last record says.
    pub(super) saw: u64,
    /// How many of its records the project had noted, as far as the session saw.
    pub(super) anchored: u64,
    /// Whether somebody asks the disk in the background, so that an event need not wait for a note of history.
    pub lazy: bool,
    /// Whether the journal is to be made durable in the background.
    pub wants_sync: bool,
    /// Whether somebody was asked to.
    pub asked: bool,
    /// The number and chain hash of a record that was, and is still to be noted.
    pub durable: Option<(u64, String)>,
    /// Whether what was known of the session may be lost: it is denied until it starts anew.
    pub(super) lost: bool,
    /// Whether it is kept which project the session began in.
    pub(super) rooted: bool,
    /// Whether the configs of now were looked for and cannot be used: the next event looks again.
    pub(super) without_policy: bool,
    /// Why the platform's settings did not start the guard when the session began.
    pub unwired: Option<String>,
    /// Who was behind the last event that said so.
    pub(super) principal: Option<String>,
    /// What the adapter remembers; kept with the next record.
    pub memory: Memory,
    /// The client's processes that have served the session.
    pub clients: Vec<Process>,
    /// The policy in use; its version is empty until one was found.
    pub policy: Arc<Policy>,
    /// Lines for audit logs, which are written after the journal.
    pub(super) late: Vec<(PathBuf, String)>,
}

impl Shared {
    /// What the project's journal holds.
    pub fn of(journal: &Journal, remembered: Option<Remembered>) -> Result<Self, Problem> {
        Ok(Self { kept: from_state(journal.state())?, remembered })
    }
}

impl Own {
    /// What the session's journal holds.
    pub fn of(journal: &Journal) -> Result<Self, Problem> {
        let kept: KeptSession = from_state(journal.state())?;
        Ok(Self {
            state: kept.session,
            settings: kept.settings,
            policy_digest: kept.policy_digest,
            anchor_due: kept.anchor_due,
            saw: kept.project,
            anchored: kept.anchored,
            lazy: false,
            wants_sync: false,
            asked: false,
            durable: None,
            lost: kept.lost,
            rooted: false,
            without_policy: false,
            unwired: kept.unwired,
            principal: kept.principal,
            memory: kept.memory,
            clients: kept.clients,
            policy: Arc::default(),
            late: Vec::new(),
        })
    }

    /// Everything around the session was looked at, and was in order.
    pub fn looked(&mut self) {
        self.without_policy = false;
    }

    /// Appends what there is to audit logs.
    pub fn write_late(&mut self) {
        for (path, lines) in self.late.drain(..) {
            audit::log::append(&path, &lines);
        }
    }
}

/// Whether the parts of the state know of each other as they should; the session's half says what that means for it.
/// `root` is what is kept of where the session began.
///
/// # Errors
///
/// As for [`Witnesses::check`].
pub fn check(
    (project, session): (&Project, &str),
    (project_journal, session_journal): (&Journal, &Journal),
    (shared, own): (&Shared, &mut Own),
    root: &dyn Fn() -> Result<Option<PathBuf>, Problem>,
) -> Result<(), Problem> {
    let witnesses = Witnesses {
        project,
        remembered: shared.remembered,
        session,
        root,
        journals: (project_journal, session_journal),
        kept: &shared.kept,
        lost: own.lost,
        saw: own.saw,
    };
    let presence = witnesses.check()?;
    (own.lost, own.rooted, own.without_policy) = (presence.lost, presence.rooted, false);
    Ok(())
}
