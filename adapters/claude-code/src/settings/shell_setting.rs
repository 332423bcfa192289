//! The client's shell in the user's settings: the guard's, with the one that was there before beside it.

use jsonc_parser::cst::{CstInputValue, CstObject};
use phasegate_adapter::{CHAINED_SHELL, ClientShell as _, InstallRequest, InstallScope, SHELLS, below_home};

use crate::shell::Shell;

/// Makes the guard's shell the client's, in the settings with this value.
pub(crate) fn put(settings: &CstObject, request: &InstallRequest) {
    let shell = request.shell.as_ref().filter(|_| request.scope == InstallScope::User);
    let Some(shell) = shell.and_then(|shell| shell.to_str()) else { return };
    let env = settings.object_value_or_set("env");
    let before = value(&env, Shell.variable()).filter(|before| !is_ours(before));
    set(&env, Shell.variable(), shell);
    if let Some(before) = before {
        set(&env, CHAINED_SHELL, &before);
    }
}

/// Takes it out again; whether it was there.
pub(crate) fn remove(settings: &CstObject) -> bool {
    let Some(env) = settings.object_value("env") else { return false };
    if !value(&env, Shell.variable()).is_some_and(|shell| is_ours(&shell)) {
        return false;
    }
    match value(&env, CHAINED_SHELL) {
        Some(before) => set(&env, Shell.variable(), &before),
        None => unset(&env, Shell.variable()),
    }
    unset(&env, CHAINED_SHELL);
    if env.properties().is_empty() {
        unset(settings, "env");
    }
    true
}

fn is_ours(shell: &str) -> bool {
    below_home(SHELLS).is_some_and(|folder| shell.contains(folder))
}

fn value(object: &CstObject, name: &str) -> Option<String> {
    object.get(name)?.to_serde_value()?.as_str().map(str::to_owned)
}

fn set(object: &CstObject, name: &str, text: &str) {
    let value = CstInputValue::String(text.to_owned());
    match object.get(name) {
        Some(property) => property.set_value(value),
        None => drop(object.append(name, value)),
    }
}

fn unset(object: &CstObject, name: &str) {
    if let Some(property) = object.get(name) {
        property.remove();
    }
}
