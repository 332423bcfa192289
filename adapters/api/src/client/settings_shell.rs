//! A shell that a key of the user's settings names: the guard's is put there, and the one that a person had set is kept beside
//! it, so that the guard's starts that.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use phasegate_core::Code;
use serde_json::Value;

use crate::client::install::{Change, GIVEN_SHELL, InstallRequest, InstallScope, SHELL_NAMES, SHELLS, below_home};
use crate::problem::Problem;

/// Where a client's settings name its shell, as data. The client runs `SHELL -c LINE`.
#[derive(Clone, Copy, Debug)]
pub struct SettingsShell {
    /// The platform's id.
    pub client: &'static str,
    /// The user's settings files below the home folder, first the one that wins.
    pub files: &'static [&'static str],
    /// The key at the top of each.
    pub key: &'static str,
    /// What the client itself writes into settings that are new.
    pub new: &'static str,
    /// Names of shells in which the client runs no line of an agent, but takes one of its own choice.
    pub refused: &'static [&'static str],
}

impl SettingsShell {
    /// The changes that make the guard's shell the client's. A shell that cannot be started behind it stays.
    ///
    /// # Errors
    ///
    /// A settings file cannot be read as the client reads it.
    pub fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        let shell = request.shell.as_deref().filter(|_| request.scope == InstallScope::User);
        let Some((folder, name)) = shell.and_then(|shell| Some((self.folder(&request.home)?, shell.file_name()?)))
        else {
            return Ok(Vec::new());
        };
        let files: Vec<PathBuf> = self.files.iter().map(|file| request.home.join(file)).collect();
        let texts = files.iter().filter_map(|file| request.existing.get(file));
        let before = texts.filter_map(|text| self.named(text)).next();
        if before.as_deref().is_some_and(|before| Self::is_ours(before) || !self.is_plain(before)) {
            return Ok(Vec::new());
        }
        let known = before.as_deref().and_then(|before| Path::new(before).file_name());
        let name = known.filter(|known| SHELL_NAMES.iter().any(|name| *known == *name)).unwrap_or(name);
        let path = files.iter().find(|file| request.existing.contains_key(*file)).or(files.first());
        let Some(path) = path else { return Ok(Vec::new()) };
        let text = request.existing.get(path);
        let object = Object::parse(path, text.map_or(self.new, String::as_str))?;
        object.set(self.key, &folder.join(name).to_string_lossy());
        let settings = Change { path: path.clone(), before: text.cloned(), after: Some(object.text()) };
        let kept = before.map(|before| format!("{before}\n"));
        let given = self.given(&request.home).map(|path| {
            let before = request.existing.get(&path).cloned();
            Change { path, before, after: kept }
        });
        let given = given.filter(|change| change.before != change.after);
        Ok([settings].into_iter().chain(given).collect())
    }

    /// The changes that take it out again, and give the client back what a person had set.
    ///
    /// # Errors
    ///
    /// A settings file cannot be read as the client reads it.
    pub fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        if request.scope != InstallScope::User {
            return Ok(Vec::new());
        }
        let given = self.given(&request.home).and_then(|path| Some((request.existing.get(&path)?.clone(), path)));
        let mut changes = Vec::new();
        for path in self.files.iter().map(|file| request.home.join(file)) {
            let Some(text) = request.existing.get(&path) else { continue };
            if !self.named(text).as_deref().is_some_and(Self::is_ours) {
                continue;
            }
            let object = Object::parse(&path, text)?;
            match &given {
                Some((given, _)) => object.set(self.key, given.trim_end()),
                None => object.unset(self.key),
            }
            let after = (!object.is_empty()).then(|| object.text());
            changes.push(Change { path, before: Some(text.clone()), after });
        }
        changes.extend(given.map(|(text, path)| Change { path, before: Some(text), after: None }));
        Ok(changes)
    }

    /// The shell that a file of settings names.
    #[must_use]
    pub fn named(&self, settings: &str) -> Option<String> {
        let value = CstRootNode::parse(settings, &ParseOptions::default()).ok()?.to_serde_value()?;
        value.get(self.key).and_then(Value::as_str).filter(|shell| !shell.is_empty()).map(str::to_owned)
    }

    /// Whether the guard wrote this shell into the settings.
    #[must_use]
    pub fn is_ours(shell: &str) -> bool {
        below_home(SHELLS).is_some_and(|folder| shell.contains(folder))
    }

    /// The file in which the shell is kept that a person had set.
    #[must_use]
    pub fn given(&self, home: &Path) -> Option<PathBuf> {
        Some(self.folder(home)?.join(GIVEN_SHELL))
    }

    /// The folder of the client's own shell files.
    fn folder(&self, home: &Path) -> Option<PathBuf> {
        Some(home.join(below_home(SHELLS)?).join(self.client))
    }

    /// Whether the guard's shell can start this one, as the client would.
    fn is_plain(&self, shell: &str) -> bool {
        let name = Path::new(shell).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        !name.is_empty() && !shell.contains(['{', '\n']) && !self.refused.contains(&name)
    }
}

/// Settings as text, of which the rest keeps its form.
struct Object {
    root: CstRootNode,
    object: CstObject,
}

impl Object {
    fn parse(path: &Path, text: &str) -> Result<Self, Problem> {
        let syntax = |what: String| Problem::new(Code::ConfigSyntax, format!("`{}`: {what}", path.display()));
        let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| syntax(error.to_string()))?;
        let object = root.object_value_or_create().ok_or_else(|| syntax("the file's value is not an object".into()))?;
        Ok(Self { root, object })
    }

    fn set(&self, key: &str, text: &str) {
        let value = CstInputValue::String(text.to_owned());
        match self.object.get(key) {
            Some(property) => property.set_value(value),
            None => drop(self.object.append(key, value)),
        }
    }

    fn unset(&self, key: &str) {
        if let Some(property) = self.object.get(key) {
            property.remove();
        }
    }

    fn is_empty(&self) -> bool {
        self.object.properties().is_empty() && self.text().split_whitespace().collect::<String>() == "{}"
    }

    fn text(&self) -> String {
        self.root.to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use phasegate_core::policy::Mode;

    use super::*;

    const SHELL: SettingsShell = SettingsShell {
        client: "echo",
        files: &[".echo/a.jsonc", ".echo/b.json"],
        key: "shell",
        new: "{\n}\n",
        refused: &["fish"],
    };
    const OWN: &str = "/h/.local/share/phasegate/shell";

    fn request(files: &[(&str, &str)]) -> InstallRequest {
        let existing = files.iter().map(|(path, text)| (Path::new("/h").join(path), (*text).to_owned()));
        InstallRequest {
            project: "/p".into(),
            home: "/h".into(),
            command: "phasegate".into(),
            mode: Mode::Block,
            scope: InstallScope::User,
            shell: Some(format!("{OWN}/bash").into()),
            existing: existing.collect(),
        }
    }

    /// The texts after an installation, and after it was taken back.
    fn there_and_back(files: &[(&str, &str)]) -> (BTreeMap<PathBuf, String>, BTreeMap<PathBuf, String>) {
        let mut request = request(files);
        let apply = |request: &mut InstallRequest, changes: Vec<Change>| {
            for Change { path, before, after } in changes {
                assert_eq!(request.existing.get(&path).cloned(), before);
                match after {
                    Some(text) => drop(request.existing.insert(path, text)),
                    None => drop(request.existing.remove(&path)),
                }
            }
        };
        let changes = SHELL.install(&request).unwrap();
        apply(&mut request, changes);
        assert_eq!(SHELL.install(&request).unwrap(), [], "nothing is written twice");
        let there = request.existing.clone();
        let changes = SHELL.uninstall(&request).unwrap();
        apply(&mut request, changes);
        (there, request.existing)
    }

    #[test]
    fn the_shell_that_a_person_had_set_is_kept_beside_ours() {
        for (before, named, given) in [
            ("{\n  // mine\n  \"shell\": \"/usr/bin/zsh\",\n}\n", "zsh", "/usr/bin/zsh\n"),
            ("{\"shell\": \"~/bin/dash\", \"x\": 1}", "bash", "~/bin/dash\n"),
        ] {
            let (there, back) = there_and_back(&[(".echo/b.json", before)]);
            let now = SHELL.named(&there[Path::new("/h/.echo/b.json")]);
            assert_eq!(now, Some(format!("{OWN}/echo/{named}")));
            assert_eq!(there[&SHELL.given(Path::new("/h")).unwrap()], given);
            assert_eq!(back, BTreeMap::from([("/h/.echo/b.json".into(), before.to_owned())]));
        }
    }

    #[test]
    fn without_one_there_is_the_key_alone_and_it_goes_again() {
        let (there, back) = there_and_back(&[]);
        assert_eq!(there[Path::new("/h/.echo/a.jsonc")], format!("{{\n  \"shell\": \"{OWN}/echo/bash\"\n}}\n"));
        assert!(there.len() == 1 && back.is_empty());
        let (_, back) = there_and_back(&[(".echo/b.json", "{\n  \"x\": 1\n}\n")]);
        assert_eq!(back[Path::new("/h/.echo/b.json")], "{\n  \"x\": 1\n}\n");
    }

    #[test]
    fn a_shell_that_cannot_be_started_behind_ours_stays_and_so_does_ours() {
        let own = format!("{OWN}/bash");
        for shell in ["{env:SHELL}", "/usr/bin/fish", own.as_str()] {
            let text = format!("{{\"shell\": \"{shell}\"}}");
            assert_eq!(SHELL.install(&request(&[(".echo/b.json", &text)])).unwrap(), []);
        }
        let project = InstallRequest { scope: InstallScope::Project, ..request(&[]) };
        assert_eq!((SHELL.install(&project).unwrap(), SHELL.uninstall(&project).unwrap()), (vec![], vec![]));
        assert!(SHELL.install(&request(&[(".echo/b.json", "[")])).is_err());
    }
}
