//! `git diff` outside of a repository: there its operands are files, and it follows links to folders on the way to them.

use std::path::Path;

use phasegate_core::calls::analysis::{Access, PathUse};
use phasegate_shell::{Judgement, Part, Pattern};

use crate::analysis::line::folders;

/// The files that `git diff` reads where it has no repository, as absolute paths.
pub(in crate::analysis) fn paths(judged: &Judgement, base: &Path) -> Vec<PathUse> {
    let numbered = (0..).zip(&judged.parts);
    numbered.flat_map(|(number, part)| of_part(part, base).into_iter().map(move |path| read(path, number))).collect()
}

fn read(path: String, number: u32) -> PathUse {
    PathUse { command: Some(number), ..PathUse::new(path, Access::Read) }
}

fn of_part(part: &Part, base: &Path) -> Vec<String> {
    let words: Vec<String> = part.words.iter().filter_map(Pattern::text).collect();
    let git = words.first().is_some_and(|program| program.rsplit('/').next() == Some("git"));
    let Some(at) = words.iter().position(|word| word == "diff").filter(|_| git) else { return Vec::new() };
    let Some(folder) = folders::folder(part, base) else { return Vec::new() };
    if folder.ancestors().any(|folder| folder.join(".git").exists()) {
        return Vec::new();
    }
    let operands = words.iter().skip(at + 1).filter(|word| !word.starts_with('-'));
    operands.map(|word| folder.join(word).display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    #[test]
    fn operands_of_diff_are_files_only_where_there_is_no_repository() -> std::io::Result<()> {
        let root = std::env::temp_dir().join(format!("phasegate-no-index-{}", std::process::id()));
        std::fs::create_dir_all(root.join("work/sub"))?;
        let root = root.canonicalize()?;
        let found = |line: &str| -> Vec<String> {
            let judged = judge(line, &Table::shipped(), Trust::default());
            let all = paths(&judged, &root).into_iter();
            all.filter_map(|path| Some(Path::new(&path.written).strip_prefix(&root).ok()?.display().to_string()))
                .collect()
        };
        assert_eq!(found("git diff a link/passwd"), ["a", "link/passwd"]);
        assert_eq!(found("cd work && git --no-pager diff --stat sub -- b"), ["work/sub", "work/b"]);
        assert_eq!(found("git log a; diff a b").len(), 0);
        std::fs::create_dir_all(root.join(".git"))?;
        assert_eq!(found("git diff main link/passwd").len(), 0);
        std::fs::remove_dir_all(root)
    }
}
