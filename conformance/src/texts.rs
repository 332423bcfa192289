//! What agents read, each text once: `cases/texts.json`. A kept reply names a text by `«KEY»`, so that a changed text
//! changes one line of one file, however many replies hold it.
//!
//! A key is `STORY.N` or `CASE.N`, after the first reply that held the text. It stays when the text changes. If replies
//! that shared a text come to differ, most of them keep the key, and the others get new ones.

pub mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::play::folders::cases;

/// The file of texts, below the cases.
pub(crate) const FILE: &str = "texts.json";
const OPEN: char = '«';
const CLOSE: char = '»';

/// A reply to the byte: as it was, or with texts named by their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit status; `None` if a signal ended the process.
    pub status: Option<i32>,
}

/// A key and its text, as they stand in a reply.
type Texts = BTreeMap<String, String>;

/// The kept texts, by key.
///
/// # Errors
///
/// The file is not an object of texts.
pub(crate) fn kept() -> Result<&'static Texts, String> {
    static KEPT: OnceLock<Result<Texts, String>> = OnceLock::new();
    let read = || {
        let text = std::fs::read_to_string(cases().join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("{FILE}: {error}"))
    };
    KEPT.get_or_init(read).as_ref().map_err(Clone::clone)
}

impl Reply {
    /// The reply as the client gets it, with each key replaced by its text.
    ///
    /// # Errors
    ///
    /// A key that has no text.
    pub(crate) fn whole(&self, texts: &Texts) -> Result<Self, String> {
        let stdout = expanded(&self.stdout, texts, inside)?;
        let stderr = expanded(&self.stderr, texts, str::to_owned)?;
        Ok(Self { stdout, stderr, status: self.status })
    }

    /// The keys that the reply names, in the order in which they stand.
    pub(crate) fn keys(&self) -> Vec<String> {
        let of = |part: &str| {
            part.split(OPEN).skip(1).filter_map(|rest| Some(rest.split_once(CLOSE)?.0.to_owned())).collect()
        };
        [self.stdout.as_str(), self.stderr.as_str()].into_iter().flat_map(|part| -> Vec<String> { of(part) }).collect()
    }

    /// The texts of ours that stand in the reply itself, in their order.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for line in self.stdout.lines() {
            if let Ok(value) = serde_json::from_str::<Value>(line) {
                wording::each_text(&value, &mut |text| texts.push(text.to_owned()));
            }
        }
        let told = self.stderr.trim_end_matches('\n');
        texts.extend(wording::is_ours(told).then(|| told.to_owned()));
        texts.retain(|text| !text.contains([OPEN, CLOSE]));
        texts
    }

    /// The reply with each of these texts replaced by its key.
    fn named(&self, texts: &[String], keys: &[String]) -> Self {
        let mut named = self.clone();
        for (text, key) in texts.iter().zip(keys) {
            let mark = format!("{OPEN}{key}{CLOSE}");
            let (quoted, marked) = (format!("\"{}\"", inside(text)), format!("\"{mark}\""));
            named.stdout = named.stdout.replacen(&quoted, &marked, 1);
            if named.stderr.trim_end_matches('\n') == text {
                named.stderr = named.stderr.replacen(text.as_str(), &mark, 1);
            }
        }
        named
    }
}

/// A text as it stands between the quotes of JSON.
fn inside(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

fn expanded(part: &str, texts: &Texts, form: fn(&str) -> String) -> Result<String, String> {
    let mut pieces = part.split(OPEN);
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once(CLOSE) {
            Some((key, rest)) => {
                let text = texts.get(key).ok_or_else(|| format!("`{FILE}` has no text `{key}`"))?;
                whole.push_str(&form(text));
                whole.push_str(rest);
            }
            None => whole.extend([OPEN.to_string().as_str(), piece]),
        }
    }
    Ok(whole)
}

/// A kept reply, and what it is now: where it stands is its file and its number in it.
struct Place {
    file: PathBuf,
    at: usize,
    /// What the keys of its texts begin with: its story, or its case.
    stem: String,
    kept: Reply,
    now: Reply,
}

/// What replies came to be while expectations are written, by file and number.
static BLESSED: Mutex<BTreeMap<(PathBuf, usize), Reply>> = Mutex::new(BTreeMap::new());

/// Notes what the replies of a file from this number on came to be; [`settle`] writes them.
pub(crate) fn bless(file: &Path, from: usize, replies: Vec<Reply>) {
    let places = (from..).map(|at| (file.to_owned(), at));
    BLESSED.lock().unwrap_or_else(PoisonError::into_inner).extend(places.zip(replies));
}

/// A text that changed: its key, what it was, what it is. Neither is there for a text that is new or gone.
pub struct Changed {
    /// Its key.
    pub key: String,
    /// What it was.
    pub before: Option<String>,
    /// What it is.
    pub after: Option<String>,
}

/// Writes every reply that was blessed, and the texts of all replies. What changed, by key.
///
/// # Errors
///
/// A file that cannot be read or written.
pub fn settle() -> Result<Vec<Changed>, String> {
    let before = kept().cloned().unwrap_or_default();
    let blessed = std::mem::take(&mut *BLESSED.lock().unwrap_or_else(PoisonError::into_inner));
    let mut places = Vec::new();
    for file in files() {
        for (at, kept) in replies(&file)?.into_iter().enumerate() {
            let now = match blessed.get(&(file.clone(), at)) {
                Some(now) => now.clone(),
                None => kept.reply.whole(&before)?,
            };
            let stem = if kept.case.is_empty() { stem(&file) } else { kept.case };
            places.push(Place { file: file.clone(), at, stem, kept: kept.reply, now });
        }
    }
    let (after, keys) = assigned(&places, &before);
    let mut named: BTreeMap<&Path, BTreeMap<usize, Reply>> = BTreeMap::new();
    for (place, keys) in places.iter().zip(&keys) {
        named.entry(&place.file).or_default().insert(place.at, place.now.named(&place.now.texts(), keys));
    }
    for (file, replies) in named {
        rewrite(file, &replies)?;
    }
    let text = serde_json::to_string_pretty(&after).map_err(|error| error.to_string())?;
    save(&cases().join(FILE), &(text + "\n"))?;
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    Ok(changed
        .map(|key| Changed { key: key.clone(), before: before.get(key).cloned(), after: after.get(key).cloned() })
        .collect())
}

/// The texts by key, and for each place the keys of its texts.
fn assigned(places: &[Place], before: &Texts) -> (Texts, Vec<Vec<String>>) {
    let mut wanted: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    let held: Vec<_> = places.iter().map(|place| (place.kept.keys(), place.now.texts())).collect();
    for (keys, texts) in held.iter().filter(|(keys, texts)| keys.len() == texts.len()) {
        for (key, text) in keys.iter().zip(texts) {
            *wanted.entry(key).or_default().entry(text.clone()).or_default() += 1;
        }
    }
    // Most of those that share a key keep it; a text that did not change keeps it in any case.
    let mut after = Texts::new();
    for (key, texts) in &wanted {
        let unchanged = before.get(*key).filter(|text| texts.contains_key(*text));
        let most = texts.iter().max_by_key(|(_, count)| **count).map(|(text, _)| text);
        if let Some(text) = unchanged.or(most)
            && !after.values().any(|other| other == text)
        {
            after.insert((*key).to_owned(), text.clone());
        }
    }
    let mut by_text: BTreeMap<String, String> = after.iter().map(|(key, text)| (text.clone(), key.clone())).collect();
    let mut all = Vec::new();
    for (place, (_, texts)) in places.iter().zip(held) {
        let mut keys = Vec::new();
        for text in texts {
            let key = by_text.entry(text.clone()).or_insert_with(|| {
                let key = free(&place.stem, &after, before);
                after.insert(key.clone(), text);
                key
            });
            keys.push(key.clone());
        }
        all.push(keys);
    }
    (after, all)
}

/// The first key of a stem that no text has or had.
fn free(stem: &str, after: &Texts, before: &Texts) -> String {
    let keys = (1_u32..).map(|number| format!("{stem}.{number}"));
    keys.into_iter().find(|key| !after.contains_key(key) && !before.contains_key(key)).unwrap_or_default()
}

/// The story of a session's file.
fn stem(file: &Path) -> String {
    let name = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    name.split('@').next().unwrap_or_default().to_owned()
}

/// The files that hold replies, one a line.
fn files() -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(cases()).sort_by_file_name().into_iter().flatten();
    let holds = |path: &Path| path.ends_with("frames.jsonl") || path.ends_with("encode.jsonl");
    all.map(walkdir::DirEntry::into_path).filter(|path| holds(path)).collect()
}

/// A reply stands at the end of its line: everything before it is not touched.
const MARK: &str = "\"reply\":{\"stdout\":";

/// A line that holds a reply; one of a case has its name.
#[derive(Deserialize)]
struct Holder {
    #[serde(default)]
    case: String,
    #[serde(default)]
    reply: Reply,
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn replies(file: &Path) -> Result<Vec<Holder>, String> {
    let holders = read(file)?.lines().map(serde_json::from_str).collect::<Result<_, _>>();
    holders.map_err(|error| format!("{}: {error}", file.display()))
}

fn rewrite(file: &Path, replies: &BTreeMap<usize, Reply>) -> Result<(), String> {
    let mut text = String::new();
    for (at, line) in read(file)?.lines().enumerate() {
        let reply = serde_json::to_string(&replies.get(&at)).map_err(|error| error.to_string())?;
        let before = match line.rfind(MARK) {
            Some(start) => line.get(..start).unwrap_or_default().to_owned(),
            None => format!("{},", line.strip_suffix('}').unwrap_or(line)),
        };
        text.push_str(&format!("{before}\"reply\":{reply}}}\n"));
    }
    save(file, &text)
}

/// The fewest sessions, by their trials' ids, in which every text is said: the one that adds most for its length first.
#[must_use]
pub fn cover() -> BTreeSet<String> {
    let mut said: Vec<(String, BTreeSet<String>, usize)> = Vec::new();
    for file in files().iter().filter(|file| file.ends_with("frames.jsonl")) {
        let names: Vec<String> = file.iter().rev().map(|part| part.to_string_lossy().into_owned()).take(4).collect();
        let [_, session, _, client] = names.as_slice() else { continue };
        let replies = replies(file).unwrap_or_default();
        let keys = replies.iter().flat_map(|holder| holder.reply.keys()).collect();
        said.push((format!("session/{client}/{session}"), keys, replies.len()));
    }
    let mut cover = BTreeSet::new();
    let mut covered = BTreeSet::new();
    loop {
        let worth = |(_, keys, frames): &&(String, BTreeSet<String>, usize)| {
            keys.difference(&covered).count() * 1_000 / frames.saturating_add(10)
        };
        let Some((id, keys, _)) = said.iter().max_by_key(worth).filter(|best| worth(best) > 0) else { return cover };
        cover.insert(id.clone());
        covered.extend(keys.clone());
    }
}

fn save(path: &Path, text: &str) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// What is wrong with the kept texts: a text that stands in a reply itself, a key that has no text, a text without a key.
pub(crate) fn problems() -> Vec<String> {
    let texts = match kept() {
        Ok(texts) => texts,
        Err(problem) => return vec![problem],
    };
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    for file in files() {
        let name = file.strip_prefix(cases()).unwrap_or(&file).display().to_string();
        match replies(&file) {
            Ok(replies) => {
                for Holder { reply, .. } in &replies {
                    used.extend(reply.keys());
                    problems.extend(reply.whole(texts).err().map(|problem| format!("{name}: {problem}")));
                    let own = reply.texts();
                    problems.extend(own.first().map(|text| format!("{name}: holds the text itself: {text:.60}")));
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    let unused = texts.keys().filter(|key| !used.contains(*key));
    problems.extend(unused.map(|key| format!("{FILE}: no reply names `{key}`")));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Reply {
        Reply { stdout: format!("{{\"deny\":\"{}\"}}\n", inside(text)), ..Reply::default() }
    }

    fn place(file: &str, kept: Reply, now: Reply) -> Place {
        Place { file: file.into(), at: 0, stem: stem(Path::new(file)), kept, now }
    }

    #[test]
    fn a_reply_with_keys_is_the_reply_again() {
        let now = reply("phasegate: say \"no\"\nnow");
        let (texts, keys) = assigned(&[place("a@1/frames.jsonl", Reply::default(), now.clone())], &Texts::new());
        let named = now.named(&now.texts(), &keys[0]);
        assert_eq!((named.stdout.as_str(), named.whole(&texts).unwrap()), ("{\"deny\":\"«a.1»\"}\n", now));
        assert!(named.whole(&Texts::new()).unwrap_err().contains("a.1"));
    }

    #[test]
    fn a_changed_text_keeps_its_key_and_those_that_come_to_differ_get_another() {
        let before = Texts::from([("a.1".into(), "phasegate: old".into())]);
        let kept = reply("«a.1»");
        let changed = |text: &str| place("b@1/frames.jsonl", kept.clone(), reply(text));
        let all = [changed("phasegate: new"), changed("phasegate: new"), changed("phasegate: other")];
        let (after, keys) = assigned(&all, &before);
        assert_eq!(keys, [["a.1"], ["a.1"], ["b.1"]]);
        assert_eq!((after["a.1"].as_str(), after["b.1"].as_str()), ("phasegate: new", "phasegate: other"));
    }
}
