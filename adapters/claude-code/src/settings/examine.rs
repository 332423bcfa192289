//! What the client's settings, as they are, mean for the guard.

use std::path::Path;

use jsonc_parser::cst::{CstNode, CstObject};
use phasegate_adapter::{ExamineRequest, Examined, Finding, Level};
use phasegate_core::policy::Mode;
use serde_json::Value;

use crate::hosts::host::{Failing, Host};
use crate::settings::entry::{Otherwise, Owner, by_client, otherwise, owner, program_of};
use crate::settings::trust;
use crate::settings::{Comments, group_of, holds_hooks, hooks_of, parse, takes_all};

/// One hook that runs the guard.
struct Wired {
    event: String,
    path: String,
    program: String,
    /// The command and its arguments as they are written: the client starts the same one once.
    line: String,
    managed: bool,
    /// Whether it runs for everything that happens under the event.
    whole: bool,
    /// Whether another program wrote it in its own form.
    wrapped: bool,
    /// What the shell makes of an end of the guard that is no answer.
    otherwise: Otherwise,
    /// Whether the client makes a denial of it.
    by_client: bool,
}

/// Settings that the client reads, and what is in them.
struct Settings<'a> {
    path: &'a Path,
    managed: bool,
    value: Value,
    hooks: Option<CstObject>,
}

/// What the settings mean for the guard.
pub(crate) fn examine(host: &Host, request: &ExamineRequest) -> Examined {
    let mut examined = Examined::default();
    let mut files = Vec::new();
    for (path, text) in request.install.existing.iter().filter(|(path, _)| holds_hooks(path)) {
        match parse(path, text, Comments::Refused) {
            Ok((_, root)) => {
                let value = root.to_serde_value().unwrap_or_default();
                let hooks = root.object_value().and_then(|object| object.object_value("hooks"));
                files.push(Settings { path, managed: path.starts_with(host.managed), value, hooks });
            }
            Err(problem) => {
                let level = if text.contains("phasegate") { Level::Problem } else { Level::Warning };
                let fix = "make it JSON without comments, trailing commas and repeated keys";
                examined.findings.push(Finding::new(level, problem.message).with(fix));
            }
        }
    }
    let wired: Vec<_> = files.iter().flat_map(|file| wired(host, file, &request.install.command)).collect();
    examined.managed = wired.iter().any(|hook| hook.managed && hook.event == "PreToolUse" && hook.whole);
    for hook in wired.iter().filter(|hook| !hook.program.is_empty()) {
        if !examined.programs.contains(&hook.program) {
            examined.programs.push(hook.program.clone());
        }
    }
    examined.findings.extend(files.iter().flat_map(|file| file_findings(host, file, examined.managed)));
    examined.findings.extend(presence(host, &wired));
    examined.findings.extend(trust::findings(host, &request.install));
    examined.findings.extend(forms(host, &wired, request.install.mode));
    examined.findings.extend(environment(host, request));
    examined.findings.push(version(host, request.version.as_deref()));
    examined
}

/// The hooks of a file that run the guard.
fn wired(host: &Host, file: &Settings<'_>, command: &str) -> Vec<Wired> {
    let mut found = Vec::new();
    for property in file.hooks.iter().flat_map(CstObject::properties) {
        let event = property.decoded_name().unwrap_or_default();
        let hooks = property.array_value().as_ref().map(hooks_of).unwrap_or_default();
        found.extend(hooks.iter().filter_map(|hook| one(host, file, &event, hook, command)));
    }
    found
}

fn one(host: &Host, file: &Settings<'_>, event: &str, hook: &CstNode, command: &str) -> Option<Wired> {
    let value = hook.to_serde_value()?;
    let whose = owner(host, &value, command);
    if whose == Owner::Other {
        return None;
    }
    Some(Wired {
        event: event.to_owned(),
        path: file.path.display().to_string(),
        program: if whose == Owner::Ours { program_of(host, &value).unwrap_or_default() } else { String::new() },
        line: [value.get("command"), value.get("args")].into_iter().flatten().map(Value::to_string).collect(),
        managed: file.managed,
        whole: group_of(hook).is_some_and(|group| takes_all(&group)),
        wrapped: whose == Owner::Wrapped,
        otherwise: otherwise(host, &value),
        by_client: by_client(&value),
    })
}

/// What a file has that weakens the guard, whether it holds its hooks or not.
fn file_findings(host: &Host, file: &Settings<'_>, managed: bool) -> Vec<Finding> {
    let path = file.path.display();
    let mut found = Vec::new();
    let mut add = |level, what: String, fix: &str| found.push(Finding::new(level, what).with(fix));
    if file.value.get("disableAllHooks") == Some(&Value::Bool(true)) {
        let level = if managed && !file.managed { Level::Note } else { Level::Problem };
        add(
            level,
            format!("`{path}` has `disableAllHooks: true`, so no hook of it or of the project runs"),
            "take it out",
        );
    }
    if file.value.get("allowManagedHooksOnly") == Some(&Value::Bool(true)) && !managed {
        let what =
            format!("`{path}` has `allowManagedHooksOnly: true`, and the machine's settings do not run the guard");
        add(Level::Problem, what, "have the hooks put into the machine's settings");
    }
    for kind in odd_kinds(host, file.hooks.as_ref()) {
        let what = format!("a hook in `{path}` has the type `{kind}`, which makes the client drop hooks beside it");
        add(Level::Problem, what, "take that hook out");
    }
    let permissions = file.value.get("permissions");
    if permissions.and_then(|all| all.get("defaultMode")).is_some_and(|mode| mode == "bypassPermissions") {
        let what = format!("`{path}` lets every call run without asking; the guard is then all that stands in between");
        add(Level::Note, what, "set `permissions.defaultMode` to `default` where people are present");
    }
    let allowed = permissions.and_then(|all| all.get("allow")).and_then(Value::as_array).into_iter().flatten();
    for rule in allowed.filter_map(Value::as_str).filter(|rule| rule.contains("phasegate")) {
        let what = format!("`{path}` lets the agent run `{rule}` without asking");
        add(Level::Warning, what, "take the rule out: the guard's commands are for people");
    }
    found
}

fn odd_kinds(host: &Host, hooks: Option<&CstObject>) -> Vec<String> {
    let groups = hooks.into_iter().flat_map(CstObject::properties).filter_map(|property| property.array_value());
    let kinds = groups
        .flat_map(|groups| hooks_of(&groups))
        .filter_map(|hook| hook.to_serde_value())
        .map(|hook| hook.get("type").and_then(Value::as_str).unwrap_or_default().to_owned());
    kinds.filter(|kind| !host.kinds.contains(&kind.as_str())).collect()
}

/// Whether every event that `init` wires reaches the guard.
fn presence(host: &Host, wired: &[Wired]) -> Vec<Finding> {
    let fix = init(host);
    if wired.is_empty() {
        return vec![Finding::new(Level::Problem, "no settings file has a hook that runs the guard").with(fix)];
    }
    let reaches = |event: &str| wired.iter().any(|hook| hook.event == event && hook.whole);
    let missing = |failing: Failing| -> Vec<String> {
        let events = host.events.iter().filter(|(event, how)| *how == failing && !reaches(event));
        events.map(|(event, _)| format!("`{event}`")).collect()
    };
    let mut found = Vec::new();
    for (failing, level, then) in [
        (Failing::Closed, Level::Problem, "what the agent does there is not guarded"),
        (Failing::Open, Level::Warning, "evidence or the course of sessions is not seen"),
    ] {
        let events = missing(failing);
        if !events.is_empty() {
            let what = format!("no hook runs the guard for every {}: {then}", events.join(", "));
            found.push(Finding::new(level, what).with(fix.as_str()));
        }
    }
    if found.is_empty() {
        let mut paths: Vec<_> = wired.iter().map(|hook| format!("`{}`", hook.path)).collect();
        paths.dedup();
        let what = format!("hooks for all {} events are in {}", host.events.len(), paths.join(", "));
        found.push(Finding::new(Level::Ok, what));
    }
    found
}

/// Whether each hook has a form in which it denies when the guard fails, and decides each call once.
fn forms(host: &Host, wired: &[Wired], mode: Mode) -> Vec<Finding> {
    let mut found = Vec::new();
    for (event, failing) in host.events {
        let hooks: Vec<_> = wired.iter().filter(|hook| hook.event == *event).collect();
        let mut lines: Vec<_> = hooks.iter().map(|hook| hook.line.as_str()).collect();
        if host.once {
            lines.sort_unstable();
            lines.dedup();
        }
        if lines.len() > 1 {
            let what = format!("more than one hook runs the guard for `{event}`, so every such event is decided twice");
            let fix = if host.once {
                format!("{}, which writes the same line everywhere", init(host))
            } else {
                "take it out of one of the files, with `phasegate init --undo`".to_owned()
            };
            found.push(Finding::new(Level::Warning, what).with(fix));
        }
        if *failing == Failing::Closed {
            found.extend(hooks.into_iter().filter_map(|hook| failing_open(host, hook, mode)));
        }
    }
    if let Some(hook) = wired.iter().find(|hook| hook.wrapped) {
        let what = format!("a hook in `{}` runs the guard in a form of its own", hook.path);
        found.push(
            Finding::new(Level::Warning, what).with("check that it denies when the guard fails, and adds no output"),
        );
    }
    found
}

fn failing_open(host: &Host, hook: &Wired, mode: Mode) -> Option<Finding> {
    let (event, path) = (&hook.event, &hook.path);
    let fix = format!("{}, which renews it", init(host));
    match (hook.otherwise, hook.by_client, mode) {
        (Otherwise::ByMode, true, _) | (Otherwise::ByMode, false, Mode::Warn) => None,
        (Otherwise::Denies, true, _) | (Otherwise::Tells | Otherwise::OnlyTells, _, Mode::Warn) => {
            let what =
                format!("the hook for `{event}` in `{path}` has an earlier form, which differs by the project's mode");
            Some(Finding::new(Level::Warning, what).with(fix))
        }
        (Otherwise::ByMode, false, Mode::Block) => {
            let what = format!(
                "the hook for `{event}` in `{path}` was written for warn mode, and a skill here is in block mode: if the \
                 guard hangs, the call runs"
            );
            Some(Finding::new(Level::Problem, what).with(fix))
        }
        (Otherwise::Tells | Otherwise::OnlyTells, _, Mode::Block) => {
            let what = format!(
                "the hook for `{event}` in `{path}` was written for warn mode, and a skill here is in block mode: if the \
                 guard is gone, the call runs"
            );
            Some(Finding::new(Level::Problem, what).with(fix))
        }
        (Otherwise::DeniesBefore, true, _) => {
            let what = format!(
                "the hook for `{event}` in `{path}` has an earlier form: it says nothing where the program is not installed"
            );
            Some(Finding::new(Level::Warning, what).with(fix))
        }
        (Otherwise::DeniesFailures, true, _) => {
            let what = format!(
                "the hook for `{event}` in `{path}` has an earlier form: an emptied program passes for an answer"
            );
            Some(Finding::new(Level::Warning, what).with(fix))
        }
        (Otherwise::Denies | Otherwise::DeniesBefore | Otherwise::DeniesFailures, false, _) => {
            let what =
                format!("the hook for `{event}` in `{path}` has no `onFailure: block`: if it hangs, the call runs");
            Some(Finding::new(Level::Warning, what).with(fix))
        }
        (Otherwise::Passes, true, _) => {
            let what = format!(
                "the hook for `{event}` in `{path}` has no shell that denies: if the guard dies under a client that does \
                 not know `onFailure`, the call runs"
            );
            Some(Finding::new(Level::Warning, what).with(fix))
        }
        (Otherwise::Passes, false, _) => {
            let what = format!("the hook for `{event}` in `{path}` lets the call run if the guard dies or is gone");
            Some(Finding::new(Level::Problem, what).with(fix))
        }
    }
}

/// The command that writes the hooks.
fn init(host: &Host) -> String {
    format!("run `phasegate init {}`", host.table.id)
}

fn environment(host: &Host, request: &ExamineRequest) -> Option<Finding> {
    let variable = host.config_variable;
    let folder = request.environment.get(variable).filter(|folder| !folder.is_empty())?;
    let what = format!("`{variable}` is `{folder}`: clients started from here read the user's settings there");
    Some(Finding::new(Level::Warning, what).with("keep the hooks in the project's settings"))
}

fn version(host: &Host, said: Option<&str>) -> Finding {
    let version = said.map(|said| said.split_whitespace().next().unwrap_or_default());
    if let Some(version) = version.filter(|version| host.ignores_on_failure.contains(version)) {
        let what =
            format!("client {version} ignores `onFailure`: a guard that hangs past the timeout lets the call run");
        return Finding::new(Level::Warning, what).with("update the client");
    }
    let program = host.table.version_command.first().copied().unwrap_or_default();
    Finding::of_version(version, host.table.versions, program)
}
