//! Who gives a command on the command line: a person, or an agent through a program that it runs (rules 4).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use phasegate_adapter::Problem;
use phasegate_adapter::client::install::STATE_VARIABLES;

use crate::locations::{Locations, USUAL_STATE};
use crate::processes::ancestors::{Process, own_ancestors};
use crate::project::{Project, session_key};
use crate::runtime::Runtime;
use crate::sessions::live::{awake_sessions, readable_sessions};
use crate::sessions::{OpenProgram, SessionInfo, Sessions};

/// What makes a command count as the agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The client of a guarded session is among the ancestors of this process.
    Ancestor {
        /// The session.
        session: String,
    },
    /// A variable of the environment of this process, or of one above it, names a session, as the platform sets it for its
    /// agent's programs. The session need not be guarded.
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
        if let Some(sign) = self.sign_on_this_process(Some(&project.root))? {
            return Ok(Some(sign));
        }
        if let Some(sign) = sign_in(awake_sessions(project)?) {
            return Ok(Some(sign));
        }
        // A command that says itself where the state is hides no session that has it in the usual place.
        let usual = self.usual_state_of(project);
        usual.map_or(Ok(None), |project| {
            let above = own_ancestors();
            let found = awake_sessions(&project)?;
            let serves = |session: &&SessionInfo| session.clients.iter().any(|client| above.contains(client));
            let served = found.known.iter().find(serves).map(|session| Sign::Ancestor { session: session.id.clone() });
            Ok(served.or_else(|| sign_in(found)))
        })
    }

    /// The project with its state where it lies if no variable says so, if it is guarded there and this process has its
    /// state elsewhere.
    fn usual_state_of(&self, project: &Project) -> Option<Project> {
        let usual = Locations { state: self.locations.home.join(USUAL_STATE), ..self.locations.clone() };
        let there = Project::at(&usual, &project.root);
        (usual.state != self.locations.state && there.memory().exists()).then_some(there)
    }

    /// As [`Runtime::sign_of_an_agent`], by the processes above this one alone: for a command that may be given while an agent
    /// is at work elsewhere, or where nothing guards any more.
    ///
    /// # Errors
    ///
    /// As for [`crate::sessions::sessions`].
    pub fn sign_above(&self, project: &Project) -> Result<Option<Sign>, Problem> {
        self.sign_on_this_process(Some(&project.root))
    }

    /// As [`Runtime::sign_of_an_agent`], for a command that concerns every project.
    ///
    /// # Errors
    ///
    /// As for [`crate::sessions::sessions`].
    pub fn sign_of_an_agent_anywhere(&self) -> Result<Option<Sign>, Problem> {
        if let Some(sign) = self.sign_on_this_process(None)? {
            return Ok(Some(sign));
        }
        for project in self.projects() {
            if let Some(mut sign) = sign_in(awake_sessions(&project)?) {
                if let Sign::Call(call) = &mut sign {
                    let began = Project::of_session(&self.locations, &call.session).ok().flatten();
                    call.project = began.map(|project| project.root);
                }
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
        if let Some(sign) = self.sign_on_this_process(Some(&project.root))? {
            return Ok(Some(sign));
        }
        let mut found = awake_sessions(project)?;
        found.known.retain(|other| other.id != session || other.is_at_work());
        Ok(sign_in(found))
    }

    /// As [`Runtime::sign_of_an_agent`], for the repair of sessions with these names, whose own journals say nothing.
    pub fn sign_against_a_repair(&self, project: &Project, repaired: &[&str]) -> Option<Sign> {
        if let Ok(Some(sign)) = self.sign_on_this_process(Some(&project.root)) {
            return Some(sign);
        }
        let mut found = readable_sessions(project);
        found.known.retain(|session| !repaired.contains(&session_key(&session.id).as_str()));
        found.hidden = None;
        sign_in(found)
    }

    /// What shows that an agent's client started this process, or one above it. A session in a folder that nothing guards
    /// counts too: its agent is no person.
    fn sign_on_this_process(&self, root: Option<&Path>) -> Result<Option<Sign>, Problem> {
        let names = self.platforms.session_variables();
        let own =
            names.iter().find_map(|name| Some((name.clone(), std::env::var(name).ok().filter(|id| !id.is_empty())?)));
        let above = own_ancestors();
        let inherited = || above.iter().find_map(|process| self.session_above(*process, &names, root));
        if let Some((name, session)) = own.or_else(inherited) {
            return Ok(Some(Sign::Variable { name, session }));
        }
        for project in self.projects() {
            let found = readable_sessions(&project);
            let serving = |session: &&SessionInfo| session.clients.iter().any(|client| above.contains(client));
            if let Some(session) = found.known.iter().find(serving) {
                return Ok(Some(Sign::Ancestor { session: session.id.clone() }));
            }
        }
        Ok(None)
    }

    /// The variable that names a session in the environment of a process above this one, and the session. One that has its
    /// state and its home folder elsewhere, and guards no project at this root, is about another guard, as that of a test of
    /// phasegate is. A command that says itself that its state is elsewhere hides nothing by that.
    fn session_above(&self, process: Process, names: &[String], root: Option<&Path>) -> Option<(String, String)> {
        let asked: Vec<String> = names.iter().cloned().chain(STATE_VARIABLES.map(str::to_owned)).collect();
        let found = process.variables(&asked);
        let (name, session) = names.iter().find_map(|name| found.get_key_value(name.as_str()))?;
        let theirs = Locations::from_variables(|name| found.get(name).map(OsString::from)).ok()?;
        let own = &self.locations;
        let guards = |root: &Path| !root.as_os_str().is_empty() && Project::at(&theirs, root).memory().exists();
        let same = theirs.state == own.state || theirs.home == own.home || root.is_some_and(guards);
        (!session.is_empty() && same).then(|| (name.to_string(), session.clone()))
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
