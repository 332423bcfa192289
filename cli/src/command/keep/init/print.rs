//! `phasegate init --print`: the files that the platforms would read, one at a time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::setting::Setting;
use crate::exit::Exit;
use crate::output::Failure;

/// Prints the file that `wanted` names; without a name the only file, or the names of several.
///
/// # Errors
///
/// A settings file cannot be understood, or no file or several have this name.
pub(crate) fn run(setting: &Setting<'_>, wanted: &str) -> Result<Exit, Failure> {
    let out = setting.context.out;
    let all = texts(setting)?;
    let name = |path: &Path| path.strip_prefix(&setting.project.root).unwrap_or(path).display().to_string();
    let names = |files: &BTreeMap<PathBuf, String>| files.keys().map(|path| name(path)).collect::<Vec<_>>();
    let mut found = all.clone();
    found.retain(|path, _| wanted.is_empty() || path.ends_with(wanted.trim_start_matches("./")));
    if found.is_empty() || found.len() > 1 && !wanted.is_empty() {
        let what = if found.is_empty() { "no file" } else { "more than one file" };
        return Err(Failure::new(format!("{what} that `init` would write there is called `{wanted}`"))
            .with_help(format!("name one of: {}", names(&all).join(", "))));
    }
    if out.json {
        out.value(&json!({"files": found}));
        return Ok(Exit::Done);
    }
    match found.values().next() {
        Some(text) if found.len() == 1 => out.line(text.trim_end()),
        _ => {
            names(&found).into_iter().for_each(|name| out.line(name));
            out.note("`--print=FILE` prints one of these files");
        }
    }
    Ok(Exit::Done)
}

/// The files as an installation leaves them, those that it would not change included.
fn texts(setting: &Setting<'_>) -> Result<BTreeMap<PathBuf, String>, Failure> {
    let mut texts = BTreeMap::new();
    for adapter in &setting.adapters {
        let request = setting.request(*adapter)?;
        let changes = setting.changes(*adapter, &request)?;
        texts.extend(changes.into_iter().filter_map(|change| Some((change.path, change.after?))));
        // Where nothing of ours is, an installation names each of its files.
        let mut bare = request.clone();
        for change in setting.removal(*adapter, &request)? {
            match change.after {
                Some(text) => bare.existing.insert(change.path, text),
                None => bare.existing.remove(&change.path),
            };
        }
        for change in setting.changes(*adapter, &bare)? {
            if let Some(text) = request.existing.get(&change.path) {
                texts.entry(change.path).or_insert_with(|| text.clone());
            }
        }
    }
    Ok(texts)
}
