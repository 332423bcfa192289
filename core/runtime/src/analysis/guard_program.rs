//! The guard's own program, where a line reaches it by other ways than its path: a lookup of its name, a pattern of names in a
//! folder that is not known, an installer that replaces or removes it.

use std::path::{Path, PathBuf};

use phasegate_core::analysis::{Access, Guarded, Part as Kind, Verdict};
use phasegate_shell::{Judgement, Part, Pattern, Piece};

use super::arguments::{COPIES, is_one_of};
use super::guarded::{Place, change};
use super::matched::matched;
use super::word_paths::{folders, last_name, within};
use crate::bounds::{self, MAX_FILE_BYTES};
use crate::protected::protected_path::fold;

/// The program's name.
const NAME: &str = "phasegate";
/// The fewest letters of the name with which a pattern of names begins that means it.
const FEWEST_LETTERS: usize = 3;
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
/// Programs that print where another one is.
const LOOKUPS: [&str; 8] = ["which", "type", "command", "whereis", "whence", "where", "hash", "locate"];
/// Programs that put others into a folder of `PATH`, or take them away.
const INSTALLERS: [&str; 29] = [
    "cargo",
    "cargo-binstall",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "pip",
    "pip3",
    "pipx",
    "uv",
    "go",
    "brew",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "pacman",
    "apk",
    "gem",
    "mise",
    "asdf",
    "volta",
    "nix-env",
    "nix",
    "snap",
    "port",
    "conda",
    "mamba",
    "update-alternatives",
];
/// Their commands that do so.
const INSTALLS: [&str; 20] = [
    "install",
    "i",
    "in",
    "add",
    "uninstall",
    "un",
    "unlink",
    "remove",
    "rm",
    "upgrade",
    "update",
    "reinstall",
    "link",
    "binstall",
    "purge",
    "profile",
    "env",
    "erase",
    "-i",
    "-e",
];
/// Files that say which programs a folder's package has.
const MANIFESTS: [&str; 5] = ["Cargo.toml", "package.json", "pyproject.toml", "setup.cfg", "setup.py"];
/// Options without which `npm` and its like leave the folders of `PATH` as they are.
const EVERYWHERE: [&str; 4] = ["-g", "--global", "global", "link"];
const LOCAL_INSTALLERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];

impl Place<'_> {
    /// By what a line changes whose name it looks up, by the programs that it installs, and by the guard's own commands.
    pub(super) fn guard_program(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        if let Some(command) = judged.parts.iter().find_map(|part| self.for_a_person(part)) {
            return vec![Guarded { part: Kind::Command, path: command }];
        }
        let changed = || judged.touches.iter().filter(|touch| change(touch.access).is_some());
        let gets_unknown =
            || changed().any(|touch| touch.path.text().is_none()) || judged.parts.iter().any(gets_unknown);
        let looks_up = judged.parts.iter().any(looks_up) || reads_search_path(line);
        let found = (looks_up && gets_unknown())
            || changed().any(|touch| is_pattern_of_name(&touch.path))
            || judged.parts.iter().any(|part| is_script_that_looks_up(part) || self.installs(part))
            || self.copies_over(judged);
        if !found {
            return Vec::new();
        }
        self.protected.note_others();
        vec![Guarded { part: Kind::Program, path: NAME.to_owned() }]
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

    /// Whether the line copies or moves something into a folder above the program, and has a file for its place.
    fn copies_over(&self, judged: &Judgement) -> bool {
        judged.touches.iter().filter(|touch| touch.access == Access::Write).any(|touch| {
            let part = touch.part.and_then(|part| judged.parts.get(usize::try_from(part).ok()?));
            let (Some(part), Some(target)) = (part.filter(|part| is_one_of(part, &COPIES)), touch.path.text()) else {
                return false;
            };
            let target = self.absolute(&target);
            let places = self.protected.programs_below(&target);
            // The folder that is copied into has the program, and is one of the words.
            let comes = |source: &PathBuf| *source != target && places.iter().any(|place| holds(source, place));
            !places.is_empty() && self.operands(part).iter().any(comes)
        })
    }

    /// The files that the words of a part name, in each folder that it may run in.
    fn operands(&self, part: &Part) -> Vec<PathBuf> {
        let words = || part.words.iter().skip(1).filter(|word| !word.text().is_some_and(|word| word.starts_with('-')));
        let found = |path: Pattern| match path.text() {
            Some(text) => vec![self.absolute(&text)],
            None => matched(&path, self.base, self.protected.home()),
        };
        folders(part).iter().flat_map(|folder| words().map(|word| within(folder, word))).flat_map(found).collect()
    }

    /// Whether a part installs a program of this name, or removes it.
    fn installs(&self, part: &Part) -> bool {
        let words: Vec<String> = part.words.iter().filter_map(Pattern::text).collect();
        let is = |names: &[&str]| words.iter().any(|word| names.contains(&last(word)));
        if part.command.verdict == Verdict::Read || !is(&INSTALLERS) || !is(&INSTALLS) {
            return false;
        }
        if words.iter().skip(1).any(|word| is_name(word)) {
            return true;
        }
        if is(&LOCAL_INSTALLERS) && !words.iter().any(|word| EVERYWHERE.contains(&word.as_str())) {
            return false;
        }
        // Without an operand it is the package of the folder.
        let is_command = |word: &&String| INSTALLS.contains(&word.as_str()) || EVERYWHERE.contains(&word.as_str());
        let operands = words.iter().skip(1).filter(|word| !word.starts_with('-') && !is_command(word));
        let mut named: Vec<Pattern> = operands.map(|word| Pattern::known(word)).collect();
        if named.is_empty() {
            named.push(Pattern::known("."));
        }
        let paths = folders(part).into_iter().flat_map(|from| named.iter().map(move |word| within(&from, word)));
        paths.filter_map(|path| path.text()).any(|path| has_program(&self.absolute(&path)))
    }
}

/// Whether something that is copied has a file for this place below the folder that it comes into: in it, or as itself.
fn holds(source: &Path, place: &Path) -> bool {
    let rest = source.file_name().and_then(|name| place.strip_prefix(name).ok());
    let named = rest.map(|rest| source.components().chain(rest.components()).collect::<PathBuf>());
    source.join(place).exists() || named.is_some_and(|path| path.exists())
}

/// Whether a line takes a folder out of `PATH`. An assignment to `PATH` may name its old value.
fn reads_search_path(line: &str) -> bool {
    ["$PATH", "${PATH"].iter().any(|name| {
        line.match_indices(name).any(|(at, name)| {
            let behind = line.get(at.saturating_add(name.len())..).and_then(|rest| rest.chars().next());
            let whole = behind.is_none_or(|sign| !sign.is_ascii_alphanumeric() && sign != '_');
            let before = line.get(..at).unwrap_or_default();
            let word =
                before.rsplit(|sign: char| sign.is_whitespace() || ";&|(".contains(sign)).next().unwrap_or_default();
            whole && !word.contains("PATH=")
        })
    })
}

/// Whether a part asks where the program is.
fn looks_up(part: &Part) -> bool {
    let mut words = part.words.iter().filter_map(Pattern::text);
    words.next().is_some_and(|program| LOOKUPS.contains(&last(&program))) && words.any(|word| is_name(&word))
}

/// Whether a program that does more than read gets a word that is not known.
fn gets_unknown(part: &Part) -> bool {
    part.command.verdict != Verdict::Read
        && (part.unnamed || part.words.iter().skip(1).any(|word| word.text().is_none()))
}

/// Whether a script asks where the program is: what it then does, nobody can see.
fn is_script_that_looks_up(part: &Part) -> bool {
    let opaque = matches!(part.command.verdict, Verdict::Execute | Verdict::Unknown);
    let says = |text: &String| {
        let folded = fold(text);
        let asks = ["which", "command -v", "type -p"].iter().any(|ask| folded.contains(ask));
        folded.contains(NAME) && (asks || text.contains("PATH"))
    };
    let is_text = |text: &String| text.contains([' ', '(']);
    opaque && part.words.iter().skip(1).filter_map(Pattern::text).filter(is_text).any(|text| says(&text))
}

/// Whether a path in a folder that is not known has a last name that is a pattern of the program's name.
fn is_pattern_of_name(path: &Pattern) -> bool {
    let unknown = path.0.iter().any(|piece| matches!(piece, Piece::Any | Piece::Tree));
    let name = last_name(path);
    let starts = match name.0.split_first() {
        Some((Piece::Text(start), rest)) if !rest.is_empty() => start.clone(),
        _ => return false,
    };
    unknown && starts.len() >= FEWEST_LETTERS && NAME.starts_with(&fold(&starts))
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

/// Whether a folder has a package with a program of this name.
fn has_program(folder: &Path) -> bool {
    let source = folder.join("src/bin").join(NAME);
    if source.is_dir() || source.with_extension("rs").exists() {
        return true;
    }
    MANIFESTS.iter().filter_map(|name| bounds::read(&folder.join(name), MAX_FILE_BYTES).ok()).any(|text| {
        let plain: String = text.chars().filter(|sign| !sign.is_whitespace() && !"'\"".contains(*sign)).collect();
        let plain = fold(&plain);
        // A key of a table of programs, or the name of the package.
        plain.contains("\\u")
            || [format!("{NAME}="), format!("{NAME}:"), format!("name={NAME}")].iter().any(|says| plain.contains(says))
    })
}
