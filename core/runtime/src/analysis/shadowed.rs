//! Modules of the working folder that python would load instead of its own.

use std::fs;
use std::path::{Path, PathBuf};

use phasegate_core::analysis::{Verdict, Word};
use phasegate_shell::{Judgement, Part, shadows};

/// The most entries of a folder that are looked at; a folder with more counts as one that has such a module.
const MAX_ENTRIES: usize = 20_000;

/// Whether a part that was judged to only read runs python in a folder with such a module.
pub(super) fn any(judged: &Judgement, base: &Path) -> bool {
    let reads = |part: &&Part| part.command.verdict == Verdict::Read && runs_python(part);
    let folders = judged.parts.iter().filter(reads).flat_map(|part| folders(part, base));
    folders.collect::<std::collections::BTreeSet<_>>().iter().any(|folder| has_module(folder, &shadows))
}

fn runs_python(part: &Part) -> bool {
    let Some(Word::Known(program)) = part.command.words.first() else { return false };
    program.rsplit('/').next().is_some_and(|name| name.starts_with("py"))
}

/// Where a part may run: where the line starts, and where it goes, as far as that is known.
fn folders(part: &Part, base: &Path) -> Vec<PathBuf> {
    let known = part.folders.iter().filter_map(|folder| Some(base.join(folder.text()?)));
    known.chain([base.to_path_buf()]).collect()
}

/// Whether a module lies in the folder that `loads` names, in lower case: a file, or a package.
pub(super) fn has_module(folder: &Path, loads: &dyn Fn(&str) -> bool) -> bool {
    // What cannot be listed may still be loaded from.
    let Ok(entries) = fs::read_dir(folder) else { return folder.exists() };
    let mut count = 0_usize;
    for entry in entries.flatten() {
        count = count.saturating_add(1);
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if count > MAX_ENTRIES || (loads(&name) && (name.contains('.') || is_package(&entry.path()))) {
            return true;
        }
    }
    false
}

fn is_package(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().to_lowercase().starts_with("__init__."))
}

#[cfg(test)]
mod tests {
    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    #[test]
    fn a_module_beside_the_line_is_found() -> std::io::Result<()> {
        let folder = std::env::temp_dir().join(format!("phasegate-shadowed-{}", std::process::id()));
        let found = |line: &str| any(&judge(line, &Table::shipped(), Trust::default()), &folder);
        let line = "python3 -c 'import json; print(json.loads(\"1\"))'";
        fs::create_dir_all(folder.join("sub/email"))?;
        fs::create_dir_all(folder.join("json"))?;
        fs::write(folder.join("types.ts"), "")?;
        assert!(!found(line), "a folder without `__init__` is no package");
        fs::write(folder.join("json/__init__.py"), "")?;
        assert!(found(line));
        assert!(!found("cat a"), "no python");
        fs::remove_file(folder.join("json/__init__.py"))?;
        fs::write(folder.join("sub/Calendar.PY"), "")?;
        assert!(!found(line));
        assert!(found(&format!("cd sub && {line}")));
        assert!(found("cd sub && python3 -m json.tool a.json"));
        fs::remove_dir_all(&folder)
    }
}
