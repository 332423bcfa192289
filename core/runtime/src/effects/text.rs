//! The written form of a manifest: a line for each folder and each file. It is read before and after every call, so it is
//! plain text, and no name is taken apart.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::Part;
use phasegate_store::disk::Disk as _;
use phasegate_store::disk::active_disk::disk;
use phasegate_store::disk::ownership::open_own;

use super::copies::Copied;
use super::manifest::{Background, Folder, Manifest, Rule, WatchedFile, mark_of};
use super::stamp::Stamp;

/// The first line: the form and the guard that wrote it. Another guard may watch other files.
const HEAD: &str = concat!("effects 1 ", env!("CARGO_PKG_VERSION"));
/// The last line, before the number of lines.
const END: &str = "end ";

impl Manifest {
    /// Reads a manifest; `None`: there is none, or it is damaged.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let mut file = open_own(path, OpenOptions::new().read(true)).ok()?;
        let mut text = String::with_capacity(64 * 1024);
        file.read_to_string(&mut text).ok()?;
        parse(&text)
    }

    /// Writes the manifest: what the system then says of the file. It need not outlive a crash of the machine.
    pub(crate) fn write(&mut self, path: &Path) -> io::Result<String> {
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            disk().make_folder(folder)?;
        }
        let mut file = disk().open(path)?;
        disk().cut(&file, path, 0)?;
        disk().append(&mut file, path, print(self).as_bytes())?;
        self.dirty = false;
        mark_of(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The manifest as a text.
fn print(manifest: &Manifest) -> String {
    let mut text = String::with_capacity(128 * (manifest.files() + manifest.folders.len() + 4));
    let mut lines = 1_usize;
    text.push_str(HEAD);
    let mut line = |line: &dyn Fn(&mut String)| {
        text.push('\n');
        line(&mut text);
        lines += 1;
    };
    line(&|text| text.push_str(&format!("began {} {}", manifest.began, u8::from(manifest.capped))));
    if let Some(Background { since, id }) = &manifest.background {
        let id = id.as_deref().filter(|id| is_one_line(id)).unwrap_or_default();
        line(&|text| text.push_str(&format!("background {since} {id}")));
    }
    for glob in &manifest.globs {
        line(&|text| text.extend(["glob ", glob]));
    }
    for folder in &manifest.folders {
        let Some(path) = folder.path.to_str().filter(|path| is_one_line(path)) else { continue };
        line(&|text| {
            text.extend(["folder ", &word(folder.rule), " "]);
            stamp(text, folder.stamp.as_ref());
            text.extend([" ", path]);
        });
        for name in folder.ignored.iter().filter(|name| is_one_line(name)) {
            line(&|text| text.extend(["ignored ", name]));
        }
        for file in folder.files.iter().filter(|file| is_one_line(&file.name)) {
            line(&|text| {
                text.push_str("file ");
                stamp(text, file.stamp.as_ref());
                text.extend([" ", file.digest.as_deref().unwrap_or("-")]);
                match file.copied {
                    Some(Copied { from, length }) => text.push_str(&format!(" {from} {length} ")),
                    None => text.push_str(" - - "),
                }
                text.push_str(&file.name);
            });
        }
    }
    text.push_str(&format!("\n{END}{lines}\n"));
    text
}

/// The manifest of a text; `None`: it is none, or another guard's, or not whole.
fn parse(text: &str) -> Option<Manifest> {
    let (body, end) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let count: usize = end.strip_prefix(END)?.parse().ok()?;
    let mut lines = body.split('\n');
    if lines.next()? != HEAD {
        return None;
    }
    let mut manifest = Manifest::default();
    let mut seen = 1_usize;
    for line in lines {
        seen += 1;
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "file" => {
                let file = file(rest)?;
                manifest.folders.last_mut()?.files.push(file);
            }
            "folder" => manifest.folders.push(folder(rest)?),
            "ignored" => manifest.folders.last_mut()?.ignored.push(rest.to_owned()),
            "glob" => manifest.globs.push(rest.to_owned()),
            "began" => {
                let (began, capped) = rest.split_once(' ')?;
                (manifest.began, manifest.capped) = (began.parse().ok()?, capped == "1");
            }
            "background" => {
                let (since, id) = rest.split_once(' ')?;
                let id = (!id.is_empty()).then(|| id.to_owned());
                manifest.background = Some(Background { since: since.parse().ok()?, id });
            }
            _ => return None,
        }
    }
    (seen == count).then_some(manifest)
}

fn folder(line: &str) -> Option<Folder> {
    let (rule, rest) = line.split_once(' ')?;
    let (stamp, path) = stamped(rest)?;
    Some(Folder { stamp, ..Folder::new(PathBuf::from(path), rule_of(rule)?) })
}

fn file(line: &str) -> Option<WatchedFile> {
    let (stamp, rest) = stamped(line)?;
    let mut parts = rest.splitn(4, ' ');
    let digest = parts.next().filter(|digest| *digest != "-").map(str::to_owned);
    let (from, length) = (parts.next()?.parse().ok(), parts.next()?.parse().ok());
    let copied = from.zip(length).map(|(from, length)| Copied { from, length });
    Some(WatchedFile { name: parts.next()?.to_owned(), stamp, digest, copied })
}

fn stamp(text: &mut String, stamp: Option<&Stamp>) {
    match stamp {
        Some(stamp) => stamp.write(text),
        None => text.push('-'),
    }
}

/// A stamp, and what stands behind it.
fn stamped(line: &str) -> Option<(Option<Stamp>, &str)> {
    if let Some(rest) = line.strip_prefix("- ") {
        return Some((None, rest));
    }
    let behind = line.match_indices(' ').nth(4).map(|(at, _)| at)?;
    let (stamp, rest) = line.split_at_checked(behind)?;
    Some((Some(Stamp::read(&mut stamp.split_ascii_whitespace())?), rest.get(1..)?))
}

fn is_one_line(text: &str) -> bool {
    !text.contains('\n')
}

fn word(rule: Rule) -> String {
    let part = |part: Part| match part {
        Part::Policy => "policy",
        Part::Skill => "skill",
        Part::Program => "program",
        Part::State | Part::Settings | Part::Client | Part::Command | Part::Unread => "settings",
    };
    match rule {
        Rule::Globs => "globs".to_owned(),
        Rule::Skills => "skills".to_owned(),
        Rule::Starts => "starts".to_owned(),
        Rule::Tree(of) => format!("tree:{}", part(of)),
        Rule::Named(of) => format!("named:{}", part(of)),
    }
}

fn rule_of(word: &str) -> Option<Rule> {
    let part = |word: &str| match word {
        "policy" => Some(Part::Policy),
        "skill" => Some(Part::Skill),
        "program" => Some(Part::Program),
        "settings" => Some(Part::Settings),
        _ => None,
    };
    match word.split_once(':') {
        Some(("tree", of)) => part(of).map(Rule::Tree),
        Some(("named", of)) => part(of).map(Rule::Named),
        Some(_) => None,
        None if word == "globs" => Some(Rule::Globs),
        None if word == "skills" => Some(Rule::Skills),
        None if word == "starts" => Some(Rule::Starts),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let stamp = Stamp { inode: 7, size: 9, modified: 11, changed: 13, mode: 0o100_644 };
        let copied = Some(Copied { from: 3, length: 4 });
        let file = WatchedFile { name: "a b.py".into(), stamp: Some(stamp), digest: Some("d".into()), copied };
        let absent = WatchedFile { name: "gone".into(), ..WatchedFile::default() };
        let mut folder = Folder::new(PathBuf::from("/p/src x"), Rule::Globs);
        (folder.files, folder.ignored, folder.stamp) = (vec![file, absent], vec!["made".into()], Some(stamp));
        let rules = [Rule::Tree(Part::Policy), Rule::Named(Part::Settings), Rule::Named(Part::Program), Rule::Skills];
        let others = rules.into_iter().map(|rule| Folder::new(PathBuf::from("/h"), rule));
        Manifest {
            globs: vec!["src/**".into(), "{a,b} c/*.py".into()],
            began: 17,
            capped: true,
            background: Some(Background { since: 19, id: Some("t1".into()) }),
            folders: std::iter::once(folder).chain(others).collect(),
            dirty: false,
        }
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let text = print(&manifest());
        assert_eq!(parse(&text), Some(manifest()), "{text}");
        assert_eq!(parse(&print(&Manifest::default())), Some(Manifest::default()));
    }

    #[test]
    fn a_part_of_one_is_none() {
        let text = print(&manifest());
        for length in 0..text.len() {
            let part = text.get(..length).unwrap();
            assert_eq!(parse(part), None, "{length}");
        }
        assert_eq!(parse(&text.replacen("effects 1", "effects 2", 1)), None);
    }
}
