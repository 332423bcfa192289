//! Texts that have a client start something: the head of a skill, an agent or a command may name hooks and servers, and its
//! body lines of a shell, which the client starts outside of every call once it loads the text (rules 4.12).
//!
//! These are known by their content, as settings are. A client may also load a text when the file changes, and keep it: so a
//! session knows how the files were when it began, by what no program can set of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use phasegate_shell::names_programs;
use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::fingerprint;

use crate::bounds::{self, MAX_SETTINGS_BYTES};
use crate::clients::client_settings::{BELOW_ROOT, REPOSITORY};
use crate::clients::modules::files;
use crate::clients::platforms::PlatformPlaces;
use crate::project::repository::{folders_read, git_folder};

/// The text of a skill, in its folder.
const SKILL_FILE: &str = "SKILL.md";
/// What stands before and behind the head of a text.
const FENCE: &str = "---";
/// What stands before a line of a shell that the client runs when it loads a text, and puts what it prints in its place.
const LINES: [&str; 2] = ["!`", "```!"];
/// How the names of the user's texts begin.
const BELOW_HOME: &str = "~/";
/// The most skills of one folder that are looked at.
const MAX_SKILLS: usize = 5_000;
/// How many folders above a file count that a link leads to.
const MAX_ABOVE: usize = 8;
/// What stands for the texts of a place that has too many.
const UNREAD: &str = "*";

/// Where texts are looked for.
pub(crate) struct Search<'a> {
    /// What the platforms say.
    pub(crate) platforms: &'a PlatformPlaces,
    /// The user's folder.
    pub(crate) home: &'a Path,
    /// The project's.
    pub(crate) root: &'a Path,
    /// The folder that the client was started in.
    pub(crate) from: &'a Path,
    /// Other folders of the project in which the client found texts.
    pub(crate) others: BTreeSet<PathBuf>,
}

/// What lies in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Folders with a `SKILL.md` in each.
    Skills,
    /// Commands, at any depth.
    Commands,
    /// Agents, at any depth.
    Agents,
    /// What the client's own `git` starts for a repository.
    Repository,
}

/// A folder of texts.
struct Place {
    name: String,
    path: PathBuf,
    kind: Kind,
    /// The user's files that say more of it.
    users: Vec<PathBuf>,
}

impl<'a> Search<'a> {
    /// Where a session looks that knows the places of these names.
    pub(crate) fn knowing(
        platforms: &'a PlatformPlaces,
        home: &'a Path,
        root: &'a Path,
        from: &'a Path,
        places: &BTreeMap<String, String>,
    ) -> Self {
        let names = places.keys().filter_map(|name| name.strip_prefix(BELOW_ROOT));
        // Of `sub/.client/skills` the folder is `sub`.
        let folders = names.filter_map(|name| Path::new(name).ancestors().nth(2));
        let others = folders.filter(|folder| !folder.as_os_str().is_empty()).map(|folder| root.join(folder)).collect();
        Self { platforms, home, root, from, others }
    }

    /// The texts that say more than a client only shows or asks the guard about, by their names, each with the digest of that.
    /// A place with too many texts is one of them.
    pub(crate) fn definitions(&self, wanted: &dyn Fn(Kind) -> bool) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for place in self.places().into_iter().filter(|place| wanted(place.kind)) {
            let programs = if place.kind == Kind::Repository { place.programs() } else { String::new() };
            if !programs.is_empty() {
                found.insert(place.name.clone(), programs);
            }
            let (texts, whole) = place.texts();
            let top = place.path.clone();
            for path in texts {
                // What cannot be read may say anything.
                let text = bounds::bytes(&path, MAX_SETTINGS_BYTES).unwrap_or_else(|_| FENCE.into());
                let Some(says) = started(&String::from_utf8_lossy(&text), &self.platforms.text_keys) else { continue };
                let name = format!("{}/{}", place.name, path.strip_prefix(&top).unwrap_or(&path).display());
                found.insert(name, sha256_hex(says.as_bytes()));
            }
            if !whole {
                found.insert(format!("{}/{UNREAD}", place.name), String::new());
            }
        }
        found
    }

    /// How the files of each place are, by the place's name; empty where it is not there.
    pub(crate) fn stamps(&self, wanted: &dyn Fn(Kind) -> bool) -> BTreeMap<String, String> {
        let places = self.places().into_iter().filter(|place| wanted(place.kind));
        places.map(|place| (place.stamp(), place.name)).map(|(stamp, name)| (name, stamp)).collect()
    }

    /// Whether an agent may say that it works on a copy of the repository.
    pub(crate) fn isolates(&self) -> bool {
        let agents = self.places().into_iter().filter(|place| place.kind == Kind::Agents);
        let says = |path: &PathBuf| {
            bounds::bytes(path, MAX_SETTINGS_BYTES)
                .map_or(true, |text| String::from_utf8_lossy(&text).contains("isolation"))
        };
        agents.flat_map(|place| place.texts().0).any(|path| says(&path))
    }

    /// The folders between a file and the project's root that have texts, besides those that the client knows from its start.
    pub(crate) fn folders_beside(&self, file: &Path) -> BTreeSet<PathBuf> {
        let above = file.ancestors().skip(1).take_while(|folder| folder.starts_with(self.root) && *folder != self.root);
        let new = above.filter(|folder| !self.from.starts_with(folder) && !self.others.contains(*folder));
        let names = || self.named().filter(|(name, _)| !name.starts_with(BELOW_HOME));
        new.filter(|folder| names().any(|(name, _)| folder.join(name).is_dir())).map(Path::to_path_buf).collect()
    }

    fn named(&self) -> impl Iterator<Item = (&str, Kind)> {
        let all = [
            (&self.platforms.text_skills, Kind::Skills),
            (&self.platforms.command_folders, Kind::Commands),
            (&self.platforms.agent_folders, Kind::Agents),
        ];
        all.into_iter().flat_map(|(names, kind)| names.iter().map(move |name| (name.as_str(), kind)))
    }

    fn places(&self) -> Vec<Place> {
        let folders: BTreeSet<PathBuf> =
            folders_read(self.from, self.root).into_iter().chain(self.others.iter().cloned()).collect();
        let own = |folder: &Path, name: &str, kind| {
            let path = folder.join(name);
            let below = path.strip_prefix(self.root).unwrap_or(&path).display().to_string();
            Place { name: format!("{BELOW_ROOT}{below}"), path, kind, users: Vec::new() }
        };
        let mut found = Vec::new();
        if let Some(git) = git_folder(self.root) {
            let users = [".gitconfig", ".config/git/config"].map(|name| self.home.join(name)).to_vec();
            found.push(Place { name: REPOSITORY.to_owned(), path: git, kind: Kind::Repository, users });
        }
        for (name, kind) in self.named() {
            match name.strip_prefix(BELOW_HOME) {
                Some(below) => {
                    found.push(Place { name: name.to_owned(), path: self.home.join(below), kind, users: Vec::new() })
                }
                None => found.extend(folders.iter().map(|folder| own(folder, name, kind))),
            }
        }
        found
    }
}

impl Place {
    /// The texts, and whether these are all.
    fn texts(&self) -> (Vec<PathBuf>, bool) {
        if self.kind == Kind::Repository {
            return (Vec::new(), true);
        }
        if self.kind != Kind::Skills {
            let (mut texts, whole) = files(&self.path);
            texts.retain(|path| path.extension().is_some_and(|end| end == "md"));
            return (texts, whole);
        }
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).take(MAX_SKILLS + 1).collect();
        folders.sort();
        let whole = folders.len() <= MAX_SKILLS;
        (folders.into_iter().map(|folder| folder.join(SKILL_FILE)).filter(|file| file.exists()).collect(), whole)
    }

    /// The folder and what lies in it. Where a skill has a text, what else is made in its folder says nothing.
    fn stamp(&self) -> String {
        if self.path.symlink_metadata().is_err() {
            return String::new();
        }
        if self.kind == Kind::Repository {
            return self.programs();
        }
        let mut all = BTreeSet::from([self.path.clone()]);
        if self.kind == Kind::Skills {
            let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten().take(MAX_SKILLS);
            let text = |folder: PathBuf| Some(folder.join(SKILL_FILE)).filter(|file| file.exists()).unwrap_or(folder);
            all.extend(entries.map(|entry| text(entry.path())));
        } else {
            let (texts, _) = files(&self.path);
            all.extend(texts.iter().filter_map(|text| text.parent()).map(Path::to_path_buf));
            all.extend(texts);
        }
        // What a link leads to is another with each folder on the way.
        let led = all.iter().filter_map(|path| Some((path, path.canonicalize().ok()?)));
        let led = led.filter(|(path, real)| {
            *path != real && path.parent().is_none_or(|at| at.canonicalize().ok().as_deref() != real.parent())
        });
        let above = led
            .flat_map(|(_, real)| real.ancestors().skip(1).take(MAX_ABOVE).map(Path::to_path_buf).collect::<Vec<_>>());
        let above: BTreeSet<PathBuf> = above.filter(|folder| !self.path.starts_with(folder)).collect();
        all.extend(above);
        let mut stamps = String::new();
        for path in all {
            // A link, and what it leads to.
            let of = |data: std::io::Result<std::fs::Metadata>| data.ok().map(|data| fingerprint::changed(&data));
            let _ = writeln!(stamps, "{path:?} {:?} {:?}", of(path.symlink_metadata()), of(path.metadata()));
        }
        short(&stamps)
    }
}

/// The beginning of a digest: it is kept for each place, and nobody chooses what it is made of.
fn short(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(24).collect()
}

impl Place {
    /// What of a repository names programs, and its hooks; empty where there are none.
    fn programs(&self) -> String {
        let shared = bounds::read(&self.path.join("commondir"), MAX_SETTINGS_BYTES).ok();
        let shared = shared.map_or_else(|| self.path.clone(), |shared| self.path.join(shared.trim()));
        let configs = [shared.join("config"), self.path.join("config.worktree")];
        let texts = configs
            .iter()
            .chain(&self.users)
            .filter(|path| path.exists())
            .map(|path| bounds::read(path, MAX_SETTINGS_BYTES));
        // What cannot be read may name any.
        let named = texts.flat_map(|text| text.map_or_else(|_| vec![FENCE.to_owned()], |text| names_programs(&text)));
        let mut all: Vec<String> = named.collect();
        let hooks = std::fs::read_dir(shared.join("hooks")).into_iter().flatten().flatten().map(|entry| entry.path());
        let hooks = hooks.filter(|path| path.extension().is_none_or(|end| end != "sample"));
        let content = |path: &Path| bounds::bytes(path, MAX_SETTINGS_BYTES).ok().map(|bytes| sha256_hex(&bytes));
        all.extend(hooks.map(|path| format!("{path:?} {:?}", content(&path))));
        all.sort();
        if all.is_empty() { String::new() } else { short(&all.join("\n")) }
    }
}

/// What of a text may have a client start something when it loads it: the head, and the lines of a shell in the body.
fn started(text: &str, known: &[String]) -> Option<String> {
    let runs = text.lines().filter(|line| LINES.iter().any(|sign| line.contains(sign)));
    let runs: Vec<&str> = runs.collect();
    let head = head(text, known);
    if head.is_none() && runs.is_empty() { None } else { Some(head.unwrap_or_default() + &runs.join("\n")) }
}

/// The head of a text, if it may say more than these keys and plain values: what a client is to start takes a structure. A
/// line that is not surely one of them counts.
fn head(text: &str, known: &[String]) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let rest = text.trim_start_matches('\u{feff}').trim_start().strip_prefix(FENCE)?;
    let head = rest.split_once(&format!("\n{FENCE}")).map_or(rest, |(head, _)| head);
    let is_break = |sign: char| matches!(sign, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    // What one key says, another may take over by its mark.
    let marks = head.split([' ', '\t', '\n', '[', '{', ',', ':', '-']).filter_map(|word| word.strip_prefix('&'));
    let is_marked = marks.into_iter().any(|name| name.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_'));
    let mut is_known = !head.contains(is_break) && !is_marked;
    let mut within = false;
    for line in head.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (key, value) = line.split_once(':').unwrap_or((line, "{"));
        let own = known.iter().any(|known| known == key);
        let plain = is_name(key) && is_plain(value.trim());
        is_known &= own || plain || within && line.starts_with([' ', '\t', '-']);
        within = own || within && !plain;
    }
    (!is_known).then(|| head.to_owned())
}

fn is_name(key: &str) -> bool {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
    key.starts_with(|sign: char| sign.is_ascii_alphabetic()) && key.chars().all(is_part)
}

/// Whether a value is a text, or a list of texts, on its own line.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && !value.starts_with(['|', '>', '&', '!']) && !value.contains('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_shell_in_a_body_count() {
        for text in ["---\nname: a\n---\nNow: !`git status`\n", "```!\ngit status\n```\n"] {
            assert!(started(text, &["name".to_owned()]).is_some(), "{text}");
        }
        assert_eq!(started("---\nname: a\n---\nRun `x`!\n", &["name".to_owned()]), None);
    }

    #[test]
    fn a_head_counts_that_says_more_than_known_keys() {
        let known = ["name".to_owned(), "description".to_owned(), "tools".to_owned()];
        for text in [
            "",
            "no head\n---\nhooks:\n---\n",
            "---\nname: a\ndescription: >\n  hooks: are not set here\n\n# hooks:\ntools:\n- Bash\n---\nhooks: x\n",
            "\u{feff}---\r\nname: a\r\n---\r\n",
            "---\nname: a\nhomepage: https://x\nglobs: **/*.ts\nmcpServers: [slack]\n---\n",
        ] {
            assert_eq!(head(text, &known), None, "{text}");
        }
        for text in [
            "---\nname: a\nhooks:\n  PreToolUse: []\n---\n",
            "---\n name: a\n hooks: {}\n---\n",
            "---\n{name: a, hooks: {}}\n---\n",
            "---\n\"hooks\": {}\n---\n",
            "---\n\"\\x68ooks\": {}\n---\n",
            "---\n? hooks\n: {}\n---\n",
            "---\n<<: *a\n---\n",
            "---\nname: a\rhooks: {}\n---\n",
            "---\nname: a\u{2028}hooks: {}\n---\n",
            "---\nname: a\nlayout: b\n  hooks: {}\n---\n",
            "---\ntools: &a [x]\nhooks: *a\n---\n",
            "---\nmetadata:\n  a: &a {command: x}\nmcpServers: [*a]\n---\n",
            "---\nmcpServers:\n  - a: {command: x}\n---\n",
            "---\nhooks: {}\n",
            "\n\n---\nhooks: {}\n---\n",
        ] {
            assert!(head(text, &known).is_some(), "{text}");
        }
    }
}
