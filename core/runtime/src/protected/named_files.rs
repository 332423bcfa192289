//! Files that settings have a client start: scripts of hooks, the status line, servers. They are protected as soon as
//! settings name them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde_json::Value;

use crate::bounds;
use crate::clients::platforms::PlatformPlaces;
use crate::clients::servers::LISTS;
use crate::locations::Locations;

/// Keys whose texts say what is started.
const KEYS: [&str; 6] =
    ["command", "args", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper"];
/// The signs between words of a command.
const ENDS: [char; 13] = ['\'', '"', ';', '|', '&', '(', ')', '<', '>', '=', ',', '`', '\n'];
/// What the line of the guard's own hook says.
const OWN: &str = "phasegate hook";
/// The most words of settings that are looked at as files.
const MOST_WORDS: usize = 512;

/// The settings that clients read in a project and in the user's home.
#[derive(Clone, Debug)]
pub(super) struct NamedFiles {
    texts: Vec<String>,
    /// The words of what they start, where they were asked for.
    words: OnceCell<BTreeSet<String>>,
    home: PathBuf,
    root: PathBuf,
}

impl NamedFiles {
    pub(super) fn read(locations: &Locations, platforms: &PlatformPlaces, root: &Path) -> Self {
        let files = platforms.settings.iter().filter(|name| name.ends_with(".json") || name.ends_with(".jsonc"));
        let whole = |name: &String| match name.strip_prefix("~/") {
            Some(below) => locations.home.join(below),
            None => root.join(name),
        };
        let texts = files.filter_map(|name| bounds::settings(&whole(name)).ok()).collect();
        Self { texts, words: OnceCell::new(), home: locations.home.clone(), root: root.to_path_buf() }
    }

    /// Whether settings start the file, or one that lies in this folder.
    pub(super) fn start(&self, path: &Path) -> bool {
        if !(path.starts_with(&self.root) || path.starts_with(&self.home)) {
            return false;
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
        if !self.texts.iter().any(|text| text.contains(name)) {
            return false;
        }
        let words = self.words.get_or_init(|| {
            let mut words = BTreeSet::new();
            let parsed = self.texts.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok());
            parsed.for_each(|settings| collect(&settings, &mut words));
            words
        });
        let named = words.iter().filter(|word| word.contains(name)).map(|word| self.file(word));
        let leads = |file: &Path| file.canonicalize().is_ok_and(|file| file.starts_with(path));
        named.filter(|file| file.is_file()).any(|file| file.starts_with(path) || leads(&file))
    }

    /// The programs of the project and of the user's home that a command of the settings starts by their files. What servers
    /// are started by is left out: who writes a server builds it.
    pub(super) fn programs(&self) -> BTreeSet<PathBuf> {
        let mut commands = Vec::new();
        let parsed = self.texts.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok());
        parsed.for_each(|settings| commands_of(&settings, &mut commands));
        let mut found = BTreeSet::new();
        for command in commands {
            for part in command.replace(['"', '\''], "").split([';', '|', '&', '\n']) {
                let files = part.split_whitespace().map(|word| self.file(word));
                found.extend(files.filter(|file| file.is_file()).find(|file| is_program(file)));
            }
        }
        found.retain(|file| file.starts_with(&self.root) || file.starts_with(&self.home));
        // Beside it lies what it loads. In a folder of a tool's own nothing else does.
        let of_tool = |folder: &Path| {
            let below = folder.strip_prefix(&self.root);
            below.is_ok_and(|below| below.components().count() > 1 && below.to_string_lossy().starts_with('.'))
        };
        let folder =
            |file: PathBuf| file.parent().filter(|folder| of_tool(folder)).map(Path::to_path_buf).unwrap_or(file);
        found.into_iter().map(folder).collect()
    }

    /// The file that a word of a command means: clients start what they start in the project.
    fn file(&self, word: &str) -> PathBuf {
        let home = ["~/", "$HOME/", "${HOME}/", "${userHome}/"].iter().find_map(|sign| word.strip_prefix(sign));
        match (home, word.strip_prefix('$').and_then(|rest| rest.split_once('/'))) {
            (Some(below), _) => self.home.join(below),
            // Variables of clients name the project's folder.
            (None, Some((_, below))) => self.root.join(below),
            (None, None) => self.root.join(word),
        }
    }
}

/// The commands of settings, but those of servers and our own.
fn commands_of(settings: &Value, commands: &mut Vec<String>) {
    match settings {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| !LISTS.contains(&key.as_str())) {
                let command = value.as_str().filter(|text| KEYS.contains(&key.as_str()) && !text.contains(OWN));
                commands.extend(command.map(str::to_owned));
                commands_of(value, commands);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| commands_of(item, commands)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a file is run: the system says so, or its name does.
fn is_program(file: &Path) -> bool {
    const ENDS: [&str; 9] = ["bash", "cjs", "js", "mjs", "pl", "py", "rb", "sh", "ts"];
    let named = file.extension().and_then(|end| end.to_str()).is_some_and(|end| ENDS.contains(&end));
    named || access(file, Access::EXEC_OK).is_ok()
}

/// The words of what settings start.
fn collect(settings: &Value, words: &mut BTreeSet<String>) {
    match settings {
        Value::Object(fields) => {
            for (key, value) in fields {
                if KEYS.contains(&key.as_str()) {
                    let all = value.as_array().into_iter().flatten().chain(std::iter::once(value));
                    // The line of our own hook says in words what to do; it starts the program, which is protected anyway.
                    let texts = all.filter_map(Value::as_str).filter(|text| !text.contains(OWN));
                    let split =
                        texts.flat_map(|text| text.split(|sign: char| sign.is_whitespace() || ENDS.contains(&sign)));
                    // A quotation mark may stand between a variable and the rest of the path.
                    let joined =
                        value.as_str().filter(|text| !text.contains(OWN)).map(|text| text.replace(['"', '\''], ""));
                    let joined = joined.iter().flat_map(|text| text.split_whitespace());
                    let left = MOST_WORDS.saturating_sub(words.len());
                    words.extend(split.chain(joined).filter(|word| !word.is_empty()).map(str::to_owned).take(left));
                }
                collect(value, words);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settings_start_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (root, home) = (top.join("p"), top.join("h"));
        for path in ["p/scripts/a.sh", "p/scripts/b c.sh", "p/srv.js", "p/free.sh", "h/bin/status", "p/x/helper"] {
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::copy("/bin/true", top.join(path)).unwrap();
        }
        let settings = r#"{
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/scripts/a.sh --x"}]}]},
            "statusLine": {"type": "command", "command": "~/bin/status"},
            "apiKeyHelper": "./x/helper",
            "mcpServers": {"s": {"command": "node", "args": ["srv.js", "."]}},
            "env": {"X": "free.sh"}
        }"#;
        let named = NamedFiles {
            texts: vec![settings.to_owned()],
            words: OnceCell::new(),
            home: home.clone(),
            root: root.clone(),
        };
        for path in [
            root.join("scripts/a.sh"),
            root.join("scripts"),
            root.join("srv.js"),
            home.join("bin/status"),
            root.join("x/helper"),
        ] {
            assert!(named.start(&path), "{}", path.display());
        }
        let programs = [root.join("scripts/a.sh"), home.join("bin/status"), root.join("./x/helper")];
        assert_eq!(named.programs(), BTreeSet::from(programs), "what servers are started by is built");
        for path in
            [root.join("free.sh"), root.join("scripts/b c.sh"), home.join("srv.js"), PathBuf::from("/usr/bin/node")]
        {
            assert!(!named.start(&path), "{}", path.display());
        }
    }
}
