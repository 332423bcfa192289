//! Where phasegate keeps its state and looks for configs outside a project.
//!
//! The variables that move these folders are for tests and for people. A guarded agent can set them for the programs it
//! starts, not for the hooks that its client starts. A program that can change the client's own environment can also
//! remove the hook.

use std::ffi::OsString;
use std::path::PathBuf;

use phasegate_adapter::{PROGRAM, Problem, below_home};
use phasegate_core::Code;

/// The folder of a project's configs, below its root.
pub const CONFIG_FOLDER: &str = ".phasegate";

/// Where the state is below the home folder if no variable says otherwise.
pub(crate) const USUAL_STATE: &str = ".local/state/phasegate";

/// The folders outside the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    /// Journals, compiled policies and what is remembered about projects.
    pub state: PathBuf,
    /// The user's configs.
    pub user: PathBuf,
    /// The machine's configs.
    pub machine: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
}

impl Locations {
    /// The folders that the process environment names.
    ///
    /// # Errors
    ///
    /// `state-unreadable`: no variable says by an absolute path where the state lives.
    pub fn from_environment() -> Result<Self, Problem> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// The folders that these variables name: `PHASEGATE_STATE_DIR`, `PHASEGATE_CONFIG_DIR`,
    /// `PHASEGATE_MACHINE_DIR`, `XDG_STATE_HOME`, `XDG_CONFIG_HOME`, `HOME`. A relative XDG folder is ignored,
    /// as its specification asks.
    ///
    /// # Errors
    ///
    /// As for [`Locations::from_environment`].
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, Problem> {
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let xdg = |name: &str| folder(name).filter(|path| path.is_absolute()).map(|path| path.join("phasegate"));
        let home = folder("HOME").filter(|home| home.is_absolute());
        let state = folder("PHASEGATE_STATE_DIR");
        if let Some(relative) = state.as_ref().filter(|state| !state.is_absolute()) {
            return Err(unplaced(&format!(
                "`PHASEGATE_STATE_DIR` is `{}`, which is no absolute path",
                relative.display()
            )));
        }
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let missing = || match folder("HOME") {
            Some(relative) => unplaced(&format!("`HOME` is `{}`, which is no absolute path", relative.display())),
            None => unplaced("`HOME` is not set, so nothing says where the state is"),
        };
        Ok(Self {
            state: state.or_else(|| xdg("XDG_STATE_HOME")).or_else(|| below_home(USUAL_STATE)).ok_or_else(missing)?,
            user: folder("PHASEGATE_CONFIG_DIR")
                .or_else(|| xdg("XDG_CONFIG_HOME"))
                .or_else(|| below_home(".config/phasegate"))
                .unwrap_or_default(),
            machine: folder("PHASEGATE_MACHINE_DIR").unwrap_or_else(|| PathBuf::from("/etc/phasegate")),
            home: home.unwrap_or_default(),
        })
    }
}

impl Locations {
    /// The file that a program of settings means, which may be written below the home folder. A name is none.
    pub fn program_file(&self, program: &str) -> Option<PathBuf> {
        let below = below_home(program).filter(|_| self.home.is_absolute()).map(|below| self.home.join(below));
        below.or_else(|| program.contains('/').then(|| PathBuf::from(program)))
    }

    /// Where the link is that hooks start; `None` without a home folder.
    pub fn program(&self) -> Option<PathBuf> {
        self.program_file(PROGRAM).filter(|path| path.is_absolute())
    }
}

/// The problem with an environment that does not say where the state lives.
fn unplaced(what: &str) -> Problem {
    let remedy = "ask the user to set `HOME` to the home folder where the client is started, or `PHASEGATE_STATE_DIR` to a \
                  folder by its absolute path, and to start the client again";
    Problem::new(Code::StateUnreadable, what).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(variables: &[(&str, &str)]) -> Result<Locations, Problem> {
        Locations::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_own_variable_beats_xdg_and_xdg_beats_home() {
        let all = [("HOME", "/h"), ("XDG_STATE_HOME", "/x"), ("PHASEGATE_STATE_DIR", "/own")];
        assert_eq!(locate(&all).unwrap().state, PathBuf::from("/own"));
        assert_eq!(locate(&all[..2]).unwrap().state, PathBuf::from("/x/phasegate"));
        assert_eq!(locate(&all[..1]).unwrap().state, PathBuf::from("/h/.local/state/phasegate"));
    }

    #[test]
    fn an_empty_or_relative_folder_counts_as_not_given() {
        let found = locate(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "rel"), ("PHASEGATE_CONFIG_DIR", "")]).unwrap();
        assert_eq!(found.user, PathBuf::from("/h/.config/phasegate"));
    }

    #[test]
    fn without_a_home_the_state_has_no_place() {
        let text = |variables: &[(&str, &str)]| locate(variables).unwrap_err().text();
        assert!(text(&[]).contains("`HOME` is not set") && text(&[]).contains("set `HOME`"));
        assert!(text(&[("HOME", "h")]).contains("`HOME` is `h`, which is no absolute path"));
        assert!(text(&[("HOME", "/h"), ("PHASEGATE_STATE_DIR", "s")]).contains("`PHASEGATE_STATE_DIR` is `s`"));
    }
}
