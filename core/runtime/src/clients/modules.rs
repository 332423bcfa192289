//! The modules that clients load into themselves: found by walking the places that they load from, and known by their
//! content, so that one that is new or was changed is noticed (rules 4.12).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use phasegate_adapter::ModuleTable;
use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::fingerprint;
use serde_json::Value;

use crate::bounds::{self, MAX_FILE_BYTES, MAX_SETTINGS_BYTES};
use crate::clients::platforms::{Loader, PlatformPlaces};
use crate::project::repository::folders_read;
use crate::protected::protected_path::expanded;

/// How many files and folders below one place are looked at, the shallow ones first.
const MAX_ENTRIES: usize = 20_000;
/// The most programs of one module that are read.
const MAX_PROGRAMS: usize = 256;

/// What stands for all of a place that is too large, where modules are named.
const UNREAD: &str = "*";

/// Where modules are looked for.
pub(crate) struct Search<'a> {
    /// The user's folder.
    pub(crate) home: &'a Path,
    /// The project's.
    pub(crate) root: &'a Path,
    /// The folder that the client works in.
    pub(crate) from: &'a Path,
    /// The modules that are known already, wherever they lie.
    pub(crate) known: BTreeSet<PathBuf>,
}

impl Search<'_> {
    /// The modules of all platforms by their folders, each with the digest of its content.
    pub(crate) fn definitions(&self, platforms: &PlatformPlaces) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for loader in &platforms.loaders {
            let (folders, unread) = self.folders(*loader);
            let modules = folders.into_iter().map(|folder| (Content::of(loader.table, &folder).digest, folder));
            // Of what is too large only that is known.
            let all = modules.chain(unread.into_iter().map(|place| (String::new(), place.join(UNREAD))));
            found.extend(all.map(|(digest, folder)| (folder.to_string_lossy().into_owned(), digest)));
        }
        found
    }

    /// The folders that are modules of a platform, and the places that have more in them than is looked at.
    pub(crate) fn folders(&self, loader: Loader) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
        let (mut found, mut unread) = (BTreeSet::new(), BTreeSet::new());
        for (place, top) in self.places(loader) {
            let (files, whole) = files(&place);
            found.extend(files.iter().filter(|file| names_modules(loader.table, file)).map(|file| folder(file, &top)));
            // What lies in the client's own folder a person installed there, and the client changes it.
            if !place.starts_with(self.home) || place.starts_with(self.root) {
                let manifests = files.iter().filter(|file| file.ends_with(loader.table.manifest));
                found.extend(manifests.map(|file| folder(file, &top)));
            }
            if !whole {
                unread.insert(place);
            }
        }
        (found, unread)
    }

    /// The places that a platform loads from, each with the folder below which modules lie. What settings name may be a module
    /// itself. What lies beside the machine's settings is the administrator's.
    fn places(&self, Loader { adapter, table }: Loader) -> Vec<(PathBuf, PathBuf)> {
        let installer = adapter.installer();
        let settings = installer.places().settings_files(self.root, self.home);
        let machine = installer.places().settings_files(Path::new(""), Path::new(""));
        let machine: Vec<&Path> =
            machine.iter().filter(|path| path.is_absolute()).filter_map(|path| path.parent()).collect();
        let read = folders_read(self.from, self.root);
        let roots = table.roots.iter().flat_map(|name| match name.strip_prefix("~/") {
            Some(below) => vec![self.home.join(below)],
            None => read.iter().map(|at| at.join(name)).collect(),
        });
        let texts = settings.iter().filter_map(|path| Some((path, bounds::settings(path).ok()?)));
        let named = texts.flat_map(|(path, text)| installer.loads_from(path, &text)).flat_map(|one| expanded(&one));
        let alone = named.chain(self.known.iter().cloned());
        let alone = alone.filter_map(|one| Some((one.parent()?.to_path_buf(), one)));
        let all: BTreeSet<(PathBuf, PathBuf)> =
            roots.map(|root| (root.clone(), root)).chain(alone.map(|(above, one)| (one, above))).collect();
        all.into_iter().filter(|(place, _)| !machine.iter().any(|machine| place.starts_with(machine))).collect()
    }
}

/// The events of calls that a module takes, as its texts name them. One that cannot be read whole may take any.
pub(crate) fn taken(table: &ModuleTable, folder: &Path) -> Vec<String> {
    let Content { texts, whole, .. } = Content::of(table, folder);
    if !whole {
        return table.events.iter().map(|&event| event.to_owned()).collect();
    }
    let texts = unescaped(&texts) + &texts;
    let quoted =
        |event: &String| ['\'', '"', '`'].iter().any(|quote| texts.contains(&format!("{quote}{event}{quote}")));
    events(table, &texts).into_iter().filter(quoted).collect()
}

/// What is told of a place of which not all is looked at.
pub(crate) fn unsearched(place: &Path) -> String {
    format!("`{}` has more in it than is looked at for modules of the client", place.display())
}

/// What is told of a module whose content is not the known one.
pub(crate) fn notice(folder: &str, is_new: bool) -> String {
    let path = Path::new(folder);
    if path.ends_with(UNREAD) {
        return unsearched(path.parent().unwrap_or(path));
    }
    let what = if is_new { "is new" } else { "was changed" };
    format!("the client's module `{folder}` {what}")
}

/// Whether a module takes events of calls, on a platform that would load it.
pub(crate) fn takes_calls(platforms: &PlatformPlaces, folder: &Path) -> bool {
    let has = |table: &ModuleTable| files(folder).0.iter().any(|file| names_modules(table, file));
    platforms.loaders.iter().any(|loader| has(loader.table) && !taken(loader.table, folder).is_empty())
}

/// The names of such events in a text.
pub(crate) fn events(table: &ModuleTable, text: &str) -> Vec<String> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '.' || sign == '_' || sign == '$';
    let words = text.split(|sign| !is_part(sign)).map(|word| word.trim_end_matches('.'));
    let is_event = |word: &&str| table.events.iter().any(|begin| word.starts_with(begin) && word.len() >= begin.len());
    let found: BTreeSet<String> = words.filter(is_event).map(str::to_owned).collect();
    found.into_iter().collect()
}

/// What of a module is a program, or names one.
struct Content {
    /// The digest of all of it.
    digest: String,
    /// The texts of the programs.
    texts: String,
    /// Whether all of it could be read.
    whole: bool,
}

impl Content {
    fn of(table: &ModuleTable, folder: &Path) -> Self {
        let (all, mut whole) = files(folder);
        let ends =
            |path: &Path| path.extension().and_then(|end| end.to_str()).is_some_and(|end| table.ends.contains(&end));
        let whatever = folder.join(table.manifest).exists();
        let counts = |path: &PathBuf| whatever || ends(path) || names_modules(table, path);
        let all: Vec<PathBuf> = all.into_iter().filter(counts).collect();
        whole &= all.len() <= MAX_PROGRAMS;
        let (mut texts, mut parts) = (String::new(), String::new());
        for path in all {
            let text =
                if texts.len() as u64 <= MAX_FILE_BYTES { bounds::read(&path, MAX_SETTINGS_BYTES).ok() } else { None };
            whole &= text.is_some();
            let part = match &text {
                Some(text) => sha256_hex(text.as_bytes()),
                None => {
                    path.metadata().map_or_else(|_| String::new(), |data| format!("{:?}", fingerprint::changed(&data)))
                }
            };
            let name = path.strip_prefix(folder).unwrap_or(&path);
            let _ = writeln!(parts, "{part} {}", name.display());
            texts.extend(text.filter(|_| ends(&path)));
        }
        Self { digest: sha256_hex(parts.as_bytes()), texts, whole }
    }
}

/// The files below a folder, the shallow ones first, and whether these are all. A link to a folder is followed once.
pub(crate) fn files(folder: &Path) -> (Vec<PathBuf>, bool) {
    let (mut files, mut entries) = (Vec::new(), 0);
    let mut folders = VecDeque::from([folder.to_path_buf()]);
    let mut followed = BTreeSet::new();
    while let Some(at) = folders.pop_front() {
        let mut inside: Vec<_> = std::fs::read_dir(&at).into_iter().flatten().flatten().collect();
        inside.sort_unstable_by_key(std::fs::DirEntry::file_name);
        for entry in inside {
            entries += 1;
            if entries > MAX_ENTRIES {
                return (files, false);
            }
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let is_folder = if is_link { path.is_dir() } else { entry.file_type().is_ok_and(|kind| kind.is_dir()) };
            if !is_folder {
                files.push(path);
            } else if !is_link || path.canonicalize().is_ok_and(|real| followed.insert(real)) {
                folders.push_back(path);
            }
        }
    }
    (files, true)
}

/// Whether a file is one that names the programs of a module.
fn names_modules(table: &ModuleTable, file: &Path) -> bool {
    if file.extension().is_none_or(|end| !end.eq_ignore_ascii_case("json")) {
        return false;
    }
    let Ok(bytes) = bounds::bytes(file, MAX_FILE_BYTES) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    // A letter of the key may be written as its number.
    if !text.contains(table.key) && !text.contains("\\u00") {
        return false;
    }
    // What is no JSON here may be some for the client.
    let Ok(value) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else { return true };
    let mut open = vec![&value];
    while let Some(value) = open.pop() {
        let listed = value.get(table.key).and_then(Value::as_array);
        if listed.into_iter().flatten().any(Value::is_string) {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

/// The folder of the module whose programs a file names: such files lie in it, or in a folder of it.
fn folder(file: &Path, top: &Path) -> PathBuf {
    let own = file.parent().unwrap_or(file);
    let above = own.parent().filter(|above| *above != top && above.starts_with(top));
    above.unwrap_or(own).to_path_buf()
}

/// A program's text, with what its strings escape written out.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(sign) = rest.next() {
        if sign != '\\' {
            plain.push(sign);
            continue;
        }
        let digits: String = match rest.next() {
            Some('x') => rest.by_ref().take(2).collect(),
            Some('u') if rest.as_str().starts_with('{') => {
                rest.by_ref().skip(1).take_while(|sign| *sign != '}').collect()
            }
            Some('u') => rest.by_ref().take(4).collect(),
            Some('\n') | None => continue,
            Some(other) => {
                plain.push(other);
                continue;
            }
        };
        plain.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
    }
    plain
}
