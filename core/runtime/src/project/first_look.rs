//! What can be said of a project before its journals are opened.

use std::path::Path;

use phasegate_adapter::{FailureMode, Problem, Refusal};
use phasegate_core::State;
use phasegate_core::policy::Mode;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use crate::driver::failure_mode::{of_configs, of_mode};
use crate::policies::policy_store::Current;
use crate::project::{Project, Remembered, session_key};
use crate::runtime::Runtime;
use crate::sessions::integrity::{self, compared};
use crate::sessions::is_strict;
use crate::sessions::snapshot::{ProjectSnapshot, SessionSnapshot};

/// What is known before journals are opened.
#[derive(Clone, Debug, Default)]
pub struct FirstLook {
    /// What configs say of failures, where they were asked.
    pub configs: Option<FailureMode>,
    /// The failure mode until the journals are loaded; `None`: nothing says it yet.
    pub failure_mode: Option<FailureMode>,
}

impl FirstLook {
    fn of(failure_mode: FailureMode) -> Self {
        Self { failure_mode: Some(failure_mode), ..Self::default() }
    }
}

impl FirstLook {
    /// What happens to a frame of this session if its journals cannot be opened. A project that only warns stays so, unless
    /// they may hold a run in block mode.
    pub fn unopened(
        &self,
        project: &Project,
        remembered: Result<Option<Remembered>, &Problem>,
        session: &str,
    ) -> Option<FailureMode> {
        let warns = matches!(remembered, Ok(Some(Remembered { mode: Mode::Warn, .. })));
        if self.failure_mode == Some(FailureMode::Closed) && warns && !may_hide_block(project, session) {
            return Some(FailureMode::Warn);
        }
        self.failure_mode
    }
}

/// Whether the journals of a session, read without their locks, hold a run in block mode, or may hide one.
fn may_hide_block(project: &Project, session: &str) -> bool {
    let shared = match read_last::<ProjectSnapshot>(&FileStore, &project.journal()) {
        Ok(last) => last.map(|last| last.state).unwrap_or_default(),
        Err(_) => return true,
    };
    let known = shared.sessions.get(&session_key(session)).filter(|at| at.seq > 0);
    let own = match read_last::<SessionSnapshot>(&FileStore, &project.session_journal(session)) {
        Ok(Some(last)) if known.is_none_or(|at| compared(session, last.seq, &last.head, at).is_ok()) => last.state,
        Ok(None) if known.is_none() => SessionSnapshot::default(),
        Ok(_) | Err(_) => return true,
    };
    own.settings.mode == Some(Mode::Block) || is_strict(&State { session: own.session, project: shared.project })
}

/// Looks at what is remembered of the project and at the names of its journals. `None`: nothing guards the project and
/// nothing ever did.
///
/// # Errors
///
/// The configs cannot be compiled, or what guarded the project is gone.
pub fn first_look(
    runtime: &Runtime,
    project: &Project,
    remembered: &Result<Option<Remembered>, Problem>,
    journal: &Path,
) -> Result<Option<FirstLook>, Refusal> {
    Ok(Some(match remembered {
        Ok(Some(Remembered { mode: Mode::Warn, .. })) if !journal.exists() && !project.journal().exists() => {
            FirstLook::of(of_mode(Mode::Warn))
        }
        Ok(None) if !journal.exists() => {
            let current = runtime.current(project).map_err(|problem| runtime.refuse(project, None, problem))?;
            if matches!(current, Current::Unguarded) {
                integrity::check_unguarded(project).map_err(Refusal::closed)?;
                // `init --undo` leaves the journal.
                if let Some(failure_mode) = runtime.seen.mode(&project.root).filter(|_| !project.journal().exists()) {
                    return Err(Refusal { problem: integrity::removed(project), failure_mode });
                }
                return Ok(None);
            }
            let configs = of_configs(&current);
            FirstLook { configs, failure_mode: configs }
        }
        // The journals may hold a run in block mode.
        Ok(_) | Err(_) => FirstLook::of(FailureMode::Closed),
    }))
}
