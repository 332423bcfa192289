//! What a source of facts is.

use std::fmt::Debug;
use std::path::Path;

use phasegate_core::policy::steps::Step;
use phasegate_core::{FactValue, Policy};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::project::Project;

/// What a source may look at.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// The root of the project, without links.
    pub root: &'a Path,
    /// The policy that the question is of.
    pub policy: &'a Policy,
    /// The project whose sessions are kept; `None` where nothing is.
    pub project: Option<&'a Project>,
    /// What tries steps of plans; `None`: none are tried.
    pub trial: Option<&'a dyn Trial>,
}

/// Tries steps of plans as calls, before a person approves them.
pub trait Trial: Debug {
    /// Of which of these steps no call can ever be made, and why, in a project whose plans these patterns select: as far as
    /// that is known before.
    fn faults(&self, steps: &[Step], plans: &[String]) -> Vec<String>;
}

impl<'a> World<'a> {
    /// A project and its sessions.
    pub fn of(project: &'a Project, policy: &'a Policy) -> Self {
        Self { root: &project.root, project: Some(project), policy, trial: None }
    }

    /// The same, where steps of plans are tried.
    #[must_use]
    pub fn trying(self, trial: &'a dyn Trial) -> Self {
        Self { trial: Some(trial), ..self }
    }
}

/// A source of facts: it answers questions about the world that the engine asks.
pub trait FactSource {
    /// The name that conditions and journals use.
    const NAME: &'static str;
    /// What a question says besides the name.
    type Arguments: DeserializeOwned;

    /// The answer as it is now. What cannot be found out is [`FactValue::Unknown`].
    fn gather(world: World<'_>, arguments: &Self::Arguments) -> FactValue;
}

/// A source in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    /// The source's name.
    pub name: &'static str,
    gather: fn(World<'_>, &Value) -> FactValue,
    check: fn(&Value) -> Result<(), String>,
}

impl Registered {
    /// The entry of a source.
    pub const fn of<S: FactSource>() -> Self {
        Self { name: S::NAME, gather: gather::<S>, check: check::<S> }
    }

    /// The answer to a question with these arguments. A question that the source does not understand is
    /// [`FactValue::Unknown`], which satisfies no condition.
    pub fn gather(&self, world: World<'_>, arguments: &Value) -> FactValue {
        (self.gather)(world, arguments)
    }

    /// Whether the source understands these arguments.
    ///
    /// # Errors
    ///
    /// The text says what is missing or unknown.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        (self.check)(arguments)
    }
}

fn gather<S: FactSource>(world: World<'_>, arguments: &Value) -> FactValue {
    S::Arguments::deserialize(arguments).map_or(FactValue::Unknown, |arguments| S::gather(world, &arguments))
}

fn check<S: FactSource>(arguments: &Value) -> Result<(), String> {
    S::Arguments::deserialize(arguments).map(|_| ()).map_err(|error| error.to_string())
}
