//! Changes of files: shown as a diff, written whole.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize as _;
use phasegate_adapter::Change;
use phasegate_runtime::files::{Readers, replace};

use super::setting::Setting;
use crate::diff::{Fate, hunks};
use crate::output::Failure;

/// Shows what changes: the files, or `whole` diffs.
pub(crate) fn show(setting: &Setting<'_>, changes: &[Change], whole: bool) {
    if setting.context.out.json {
        return;
    }
    for change in changes {
        let out = setting.context.out;
        let name = change.path.strip_prefix(&setting.project.root).unwrap_or(&change.path).display();
        // Of a file that goes, nothing is to be read.
        if !whole || change.after.is_none() {
            out.line(summary(change, &name));
            continue;
        }
        let side = |text: &Option<String>| if text.is_some() { name.to_string() } else { "/dev/null".to_string() };
        out.line(format_args!("{} {}", "---".bold(), side(&change.before).bold()));
        out.line(format_args!("{} {}", "+++".bold(), side(&change.after).bold()));
        let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
        for hunk in hunks(before, after) {
            out.line(hunk.header.cyan());
            for line in hunk.lines {
                let text = line.text.trim_end_matches('\n');
                match line.fate {
                    Fate::Added => out.line(format!("+{text}").green()),
                    Fate::Removed => out.line(format!("-{text}").red()),
                    Fate::Stays => out.line(format_args!(" {text}")),
                }
            }
        }
    }
}

/// A change of a file in a line.
fn summary(change: &Change, name: &impl Display) -> String {
    let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
    let (mut added, mut removed) = (0_usize, 0_usize);
    for line in hunks(before, after).into_iter().flat_map(|hunk| hunk.lines) {
        match line.fate {
            Fate::Added => added += 1,
            Fate::Removed => removed += 1,
            Fate::Stays => {}
        }
    }
    match (&change.before, &change.after) {
        (None, _) => format!("{} {name} ({added} lines)", "new".green()),
        (_, None) => format!("{} {name}", "removed".red()),
        _ => format!("{} {name} (+{added} -{removed} lines)", "changed".cyan()),
    }
}

/// How many links are followed from one path, as systems do.
const MAX_LINKS: usize = 40;

/// The file that a path leads to, at the end of its links; the file need not exist.
pub(crate) fn target(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if let Ok(found) = path.canonicalize() {
            return found;
        }
        let Ok(link) = path.read_link() else { break };
        path = path.parent().map(|folder| folder.join(&link)).unwrap_or(link);
    }
    path
}

/// Writes or removes the files. A link is followed, so that what it points to changes and the link stays.
pub(crate) fn write(changes: &[Change]) -> Result<(), Failure> {
    for change in changes {
        let path = target(&change.path);
        write_one(&path, change.after.as_deref())
            .map_err(|error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))?;
    }
    Ok(())
}

fn write_one(path: &PathBuf, text: Option<&str>) -> io::Result<()> {
    match text {
        Some(text) => {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            replace(path, text.as_bytes(), Readers::Default)
        }
        None => std::fs::remove_file(path),
    }
}
