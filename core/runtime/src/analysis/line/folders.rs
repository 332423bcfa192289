//! In which folder each command of a line runs (rules 3.7 and 3.8).

use std::path::{Component, Path, PathBuf};

use phasegate_core::calls::analysis::{RunsIn, SimpleCommand, Word};
use phasegate_shell::{Judgement, Part};

use crate::project::paths::resolve;

/// Marks each command that runs somewhere else than in the project's root, and says where the line begins.
pub(in crate::analysis) fn mark(
    commands: &mut [SimpleCommand],
    judged: &Judgement,
    root: &Path,
    base: &Path,
) -> RunsIn {
    let place = |found: Option<PathBuf>| match found {
        Some(folder) if folder == root => RunsIn::Root,
        Some(folder) if folder.starts_with(root) => RunsIn::Below,
        _ => RunsIn::Elsewhere,
    };
    // Most commands run where the line starts: that is looked up once.
    let start = place(resolve(base, Path::new(".")));
    for (command, part) in commands.iter_mut().zip(&judged.parts) {
        command.runs_in = if part.folders.is_empty() { start } else { place(folder(part, base)) };
    }
    start
}

/// The folder in which a part of a line runs, where that is known.
pub(in crate::analysis) fn folder(part: &Part, base: &Path) -> Option<PathBuf> {
    match part.folders.as_slice() {
        [] => resolve(base, Path::new(".")),
        [one] => resolve(base, Path::new(&one.text()?)),
        _ => None,
    }
}

/// Whether a word names no path outside of the project, as itself or as the value of an option.
pub(in crate::analysis) fn is_inside(word: &Word, root: &Path) -> bool {
    let Word::Known(word) = word else { return false };
    word.split(['=', ':', ',']).all(|part| {
        let path = Path::new(part.trim_start_matches("-I").trim_start_matches("-C"));
        let climbs = path.components().any(|component| component == Component::ParentDir);
        !climbs && !part.starts_with('~') && (!path.is_absolute() || path.starts_with(root))
    })
}

/// Whether a word is a path at which what is written comes out of the line.
pub(in crate::analysis) fn is_device(word: &str) -> bool {
    word.starts_with("/dev/") || word.starts_with("/proc/")
}

#[cfg(test)]
mod tests {
    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    #[test]
    fn each_command_runs_in_the_folder_that_the_line_went_to() -> std::io::Result<()> {
        let root = std::env::temp_dir().join(format!("phasegate-runs-in-{}", std::process::id()));
        std::fs::create_dir_all(root.join("src"))?;
        #[cfg(unix)]
        let _ = std::os::unix::fs::symlink("/etc", root.join("link"));
        let root = root.canonicalize()?;
        let last = |line: &str, base: &Path| {
            let judged = judge(line, &Table::shipped(), Trust::default());
            let mut commands: Vec<_> = judged.parts.iter().map(|part| part.command.clone()).collect();
            assert_eq!(mark(&mut commands, &judged, &root, base) == RunsIn::Root, base == root, "{line}");
            commands.last().map(|command| (command.runs_in, command.repeats))
        };
        for (line, runs_in, repeats) in [
            ("ls", RunsIn::Root, false),
            ("cd src && ls", RunsIn::Below, false),
            ("cd src/.. && ls", RunsIn::Root, false),
            ("cd && ls", RunsIn::Elsewhere, false),
            ("cd - && ls", RunsIn::Elsewhere, false),
            ("cd link && ls", RunsIn::Elsewhere, false),
            ("cd /tmp; ls", RunsIn::Elsewhere, false),
            ("timeout 5 ls", RunsIn::Root, false),
            ("true && ls", RunsIn::Root, false),
            ("for i in 1 2; do ls; done", RunsIn::Root, true),
            ("while ls; do :; done", RunsIn::Root, true),
            ("f() { ls; }", RunsIn::Elsewhere, true),
            ("sh -c 'ls'", RunsIn::Root, true),
        ] {
            assert_eq!(last(line, &root), Some((runs_in, repeats)), "{line}");
        }
        assert_eq!(last("ls", &root.join("src")), Some((RunsIn::Below, false)));
        std::fs::remove_dir_all(root)
    }
}
