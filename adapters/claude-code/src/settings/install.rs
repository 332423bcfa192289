//! The client's settings with our hooks in them, and without.
//!
//! The file is edited in place as text: what else is in it keeps its order and its form.
//!
//! Tried with both recorded versions of the client: settings with a comment or a trailing comma are ignored whole, and one
//! hook of a kind that the client does not know takes others with it. Hooks put there would guard nothing, so both are
//! problems here, as is `disableAllHooks`.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode};
use phasegate_adapter::{Change, InstallRequest, InstallScope, Problem};
use phasegate_core::Code;
use serde_json::Value;

use crate::hosts::host::Host;
use crate::settings::entry::{Form, entry, ours};
use crate::settings::odd_hooks::reject_odd_hooks;
use crate::settings::shell_setting;
use crate::settings::{Comments, group_of, parse, reject_switched_off, takes_all};
use crate::slash_command;

/// The changes that wire us in: our hooks in the settings, and the command that a person types.
pub(crate) fn install(host: &Host, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    let mut changes = put_hooks(host, request, settings(host, request))?;
    changes.extend(slash_command::install(host, request));
    Ok(changes)
}

/// The changes that put our hooks into the settings which one person keeps in the project. The command `/phasegate` is a
/// file that others would get. `None` where there are no such settings.
pub(crate) fn install_local(host: &Host, request: &InstallRequest) -> Result<Option<Vec<Change>>, Problem> {
    host.local_settings.map(|file| put_hooks(host, request, request.project.join(file))).transpose()
}

/// The changes that take us out again.
pub(crate) fn uninstall(host: &Host, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    let mut changes: Vec<_> = remove_hooks(host, request, settings(host, request))?.into_iter().collect();
    if let (InstallScope::Project, Some(file)) = (request.scope, host.local_settings) {
        changes.extend(remove_hooks(host, request, request.project.join(file))?);
    }
    changes.extend(slash_command::uninstall(host, request));
    Ok(changes)
}

/// The changes that put our hooks into the settings, and take older ones of ours out.
fn put_hooks(host: &Host, request: &InstallRequest, path: PathBuf) -> Result<Vec<Change>, Problem> {
    for (path, text) in &request.existing {
        reject_switched_off(path, text)?;
    }
    let before = request.existing.get(&path);
    let (mark, root) = parse(&path, before.map_or("{}\n", String::as_str), Comments::Refused)?;
    let object = root.object_value_or_create().ok_or_else(|| wrong(&path, "the file's value", "object"))?;
    let hooks = object.object_value_or_create("hooks").ok_or_else(|| wrong(&path, "`hooks`", "object"))?;
    reject_odd_hooks(host, &path, &hooks, &request.command)?;
    for (event, _) in host.events {
        let entries =
            hooks.array_value_or_create(event).ok_or_else(|| wrong(&path, &format!("`hooks.{event}`"), "list"))?;
        let wanted = entry(host, event, &request.command, request.mode, Form::Shell);
        put(&entries, &wanted, ours(host, &entries, &request.command));
    }
    if host.holds_all {
        shell_setting::put(&object, request);
    }
    let after = format!("{mark}{root}");
    if before == Some(&after) {
        return Ok(Vec::new());
    }
    Ok(vec![Change { path, before: before.cloned(), after: Some(after) }])
}

/// The change that takes our hooks out of the settings. Settings that held nothing else are removed.
fn remove_hooks(host: &Host, request: &InstallRequest, path: PathBuf) -> Result<Option<Change>, Problem> {
    let Some(before) = request.existing.get(&path) else { return Ok(None) };
    let (mark, root) = parse(&path, before, Comments::Kept)?;
    let object = root.object_value().ok_or_else(|| wrong(&path, "the file's value", "object"))?;
    let mut found = shell_setting::remove(&object);
    let hooks = object.object_value("hooks");
    for property in hooks.iter().flat_map(|hooks| hooks.properties()) {
        let Some(entries) = property.array_value() else { continue };
        let ours = ours(host, &entries, &request.command);
        if !ours.is_empty() {
            found = true;
            remove_all(ours);
            if entries.elements().is_empty() {
                property.remove();
            }
        }
    }
    if !found {
        return Ok(None);
    }
    if hooks.is_some_and(|hooks| hooks.properties().is_empty())
        && let Some(property) = object.get("hooks")
    {
        property.remove();
    }
    let left = format!("{mark}{root}");
    let empty = object.properties().is_empty() && root.to_string().split_whitespace().collect::<String>() == "{}";
    Ok(Some(Change { path, before: Some(before.clone()), after: (!empty).then_some(left) }))
}

/// Puts one hook of ours among an event's entries, unless just this one is there and nothing narrows it.
fn put(entries: &CstArray, wanted: &Value, ours: Vec<CstNode>) {
    if let [one] = ours.as_slice()
        && one.to_serde_value().as_ref() == Some(wanted)
        && group_of(one).is_some_and(|group| takes_all(&group))
    {
        return;
    }
    remove_all(ours);
    let group = CstInputValue::Object(vec![("hooks".into(), CstInputValue::Array(vec![input(wanted)]))]);
    entries.append(group);
}

fn wrong(path: &Path, what: &str, wanted: &str) -> Problem {
    let article = if wanted == "object" { "an" } else { "a" };
    Problem::new(Code::ConfigValue, format!("`{}`: {what} is not {article} {wanted}", path.display()))
}

fn settings(host: &Host, request: &InstallRequest) -> PathBuf {
    let root = match request.scope {
        InstallScope::Project => &request.project,
        InstallScope::User => &request.home,
    };
    root.join(host.settings)
}

/// Takes hooks out, and with the last hook of a group the group.
fn remove_all(hooks: Vec<CstNode>) {
    for hook in hooks {
        let group = group_of(&hook);
        let list = hook.parent().and_then(|node| node.as_array());
        hook.remove();
        if let (Some(list), Some(group)) = (list, group)
            && list.elements().is_empty()
        {
            group.remove();
        }
    }
}

/// A hook as text, its keys in the order in which people write them.
fn input(hook: &Value) -> CstInputValue {
    let fields = ["type", "command", "args", "timeout", "onFailure"];
    CstInputValue::Object(
        fields.into_iter().filter_map(|name| Some((name.to_owned(), scalar(hook.get(name)?)))).collect(),
    )
}

fn scalar(value: &Value) -> CstInputValue {
    match value {
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(scalar).collect()),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Null | Value::Object(_) => CstInputValue::Null,
    }
}
