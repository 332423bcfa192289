//! The guard's own commands that a person gives: those which write configs or settings.

use phasegate_core::calls::analysis::{Guarded, Part as Kind};
use phasegate_shell::{Judgement, Part};

use super::guard_files::Place;
use crate::protected::protected_path::fold;

/// The program's name.
const NAME: &str = "phasegate";
/// Commands of the guard that write configs or settings.
const PERSONS: [&[&str]; 5] = [
    &["init"],
    &["skill", "new"],
    &["rules", "import", "--yes"],
    &["rules", "import", "--undo"],
    &["restore", "--keep"],
];
/// Options with which they write nothing.
const ONLY_SHOWS: [&str; 4] = ["--dry-run", "--help", "--print", "-h"];
impl Place<'_> {
    /// By the guard's own commands in a line.
    pub(in crate::analysis) fn guard_commands(&self, judged: &Judgement) -> Option<Guarded> {
        let command = judged.parts.iter().find_map(|part| self.for_a_person(part))?;
        Some(Guarded { part: Kind::Command, path: command })
    }

    /// The command of the guard that a part gives, if it writes configs or settings in a guarded project, or elsewhere.
    /// Where nothing guards yet, an agent may set a project up.
    fn for_a_person(&self, part: &Part) -> Option<String> {
        let words: Vec<String> = part.words.iter().map(|word| word.text().unwrap_or_default()).collect();
        let (program, rest) = words.split_first()?;
        if !is_name(program) || rest.iter().any(|word| ONLY_SHOWS.contains(&word.as_str())) {
            return None;
        }
        let given = |command: &&&[&str]| command.iter().all(|name| rest.iter().any(|word| word == name));
        let command = PERSONS.iter().find(given)?;
        let elsewhere = rest.iter().any(|word| word.starts_with("--project") || word == "--user");
        if elsewhere {
            self.protected.note_others();
        }
        (self.protected.is_guarded() || elsewhere).then(|| format!("{NAME} {}", command.join(" ")))
    }
}

/// Whether a word is the program's name, with a folder or a version.
fn is_name(word: &str) -> bool {
    let name = fold(last(word));
    let name = name.split(['@', '=', '<', '>', '~', '[']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name) == NAME
}

fn last(word: &str) -> &str {
    word.trim_end_matches('/').rsplit('/').next().unwrap_or(word)
}
