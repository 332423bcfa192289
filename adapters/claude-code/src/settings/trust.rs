//! The hooks that a person trusts, as Codex keeps them: in the user's `config.toml`, a digest for each hook by its place. The
//! client starts no other hook, and says so only in its terminal.
//!
//! Seen in 0.171.0: the digest is that of the hook as JSON without blanks, its keys sorted, with the event's name beside it.
//! Keys that the client does not know are left out of it.

use std::fmt::Write as _;
use std::path::Path;

use phasegate_adapter::{Finding, InstallRequest, InstallScope, Level};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toml::Table;

use crate::hosts::host::Host;
use crate::settings::entry::{Owner, owner};
use crate::settings::{Comments, holds_hooks, parse};

/// The time that the client gives a hook which asks for none, in seconds.
const USUAL_SECONDS: u64 = 600;

/// What a person chooses in the client's terminal.
const TRUSTS: &str = "Trust all and continue";

/// What a person must do after an installation.
pub(crate) fn advice(host: &Host, request: &InstallRequest) -> Vec<String> {
    if host.trust_file.is_none() {
        return Vec::new();
    }
    let name = host.table.name;
    let project = if request.scope == InstallScope::Project { "trust the folder, and " } else { "" };
    vec![format!(
        "{name} runs no hook that nobody trusts, and does not say so outside of its terminal: start it here once, {project}choose \
         `{TRUSTS}`. `phasegate doctor` says whether that is done"
    )]
}

/// Whether a person trusts each hook that runs the guard.
pub(crate) fn findings(host: &Host, request: &InstallRequest) -> Vec<Finding> {
    let Some(config) = host.trust_file.and_then(|file| file.strip_prefix("~/")) else { return Vec::new() };
    let path = request.home.join(config);
    let text = request.existing.get(&path).map_or("", String::as_str);
    let Ok(trusted) = text.parse::<Table>() else {
        let what = format!("`{}` is not TOML, so that the client does not start", path.display());
        return vec![Finding::new(Level::Problem, what).with("mend it")];
    };
    let files = request.existing.iter().filter(|(path, _)| holds_hooks(path));
    let found: Vec<Finding> = files.flat_map(|(path, text)| of_file(host, path, text, &trusted, request)).collect();
    found.into_iter().chain(switched_off(request)).collect()
}

/// What keeps the hooks of one file from being started.
fn of_file(host: &Host, path: &Path, text: &str, trusted: &Table, request: &InstallRequest) -> Vec<Finding> {
    let Ok((_, root)) = parse(path, text, Comments::Refused) else { return Vec::new() };
    let value = root.to_serde_value().unwrap_or_default();
    let ours: Vec<Hook<'_>> =
        hooks(path, &value).filter(|hook| owner(host, hook.hook, &request.command) != Owner::Other).collect();
    let untrusted: Vec<String> = ours
        .iter()
        .filter(|hook| !is_trusted(trusted, &hook.place(), &hook.digest()))
        .map(|hook| format!("`{}`", hook.event))
        .collect();
    let (name, file) = (host.table.name, path.display());
    let mut found = Vec::new();
    if !untrusted.is_empty() {
        let what = format!(
            "{name} does not run the hooks in `{file}` for {}: nobody trusts them as they are",
            untrusted.join(", ")
        );
        let fix =
            format!("start the client in the project, and choose `{TRUSTS}`, or look at them with `/hooks` first");
        found.push(Finding::new(Level::Problem, what).with(fix));
    } else if !ours.is_empty() {
        found.push(Finding::new(Level::Ok, format!("the hooks in `{file}` are trusted")));
    }
    if !ours.is_empty() && path.starts_with(&request.project) && !path.starts_with(request.home.join(".codex")) {
        found.extend(project(host, trusted, &request.project));
    }
    found
}

/// Whether the client reads the hooks of the project at all.
fn project(host: &Host, trusted: &Table, root: &Path) -> Option<Finding> {
    let projects = trusted.get("projects").and_then(toml::Value::as_table);
    let level =
        |folder: &Path| projects?.get(&folder.display().to_string())?.get("trust_level")?.as_str().map(str::to_owned);
    if root.ancestors().find_map(level).as_deref() == Some("trusted") {
        return None;
    }
    let what = format!("{} reads no hooks of `{}`: nobody trusts the project", host.table.name, root.display());
    Some(Finding::new(Level::Problem, what).with("start the client in the project, and trust it"))
}

/// Configs that switch all hooks off.
fn switched_off(request: &InstallRequest) -> Vec<Finding> {
    let off = |text: &String| {
        let config = text.parse::<Table>().ok()?;
        let features = config.get("features")?;
        let is_off = |name: &str| features.get(name).and_then(toml::Value::as_bool) == Some(false);
        (is_off("hooks") || is_off("codex_hooks")).then_some(())
    };
    let configs = request.existing.iter().filter(|(path, _)| !holds_hooks(path));
    let of = |(path, text): (&std::path::PathBuf, &String)| {
        off(text)?;
        let what = format!("`{}` switches the feature `hooks` off, so no hook runs", path.display());
        Some(Finding::new(Level::Problem, what).with("take it out"))
    };
    configs.filter_map(of).collect()
}

fn is_trusted(trusted: &Table, key: &str, digest: &str) -> bool {
    let state = trusted.get("hooks").and_then(|hooks| hooks.get("state")).and_then(|state| state.get(key));
    let Some(state) = state else { return false };
    state.get("trusted_hash").and_then(toml::Value::as_str) == Some(digest)
        && state.get("enabled").and_then(toml::Value::as_bool) != Some(false)
}

/// A hook, and where it stands in its file.
pub(crate) struct Hook<'a> {
    path: &'a Path,
    event: &'a str,
    group: &'a Value,
    hook: &'a Value,
    at: [usize; 2],
}

/// The hooks of a file.
pub(crate) fn hooks<'a>(path: &'a Path, settings: &'a Value) -> impl Iterator<Item = Hook<'a>> {
    let list = |value: &'a Value| value.as_array().into_iter().flatten().enumerate();
    let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let groups = events.flat_map(move |(event, groups)| list(groups).map(move |(at, group)| (event, at, group)));
    groups.flat_map(move |(event, at, group)| {
        let hooks = group.get("hooks").into_iter().flat_map(list);
        hooks.map(move |(place, hook)| Hook { path, event, group, hook, at: [at, place] })
    })
}

impl Hook<'_> {
    /// The name under which the client keeps that it is trusted.
    pub(crate) fn place(&self) -> String {
        let [group, place] = self.at;
        format!("{}:{}:{group}:{place}", self.path.display(), snake(self.event))
    }

    /// The digest by which the client knows it.
    pub(crate) fn digest(&self) -> String {
        let timeout = self.hook.get("timeout").and_then(Value::as_u64).unwrap_or(USUAL_SECONDS).max(1);
        let mut known = json!({"type": "command", "command": self.hook.get("command"), "timeout": timeout});
        let mut identity = json!({"event_name": snake(self.event)});
        if let Some(known) = known.as_object_mut() {
            known.insert("async".into(), self.hook.get("async").cloned().unwrap_or(Value::Bool(false)));
            known.extend(self.hook.get("statusMessage").map(|text| ("statusMessage".into(), text.clone())));
        }
        if let Some(identity) = identity.as_object_mut() {
            identity.insert("hooks".into(), json!([known]));
            identity.extend(self.group.get("matcher").map(|text| ("matcher".into(), text.clone())));
        }
        let mut text = String::from("sha256:");
        for byte in Sha256::digest(sorted(&identity).to_string()) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// The value with the keys of each object in their order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            names.into_iter().filter_map(|name| Some((name.clone(), sorted(fields.get(name)?)))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// An event's name in the words of the client's config: `PreToolUse` is `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the client itself says of this hook, in 0.171.0.
    #[test]
    fn the_digest_is_the_clients() {
        let hook = json!({"type": "command", "command": "python3 /tmp/cx/rec.py", "timeout": 10, "onFailure": "block"});
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}], "PostToolUse": [{"hooks": [hook]}]}});
        let known: Vec<[String; 2]> =
            hooks(Path::new("/h/hooks.json"), &settings).map(|hook| [hook.place(), hook.digest()]).collect();
        let wanted = [
            (
                "/h/hooks.json:pre_tool_use:0:0",
                "sha256:438479ea7460723139f1d54cab4c74c02790d0fc22876689db3eb43123c4bf26",
            ),
            (
                "/h/hooks.json:post_tool_use:0:0",
                "sha256:191251b6be4a56fa6c01bf8cdabf3b7483e4d950ee6f38f365e2a13414ded35c",
            ),
        ];
        for (place, digest) in wanted {
            assert!(known.contains(&[place.to_owned(), digest.to_owned()]), "{known:?}");
        }
    }
}
