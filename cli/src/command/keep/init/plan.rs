//! The changes that `init` makes in one scope.

use phasegate_adapter::Change;

use super::setting::Setting;
use crate::output::Failure;

/// What is to be written into the settings of the project or of the user.
pub(crate) struct Plan<'a> {
    pub(crate) setting: Setting<'a>,
    pub(crate) changes: Vec<Change>,
}

impl<'a> Plan<'a> {
    /// The changes of these files, and those that put the guard into the settings.
    ///
    /// # Errors
    ///
    /// A settings file cannot be understood.
    pub(crate) fn new(setting: Setting<'a>, mut changes: Vec<Change>) -> Result<Self, Failure> {
        for adapter in &setting.adapters {
            changes.extend(setting.changes(*adapter, &setting.request(*adapter)?)?);
        }
        changes.retain(|change| change.before != change.after);
        Ok(Self { setting, changes })
    }
}
