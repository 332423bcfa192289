//! The client's settings with our hooks in them, and without.
//!
//! The file is edited in place as text: what else is in it keeps its order and its form.
//!
//! Tried with both recorded versions of the client: settings with a comment or a trailing comma are ignored whole, and one
//! hook of a kind that the client does not know takes others with it. Hooks put there would guard nothing, so both are
//! problems here, as is `disableAllHooks`.

mod examine;
mod owner;
mod spoken;
mod standing;

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use phasegate_adapter::{Change, InstallRequest, InstallScope, Problem};
use phasegate_core::Code;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

pub(crate) use self::examine::examine;
use self::owner::{Owner, quoted};
pub(crate) use self::standing::unguarded;

/// How the client starts the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Through a shell, which denies by exit status 2 unless the guard confirms its answer by a status of its own: fails
    /// closed on every recorded version.
    Shell,
    /// Directly, without a shell: fails closed only on versions that know `onFailure`, 2.1.329 among them.
    Exec,
}

/// What happens to the event when the guard cannot run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failing {
    /// It is denied.
    Closed,
    /// It goes on: there is nothing to deny, or a block would do harm (`Stop` would go on for ever).
    Open,
}

/// The events that are hooked, in the order in which they are written.
const EVENTS: [(&str, Failing); 15] = [
    ("PreToolUse", Failing::Closed),
    ("PostToolUse", Failing::Open),
    ("PostToolUseFailure", Failing::Open),
    ("PostToolBatch", Failing::Open),
    ("UserPromptSubmit", Failing::Open),
    ("UserPromptExpansion", Failing::Closed),
    ("SessionStart", Failing::Open),
    ("SessionEnd", Failing::Open),
    ("SubagentStart", Failing::Open),
    ("SubagentStop", Failing::Open),
    ("Stop", Failing::Open),
    ("PreCompact", Failing::Open),
    ("PermissionRequest", Failing::Open),
    ("PermissionDenied", Failing::Open),
    ("ConfigChange", Failing::Closed),
];

/// Seconds after which the client gives up on a hook. The guard's own deadline is well below.
const TIMEOUT: u32 = 30;

/// What follows the program in the command.
const ARGUMENTS: &str = "hook claude-code";

/// What makes a shell's command deny unless the program confirms that it has decided. That it ended well is not enough: a
/// shell takes an empty file, which an interrupted upgrade leaves, for a script that did.
const OR_DENY: &str = " --confirm; [ $? = 10 ] || exit 2";

/// What was written before.
const OR_DENY_BEFORE: &str = " || exit 2";

/// The hook that runs `command` (a path, or a name found through `PATH`) for an event of the client.
#[must_use]
pub fn hook_entry(event: &str, command: &str, form: Form) -> Value {
    let failing = EVENTS.iter().find(|(name, _)| *name == event).map_or(Failing::Open, |(_, failing)| *failing);
    let mut hook = match form {
        Form::Exec => {
            json!({"type": "command", "command": command, "args": ["hook", "claude-code"], "timeout": TIMEOUT})
        }
        Form::Shell => {
            let or_deny = if failing == Failing::Closed { OR_DENY } else { "" };
            json!({"type": "command", "command": format!("{} {ARGUMENTS}{or_deny}", quoted(command)), "timeout": TIMEOUT})
        }
    };
    if let (Failing::Closed, Some(fields)) = (failing, hook.as_object_mut()) {
        fields.insert("onFailure".into(), "block".into());
    }
    hook
}

/// The changes that wire us in: our hooks in the settings, and the command that a person types.
pub(crate) fn install(request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    let mut changes = put_hooks(request)?;
    changes.extend(spoken::install(request));
    Ok(changes)
}

/// The changes that take us out again.
pub(crate) fn uninstall(request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    let mut changes = remove_hooks(request)?;
    changes.extend(spoken::uninstall(request));
    Ok(changes)
}

/// The changes that put our hooks into the settings, and take older ones of ours out.
fn put_hooks(request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    for (path, text) in &request.existing {
        reject_switched_off(path, text)?;
    }
    let path = settings(request);
    let before = request.existing.get(&path);
    let (mark, root) = parse(&path, before.map_or("{}\n", String::as_str), Comments::Refused)?;
    let object = root.object_value_or_create().ok_or_else(|| wrong(&path, "the file's value", "object"))?;
    let hooks = object.object_value_or_create("hooks").ok_or_else(|| wrong(&path, "`hooks`", "object"))?;
    reject_odd_hooks(&path, &hooks, &request.command)?;
    for (event, _) in EVENTS {
        let entries =
            hooks.array_value_or_create(event).ok_or_else(|| wrong(&path, &format!("`hooks.{event}`"), "list"))?;
        put(&entries, &hook_entry(event, &request.command, Form::Shell), &request.command);
    }
    let after = format!("{mark}{root}");
    if before == Some(&after) {
        return Ok(Vec::new());
    }
    Ok(vec![Change { path, before: before.cloned(), after: Some(after) }])
}

/// The changes that take our hooks out of the settings. Settings that held nothing else are removed.
fn remove_hooks(request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    let path = settings(request);
    let Some(before) = request.existing.get(&path) else { return Ok(Vec::new()) };
    let (mark, root) = parse(&path, before, Comments::Kept)?;
    let object = root.object_value().ok_or_else(|| wrong(&path, "the file's value", "object"))?;
    let Some(hooks) = object.object_value("hooks") else { return Ok(Vec::new()) };
    let mut found = false;
    for property in hooks.properties() {
        let Some(entries) = property.array_value() else { continue };
        let ours = ours(&entries, &request.command);
        if !ours.is_empty() {
            found = true;
            remove_all(ours);
            if entries.elements().is_empty() {
                property.remove();
            }
        }
    }
    if !found {
        return Ok(Vec::new());
    }
    if hooks.properties().is_empty()
        && let Some(property) = object.get("hooks")
    {
        property.remove();
    }
    let left = format!("{mark}{root}");
    let empty = object.properties().is_empty() && root.to_string().split_whitespace().collect::<String>() == "{}";
    Ok(vec![Change { path, before: Some(before.clone()), after: (!empty).then_some(left) }])
}

/// Puts one hook of ours among an event's entries, unless just this one is there and nothing narrows it.
fn put(entries: &CstArray, wanted: &Value, command: &str) {
    let ours = ours(entries, command);
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

/// Whether a group of hooks runs for everything that happens.
fn takes_all(group: &CstObject) -> bool {
    group.properties().iter().all(|property| match property.decoded_name().as_deref() {
        Some("hooks") => true,
        Some("matcher") => property.to_serde_value().is_some_and(|matcher| matcher == "" || matcher == "*"),
        _ => false,
    })
}

fn wrong(path: &Path, what: &str, wanted: &str) -> Problem {
    let article = if wanted == "object" { "an" } else { "a" };
    Problem::new(Code::ConfigValue, format!("`{}`: {what} is not {article} {wanted}", path.display()))
}

fn settings(request: &InstallRequest) -> PathBuf {
    let root = match request.scope {
        InstallScope::Project => &request.project,
        InstallScope::User => &request.home,
    };
    root.join(".claude").join("settings.json")
}

/// What is done with comments and trailing commas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comments {
    /// They are a problem.
    Refused,
    /// They stay where they are.
    Kept,
}

/// Reads settings: their byte order mark, if there is one, and the rest.
fn parse<'a>(path: &Path, text: &'a str, comments: Comments) -> Result<(&'a str, CstRootNode), Problem> {
    let kept = comments == Comments::Kept;
    let options = ParseOptions {
        allow_comments: kept,
        allow_trailing_commas: kept,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let (mark, rest) = text.strip_prefix(MARK).map_or(("", text), |rest| (MARK, rest));
    let syntax = |what: String| {
        Problem::new(Code::ConfigSyntax, format!("the client ignores `{}` as it is: {what}", path.display()))
    };
    let root = CstRootNode::parse(rest, &options).map_err(|e| syntax(e.to_string()))?;
    if !kept && !rest.trim().is_empty() {
        // The options let some comments pass.
        let strict = serde_json::from_str::<IgnoredAny>(rest);
        strict.map_err(|e| syntax(format!("it is not JSON without comments: {e}")))?;
    }
    if let Some(name) = root.object_value().as_ref().and_then(repeated) {
        return Err(Problem::new(Code::ConfigKeyDuplicate, format!("`{}`: `{name}` is given twice", path.display())));
    }
    Ok((mark, root))
}

/// The byte order mark of a file in UTF-8.
const MARK: &str = "\u{feff}";

/// The kinds of hooks that every recorded version of the client knows.
const KINDS: [&str; 5] = ["command", "http", "mcp_tool", "prompt", "agent"];

/// A hook of a kind that the client does not know makes it drop others, ours among them. One that runs the guard in a form
/// of its own is its owner's to keep, and beside ours would have every call decided twice.
fn reject_odd_hooks(path: &Path, hooks: &CstObject, command: &str) -> Result<(), Problem> {
    let problem = |text: String| Err(Problem::new(Code::ConfigValue, format!("`{}`: {text}", path.display())));
    for property in hooks.properties() {
        let event = property.decoded_name().unwrap_or_default();
        let groups = property.array_value().map(|groups| groups.elements()).unwrap_or_default();
        let hooks = groups.iter().filter_map(|group| group.as_object()?.array_value("hooks"));
        for hook in hooks.flat_map(|hooks| hooks.elements()) {
            let hook = hook.to_serde_value().unwrap_or_default();
            let text = |name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default();
            if !KINDS.contains(&text("type")) {
                let kind = text("type");
                return problem(format!("a hook has the type `{kind}`, which makes the client drop hooks beside it"));
            }
            if owner::of(&hook, command) == Owner::Wrapped {
                return problem(format!(
                    "a hook in `hooks.{event}` runs phasegate in a form of its own, `{}`; with another beside it every \
                     call would be decided twice, so take it out first",
                    text("command")
                ));
            }
        }
    }
    Ok(())
}

/// The first key that is given twice, in the settings or in their `hooks`.
fn repeated(object: &CstObject) -> Option<String> {
    let mut seen = Vec::new();
    for property in object.properties() {
        let name = property.decoded_name()?;
        if seen.contains(&name) {
            return Some(name);
        }
        seen.push(name);
    }
    object.object_value("hooks").as_ref().and_then(repeated)
}

/// Hooks in a project that has them switched off would be no guard at all. What cannot be read the client ignores as well.
fn reject_switched_off(path: &Path, text: &str) -> Result<(), Problem> {
    let value = parse(path, text, Comments::Refused).ok().and_then(|(_, root)| root.to_serde_value());
    if value.as_ref().and_then(|value| value.get("disableAllHooks")) == Some(&Value::Bool(true)) {
        let message = format!("`{}` has `disableAllHooks: true`, so no hook would run", path.display());
        return Err(Problem::new(Code::ConfigValue, message));
    }
    Ok(())
}

/// Our hooks among an event's entries.
fn ours(entries: &CstArray, command: &str) -> Vec<CstNode> {
    let hooks = |entry: &CstNode| entry.as_object().and_then(|group| group.array_value("hooks"));
    let is_ours = |hook: &CstNode| hook.to_serde_value().is_some_and(|hook| owner::of(&hook, command) == Owner::Ours);
    entries.elements().iter().filter_map(hooks).flat_map(|hooks| hooks.elements()).filter(is_ours).collect()
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

/// The group that a hook stands in.
fn group_of(hook: &CstNode) -> Option<CstObject> {
    hook.ancestors().find_map(|node| node.as_object())
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
