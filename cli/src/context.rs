//! What every subcommand works with.

use std::path::PathBuf;

use phasegate_runtime::{Locations, Project, Runtime};

use crate::output::{Failure, Output};

/// The shared arguments and the output.
#[derive(Debug)]
pub struct Context {
    /// Where the answer goes.
    pub out: Output,
    /// The project as given, if it was.
    pub project: Option<PathBuf>,
    /// The grammar of the command line, from which completions are made.
    pub grammar: fn() -> clap::Command,
}

impl Context {
    /// A runtime for every platform of this build.
    ///
    /// # Errors
    ///
    /// No folder for the state is known.
    pub fn runtime(&self) -> Result<Runtime, Failure> {
        Ok(Runtime::new(Locations::from_environment()?, phasegate_adapters::all()))
    }

    /// The folder that was given, else the current one, without links.
    ///
    /// # Errors
    ///
    /// It does not exist.
    pub fn start(&self) -> Result<PathBuf, Failure> {
        let start = match &self.project {
            Some(given) => given.clone(),
            None => std::env::current_dir().map_err(|error| Failure::new(format!("no current folder: {error}")))?,
        };
        start.canonicalize().map_err(|error| Failure::new(format!("`{}` cannot be opened: {error}", start.display())))
    }

    /// The project that [`Context::start`] lies in.
    ///
    /// # Errors
    ///
    /// As for [`Context::start`].
    pub fn find_project(&self, runtime: &Runtime) -> Result<Project, Failure> {
        Ok(Project::find(&runtime.locations, &self.start()?))
    }

    /// The runtime, and the project of the folder that was given, else of the current one.
    ///
    /// # Errors
    ///
    /// As for [`Context::runtime`] and [`Context::start`].
    pub fn runtime_and_project(&self) -> Result<(Runtime, Project), Failure> {
        let runtime = self.runtime()?;
        let project = self.find_project(&runtime)?;
        Ok((runtime, project))
    }
}
