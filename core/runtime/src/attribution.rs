//! Who gives a command on the command line: a person, or an agent through a program that it runs (rules 4).

use std::path::PathBuf;

use phasegate_adapter::Problem;
use phasegate_core::event::By;

use crate::ancestors::own_ancestors;
use crate::awake::{awake_sessions, readable_sessions};
use crate::project::{Project, session_key};
use crate::runtime::Runtime;
use crate::sessions::{OpenProgram, SessionInfo, Sessions};

/// What makes a command count as the agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The client of a guarded session is among the ancestors of this process.
    Ancestor {
        /// The session.
        session: String,
    },
    /// A variable of this process's environment names a guarded session, as the platform sets it for its agent's programs.
    Variable {
        /// The variable's name.
        name: String,
        /// The session.
        session: String,
    },
    /// A call that can run programs is open in the project, and may have given the command.
    Call(OpenProgram),
    /// This journal of a session was damaged, cut or removed a short time ago, and may hide an open call.
    Journal(PathBuf),
}

impl Runtime {
    /// What makes a command to this project count as the agent's; `None`: it is a person's. The surest sign comes first.
    ///
    /// # Errors
    ///
    /// As for [`crate::sessions::sessions`].
    pub fn sign_of_an_agent(&self, project: &Project) -> Result<Option<Sign>, Problem> {
        if let Some(sign) = self.sign_on_this_process()? {
            return Ok(Some(sign));
        }
        Ok(sign_in(awake_sessions(project)?))
    }

    /// Who a command to this project counts as.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::sign_of_an_agent`].
    pub fn command_by(&self, project: &Project) -> Result<By, Problem> {
        Ok(if self.sign_of_an_agent(project)?.is_some() { By::Agent } else { By::Human })
    }

    /// As [`Runtime::sign_of_an_agent`], for a command that concerns every project.
    ///
    /// # Errors
    ///
    /// As for [`crate::sessions::sessions`].
    pub fn sign_of_an_agent_anywhere(&self) -> Result<Option<Sign>, Problem> {
        if let Some(sign) = self.sign_on_this_process()? {
            return Ok(Some(sign));
        }
        for project in self.projects() {
            if let Some(sign) = sign_in(awake_sessions(&project)?) {
                return Ok(Some(sign));
            }
        }
        Ok(None)
    }

    /// As [`Runtime::sign_of_an_agent`], for a command that ends this session: a call that is open in it, of which no
    /// process is known, is what the command is to end.
    ///
    /// # Errors
    ///
    /// As for [`crate::sessions::sessions`].
    pub fn sign_against_an_end(&self, project: &Project, session: &str) -> Result<Option<Sign>, Problem> {
        if let Some(sign) = self.sign_on_this_process()? {
            return Ok(Some(sign));
        }
        let mut found = awake_sessions(project)?;
        found.known.retain(|other| other.id != session || other.is_at_work());
        Ok(sign_in(found))
    }

    /// As [`Runtime::sign_of_an_agent`], for the repair of sessions with these names. Their journals may hide who is at
    /// work, so every process above this one counts that was started as a program of an agent.
    #[must_use]
    pub fn sign_against_a_repair(&self, project: &Project, repaired: &[&str]) -> Option<Sign> {
        let names = self.platforms.session_variables();
        let own =
            names.iter().find_map(|name| Some((name.clone(), std::env::var(name).ok().filter(|id| !id.is_empty())?)));
        let above = || {
            let processes = own_ancestors();
            processes.into_iter().find_map(|process| {
                let found = process.variables(&names).into_iter().find(|(_, session)| !session.is_empty());
                found.map(|(name, session)| (name.to_string(), session))
            })
        };
        if let Some((name, session)) = own.or_else(above) {
            return Some(Sign::Variable { name, session });
        }
        if let Ok(Some(sign)) = self.sign_on_this_process() {
            return Some(sign);
        }
        let mut found = readable_sessions(project);
        found.known.retain(|session| !repaired.contains(&session_key(&session.id).as_str()));
        found.hidden = None;
        sign_in(found)
    }

    /// A guarded session, of whatever project, that this process or one above it belongs to.
    fn sign_on_this_process(&self) -> Result<Option<Sign>, Problem> {
        for name in self.platforms.session_variables() {
            let Some(session) = std::env::var(&name).ok().filter(|session| !session.is_empty()) else { continue };
            if Project::of_session(&self.locations, &session)?.is_some() {
                return Ok(Some(Sign::Variable { name, session }));
            }
        }
        let above = own_ancestors();
        for project in self.projects() {
            let found = readable_sessions(&project);
            let serving = |session: &&SessionInfo| session.clients.iter().any(|client| above.contains(client));
            if let Some(session) = found.known.iter().find(serving) {
                return Ok(Some(Sign::Ancestor { session: session.id.clone() }));
            }
        }
        Ok(None)
    }

    /// Every project that has state. Their roots are not known here.
    fn projects(&self) -> Vec<Project> {
        let folders = std::fs::read_dir(self.locations.state.join("projects"));
        let project = |folder| Project { root: PathBuf::new(), folder };
        folders.into_iter().flatten().flatten().map(|entry| project(entry.path())).collect()
    }
}

/// What in these sessions makes a command count as the agent's: an open call, or a journal that may hide one.
fn sign_in(found: Sessions) -> Option<Sign> {
    let open = found.known.iter().filter_map(SessionInfo::open_program).max_by_key(|call| call.age);
    open.map(Sign::Call).or(found.hidden.map(Sign::Journal))
}
