//! What a client itself records of a session: read on from where the last look ended, in bounds.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use phasegate_adapter::{ClientRecord, RecordPlace, Recorded, Said};
use serde::{Deserialize, Serialize};

use crate::timestamp::milliseconds;

/// How much one look reads, in bytes.
pub(crate) const LOOK_BYTES: u64 = 4 * 1024 * 1024;
/// How often is looked for what the client is about to write.
const LOOK_AGAIN: Duration = Duration::from_millis(4);
/// How much is read where everything is compared, in bytes.
pub(crate) const WHOLE_BYTES: u64 = 256 * 1024 * 1024;
/// The most files of subagents that are read.
const MAX_FILES: usize = 256;
/// How deep they lie.
const MAX_DEPTH: usize = 3;

/// The client's record of a session, and how far it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadRecord {
    /// The platform whose client writes it.
    pub client: String,
    /// The file of the session itself.
    pub file: PathBuf,
    /// The folder of the files of its subagents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// When the guard first saw the session, in milliseconds since 1970-01-01 UTC: what is older was not its to judge.
    pub since: i64,
    /// How many bytes of the file were read.
    pub read: u64,
    /// Up to when the agent's words were heard, in milliseconds since 1970-01-01 UTC: none counts twice.
    #[serde(default)]
    pub heard: i64,
    /// How many bytes of each file of a subagent were read, by its path in the folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<PathBuf, u64>,
}

/// How much of a record was read since it was kept last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordRead {
    /// How many bytes of the file.
    pub read: u64,
    /// Up to when the agent's words were heard.
    #[serde(default)]
    pub heard: i64,
    /// How many bytes of those files of subagents that have grown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<PathBuf, u64>,
}

/// What a look showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looked {
    /// The calls that ended, each with its end.
    pub(crate) calls: Vec<Recorded>,
    /// What is wrong with the record itself, as a fragment.
    pub(crate) lost: Option<&'static str>,
}

impl ReadRecord {
    /// The record at this place, which is read from its present end on.
    pub(crate) fn begin(client: &str, place: RecordPlace, since: i64) -> Self {
        let RecordPlace { file, folder } = place;
        let read = length(&file).unwrap_or_default();
        Self { client: client.to_owned(), file, folder, since, read, heard: since, others: BTreeMap::new() }
    }

    /// What it is made of: the folder of all records of the project, where those of subagents come to lie later, too. A
    /// client that keeps them elsewhere than below the home, or with the project, has the file alone.
    pub(crate) fn place(&self, home: &Path, root: &Path) -> &Path {
        let folder = self.file.parent().filter(|folder| folder.starts_with(home) && *folder != home);
        folder.filter(|folder| !root.starts_with(folder)).unwrap_or(&self.file)
    }

    /// The same record, as if nothing of it had been read.
    pub(crate) fn unread(&self) -> Self {
        Self { read: 0, others: BTreeMap::new(), ..self.clone() }
    }

    /// How much more this says was read than the one before.
    pub(crate) fn read_since(&self, before: Option<&Self>) -> RecordRead {
        let known = |name: &PathBuf| before.and_then(|before| before.others.get(name));
        let others = self.others.iter().filter(|(name, read)| known(name) != Some(*read));
        RecordRead {
            read: self.read,
            heard: self.heard,
            others: others.map(|(name, read)| (name.clone(), *read)).collect(),
        }
    }

    /// Takes up how much was read.
    pub(crate) fn take_up(&mut self, read: &RecordRead) {
        (self.read, self.heard) = (read.read, read.heard);
        self.others.extend(read.others.clone());
    }

    /// Whether all of that was read, as far as is kept.
    pub(crate) fn knows(&self, read: &RecordRead) -> bool {
        (self.read, self.heard) == (read.read, read.heard)
            && read.others.iter().all(|(name, read)| self.others.get(name) == Some(read))
    }

    /// What the agent said since it was last heard, and before the call that is decided, where one is. A client that writes
    /// it down only after it starts the hook is waited for.
    pub(crate) fn hear(&mut self, record: &dyn ClientRecord, call: Option<&str>, most: Duration) -> Vec<String> {
        let (mut read, mut left, until) = (self.read, LOOK_BYTES, Instant::now() + record.lags().min(most));
        let (mut said, mut is_there) = (Vec::new(), call.is_none());
        loop {
            read_on(&self.file, &mut read, &mut left, &mut |line| {
                said.extend(record.said(line));
                is_there |= record.read(line).iter().any(|one| Some(one.call.as_str()) == call);
            });
            if is_there || Instant::now() >= until || length(&self.file).is_none() {
                break;
            }
            sleep(LOOK_AGAIN);
        }
        let at = |said: &Said| said.at.as_deref().and_then(milliseconds).unwrap_or_default();
        said.retain(|said| at(said) > self.heard);
        self.heard = said.iter().map(at).fold(self.heard, i64::max);
        said.into_iter().map(|said| said.text).collect()
    }

    /// Reads on, at most so many bytes. A line that is not complete is left for the next look.
    pub(crate) fn look(&mut self, record: &dyn ClientRecord, most: u64) -> Looked {
        let mut left = most;
        let mut looked = Looked::default();
        let mut found = Vec::new();
        let length = length(&self.file);
        if self.read > 0 && length.is_none_or(|length| length < self.read) {
            looked.lost = Some(if length.is_none() { "is gone" } else { "is shorter than it was" });
            self.read = 0;
        }
        read_on(&self.file, &mut self.read, &mut left, &mut |line| found.extend(record.read(line)));
        let folder = self.folder.clone();
        let files = folder.iter().flat_map(|folder| files(folder, &self.file));
        let mut others = BTreeMap::new();
        for (name, path) in files {
            let mut read = self.others.get(&name).copied().unwrap_or_default();
            read_on(&path, &mut read, &mut left, &mut |line| found.extend(record.read(line)));
            others.insert(name, read);
        }
        self.others.extend(others);
        looked.calls = ended(found, self.since);
        looked
    }
}

/// The calls that ended since then, each with its tool and arguments where these are known.
fn ended(found: Vec<Recorded>, since: i64) -> Vec<Recorded> {
    let (ended, made): (Vec<Recorded>, Vec<Recorded>) = found.into_iter().partition(|one| one.end.is_some());
    let made: BTreeMap<String, Recorded> = made.into_iter().map(|one| (one.call.clone(), one)).collect();
    let at = |one: &Recorded| one.at.as_deref().and_then(milliseconds);
    let is_old = |one: &Recorded| made.get(&one.call).and_then(at).or_else(|| at(one)).is_some_and(|at| at < since);
    let with = |one: Recorded| {
        let begun = made.get(&one.call);
        let (tool, input) = begun.map(|begun| (begun.tool.clone(), begun.input.clone())).unwrap_or_default();
        Recorded { tool: one.tool.or(tool), input: one.input.or(input), ..one }
    };
    ended.into_iter().filter(|one| !is_old(one)).map(with).collect()
}

/// The end of a call, as a record says that has it among the last lines; `None` where it says nothing of that.
pub(crate) fn end_of(file: &Path, call: &str, record: &dyn ClientRecord) -> Option<Recorded> {
    let length = length(file)?;
    let bytes = piece(file, length.saturating_sub(LOOK_BYTES), length.min(LOOK_BYTES)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().rev().filter(|line| line.contains(call));
    lines.find_map(|line| record.read(line).into_iter().find(|one| one.call == call && one.end.is_some()))
}

/// How long a regular file is.
fn length(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len())
}

/// Tells each complete line that follows what was read, and moves on. What cannot be read is left.
fn read_on(path: &Path, read: &mut u64, left: &mut u64, tell: &mut dyn FnMut(&str)) {
    let Some(length) = length(path) else { return };
    let want = length.saturating_sub(*read).min(*left);
    let Ok(bytes) = piece(path, *read, want) else { return };
    let end = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => at + 1,
        // A line longer than a look says nothing of calls.
        None if bytes.len() as u64 == LOOK_BYTES => bytes.len(),
        None => return,
    };
    let lines = bytes.get(..end).unwrap_or_default();
    lines.split(|byte| *byte == b'\n').for_each(|line| tell(&String::from_utf8_lossy(line)));
    *read += end as u64;
    *left = left.saturating_sub(end as u64);
}

fn piece(path: &Path, from: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if length > 0 {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        file.take(length).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The files below a folder that end as this one does, each with its path from there.
fn files(folder: &Path, like: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), 0)];
    while let Some((at, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&at).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            let is = |wanted: fn(&std::fs::FileType) -> bool| kind.as_ref().is_ok_and(wanted);
            if is(std::fs::FileType::is_dir) && depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if is(std::fs::FileType::is_file) && path.extension() == like.extension() && found.len() < MAX_FILES
            {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
                found.push((name, path));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use phasegate_adapter::{Message, RecordedEnd};

    use super::*;

    /// A line is the name of a call that ran, and perhaps a time.
    struct Lines;

    impl ClientRecord for Lines {
        fn place(&self, _: &Message) -> Option<RecordPlace> {
            None
        }

        fn read(&self, line: &str) -> Vec<Recorded> {
            let (call, at) = line.split_once(' ').unwrap_or((line, ""));
            let end = RecordedEnd::of(true);
            let at = Some(at.to_owned()).filter(|at| !at.is_empty());
            let all =
                (!call.is_empty()).then(|| Recorded { call: call.into(), tool: None, input: None, end: Some(end), at });
            all.into_iter().collect()
        }

        fn said(&self, line: &str) -> Option<Said> {
            let (text, at) = line.split_once(' ')?;
            Some(Said { text: text.into(), at: Some(at.into()) })
        }

        fn lags(&self) -> Duration {
            Duration::from_secs(60)
        }
    }

    fn names(looked: &Looked) -> Vec<&str> {
        looked.calls.iter().map(|one| one.call.as_str()).collect()
    }

    #[test]
    fn each_look_reads_what_was_added_since_and_leaves_half_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        fs::write(&file, "before\n").unwrap();
        let others = folder.path().join("s");
        let place = RecordPlace { file: file.clone(), folder: Some(others.clone()) };
        let mut kept = ReadRecord::begin("x", place, 1_000_000);
        assert_eq!(names(&kept.look(&Lines, LOOK_BYTES)), [""; 0]);
        fs::write(&file, "before\na\nold 1970-01-01T00:00:01Z\nhal").unwrap();
        fs::create_dir_all(others.join("deep")).unwrap();
        fs::write(others.join("deep/agent.jsonl"), "sub\n").unwrap();
        fs::write(others.join("notes.txt"), "other\n").unwrap();
        assert_eq!(names(&kept.look(&Lines, LOOK_BYTES)), ["a", "sub"]);
        fs::write(&file, "before\na\nold 1970-01-01T00:00:01Z\nhalf\nb\n").unwrap();
        assert_eq!(names(&kept.look(&Lines, LOOK_BYTES)), ["half", "b"]);
        assert_eq!(names(&kept.look(&Lines, LOOK_BYTES)), [""; 0]);
        assert_eq!(names(&kept.unread().look(&Lines, 12)), ["before", "a"], "in bounds");
    }

    #[test]
    fn words_are_heard_once_up_to_the_call_and_not_those_of_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        fs::write(&file, "before 1970-01-01T00:00:02Z\n").unwrap();
        let mut kept = ReadRecord::begin("x", RecordPlace { file: file.clone(), folder: None }, 2000);
        let mut hear = |call| kept.hear(&Lines, call, Duration::from_millis(20));
        fs::write(&file, "before 1970-01-01T00:00:02Z\nold 1970-01-01T00:00:02Z\na 1970-01-01T00:00:03Z\nb").unwrap();
        assert_eq!(hear(Some("b")), ["a"], "the call is not there in time");
        fs::write(&file, "before 1970-01-01T00:00:02Z\nold\na 1970-01-01T00:00:03Z\nb 1970-01-01T00:00:04Z\n").unwrap();
        assert_eq!(hear(Some("b")), ["b"]);
        assert_eq!(hear(None), [""; 0]);
        fs::remove_file(&file).unwrap();
        assert_eq!(hear(Some("c")), [""; 0], "nothing is waited for");
    }

    #[test]
    fn the_end_of_a_call_is_the_last_that_is_recorded_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        assert_eq!(end_of(&file, "a", &Lines), None);
        fs::write(&file, "a first\nab\na last\nb\n").unwrap();
        let end = end_of(&file, "a", &Lines).unwrap();
        assert_eq!((end.call.as_str(), end.at.as_deref()), ("a", Some("last")));
        assert_eq!(end_of(&file, "c", &Lines), None);
    }

    #[test]
    fn a_record_that_is_gone_or_shorter_is_told_and_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        let mut kept = ReadRecord::begin("x", RecordPlace { file: file.clone(), folder: None }, 0);
        assert_eq!(kept.look(&Lines, LOOK_BYTES), Looked::default(), "it never was there");
        fs::write(&file, "a\nb\n").unwrap();
        assert_eq!(names(&kept.look(&Lines, LOOK_BYTES)), ["a", "b"]);
        fs::write(&file, "c\n").unwrap();
        let looked = kept.look(&Lines, LOOK_BYTES);
        assert_eq!((looked.lost, names(&looked)), (Some("is shorter than it was"), vec!["c"]));
        fs::remove_file(&file).unwrap();
        assert_eq!(kept.look(&Lines, LOOK_BYTES).lost, Some("is gone"));
        assert_eq!(kept.look(&Lines, LOOK_BYTES).lost, None, "told once");
    }
}
