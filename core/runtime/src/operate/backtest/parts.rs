//! The files of one session as one stream of lines: clients keep those of subagents in files of their own, in a folder that is
//! named after the session's file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::PathBuf;

/// Where a line says when it was written.
const TIME: &str = "\"timestamp\":\"";

/// The files by session: each session's own first, then those of its subagents.
pub fn by_session(files: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
    let folders: BTreeMap<PathBuf, PathBuf> =
        files.iter().map(|file| (file.with_extension(""), file.clone())).collect();
    let mut sessions: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in files {
        let session = file.ancestors().skip(1).find_map(|folder| folders.get(folder));
        let is_own = session.is_none();
        let parts = sessions.entry(session.unwrap_or(&file).clone()).or_default();
        if is_own {
            parts.insert(0, file);
        } else {
            parts.push(file);
        }
    }
    sessions.into_values().collect()
}

/// The lines of several files in the order in which they were written.
pub(super) struct Parts {
    parts: Vec<Part>,
}

struct Part {
    input: BufReader<File>,
    /// Its next line; empty: it is over.
    line: Vec<u8>,
    /// When that was written.
    at: String,
}

impl Parts {
    pub(super) fn open(files: &[PathBuf]) -> io::Result<Self> {
        let part = |file: &PathBuf| {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", file.display()));
            let input = BufReader::new(File::open(file).map_err(named)?);
            let mut part = Part { input, line: Vec::new(), at: String::new() };
            part.advance().map_err(named)?;
            Ok(part)
        };
        Ok(Self { parts: files.iter().map(part).collect::<io::Result<_>>()? })
    }

    /// Takes the next line; `false`: there is none.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let open = self.parts.iter_mut().filter(|part| !part.line.is_empty());
        let Some(part) = open.min_by(|one, other| one.at.cmp(&other.at)) else { return Ok(false) };
        std::mem::swap(line, &mut part.line);
        part.advance()?;
        Ok(true)
    }
}

impl Part {
    fn advance(&mut self) -> io::Result<()> {
        self.line.clear();
        self.input.read_until(b'\n', &mut self.line)?;
        // A line without a time was written with the one before it.
        if let Some(at) = time(&self.line) {
            self.at = at;
        }
        Ok(())
    }
}

fn time(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let (_, rest) = text.split_once(TIME)?;
    Some(rest.split_once('"')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagents_lines_stand_where_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("s/subagents")).unwrap();
        let line = |at: u8, what: &str| format!("{{\"timestamp\":\"2026-11-30T10:00:0{at}Z\",\"what\":\"{what}\"}}\n");
        std::fs::write(path("s.jsonl"), line(1, "a") + "{\"what\":\"b\"}\n" + &line(4, "d")).unwrap();
        std::fs::write(path("s/subagents/agent-1.jsonl"), line(3, "c")).unwrap();
        std::fs::write(path("t.jsonl"), line(2, "x")).unwrap();
        let files = ["s/subagents/agent-1.jsonl", "s.jsonl", "t.jsonl"].map(path).to_vec();
        let sessions = by_session(files);
        assert_eq!(sessions, [vec![path("s.jsonl"), path("s/subagents/agent-1.jsonl")], vec![path("t.jsonl")]]);
        let mut parts = Parts::open(&sessions[0]).unwrap();
        let (mut line, mut said) = (Vec::new(), String::new());
        while parts.next(&mut line).unwrap() {
            let text = String::from_utf8(line.clone()).unwrap();
            said.push_str(text.split("what\":\"").nth(1).unwrap().get(..1).unwrap());
        }
        assert_eq!(said, "abcd");
    }
}
