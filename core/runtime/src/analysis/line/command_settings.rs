//! Changes of what commands obey that otherwise only read (rules 3.3).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::{Access, PathUse, SimpleCommand, Verdict};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Readers, Table, obeying};
use serde_json::Value;

use crate::analysis::new_content::CONTENT;
use crate::analysis::own::guard_files::Place;
use crate::analysis::paths::arguments::{COPIES, blanks_off, each_text, is_one_of, makes_folders};
use crate::analysis::paths::pattern_matches::matched;

/// The longest text of an argument, in bytes, that is looked at as a path.
const LONGEST: usize = 4096;

impl Place<'_> {
    /// By the paths of a file tool.
    pub(in crate::analysis) fn obeyed_by_paths(
        &self,
        paths: &[PathUse],
        input: &Value,
        table: &Table,
    ) -> BTreeSet<Readers> {
        let written = paths.iter().filter(|path| path.access == Access::Write);
        let text = input.get(CONTENT).and_then(Value::as_str);
        written.filter_map(|path| self.obeying(&path.written, text, table)).collect()
    }

    /// For a tool without labels: by every argument that may be a path.
    pub(in crate::analysis) fn obeyed_by_arguments(&self, input: &Value, table: &Table) -> BTreeSet<Readers> {
        let mut found = BTreeSet::new();
        each_text(input, "", &mut |_, text| {
            let text = blanks_off(text);
            if !text.is_empty() && text.len() < LONGEST && !text.contains('\n') {
                found.extend(self.obeying(text, input.get(CONTENT).and_then(Value::as_str), table));
            }
        });
        found
    }

    /// By the paths of a line. Commands that change what others obey are noted as ones that run programs.
    pub(in crate::analysis) fn obeyed_by_line(
        &self,
        judged: &Judgement,
        commands: &mut [SimpleCommand],
        table: &Table,
    ) -> BTreeSet<Readers> {
        let mut found = BTreeSet::new();
        for touch in judged.touches.iter().filter(|touch| touch.access == Access::Write) {
            let number = touch.part.and_then(|part| usize::try_from(part).ok());
            let part = number.and_then(|number| judged.parts.get(number));
            // An empty folder is obeyed by nothing.
            if part.is_some_and(makes_folders) {
                continue;
            }
            let landing = self.landing(&touch.path, part);
            let readers: Vec<Readers> = landing.iter().filter_map(|path| self.obeying(path, None, table)).collect();
            if let Some(command) = number.and_then(|number| commands.get_mut(number)).filter(|_| !readers.is_empty()) {
                command.obeyed |= command.verdict <= Verdict::Write;
                command.verdict = command.verdict.max(Verdict::Execute);
            }
            found.extend(readers);
        }
        found
    }

    /// Where something comes to lie that is written to a path: there, or below it under the name of a source.
    pub(in crate::analysis) fn landing(&self, path: &Pattern, part: Option<&Part>) -> Vec<String> {
        let home = self.protected.home();
        let mut all: Vec<String> = match text(path, home) {
            Some(text) => vec![text],
            None => matched(path, self.base, home).iter().filter_map(|path| Some(path.to_str()?.to_owned())).collect(),
        };
        let words =
            part.filter(|part| is_one_of(part, &COPIES)).map(|part| part.words.iter().skip(1)).into_iter().flatten();
        let words = words.filter_map(Pattern::text).filter(|word| !word.starts_with('-'));
        let sources: Vec<PathBuf> = words.map(PathBuf::from).collect();
        let names = sources.iter().filter_map(|source| source.file_name()?.to_str());
        // What a folder holds lands with it; only repositories are looked for.
        let holds = sources.iter().any(|source| self.base.join(source).join(".git").symlink_metadata().is_ok());
        let names: Vec<&str> = names.chain(holds.then_some(".git")).collect();
        let below: Vec<String> =
            all.iter().flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}"))).collect();
        all.extend(below);
        all
    }

    /// The commands that obey the file.
    fn obeying(&self, written: &str, text: Option<&str>, table: &Table) -> Option<Readers> {
        let home = self.protected.home();
        let written = written.strip_prefix('~').map_or_else(|| written.to_owned(), |below| format!("{home}{below}"));
        let (named, leads) = (self.base.join(&written), self.absolute(&written));
        let known = |path: &Path| {
            let found = obeying(path.to_str()?, home, text);
            let configures = || (path.file_name()? == "config").then(|| path.with_file_name("HEAD"));
            // A folder with a `HEAD` is a repository, whatever it is called.
            let bare = || configures().filter(|head| head.is_file()).map(|_| Readers::Repository);
            found.or_else(bare)
        };
        let other = || if leads == named { None } else { known(&leads) };
        known(&named).or_else(other).or_else(|| self.found_by_name(&leads, table))
    }

    /// Every program, where a known one would be found at this path, or more than one program below it.
    fn found_by_name(&self, path: &Path, table: &Table) -> Option<Readers> {
        let program = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| table.judges(name));
        let folder = path.parent().filter(|_| program);
        let found = |entry: &Path| entry == path || Some(entry) == folder;
        self.protected.any_searched(self.base, found).then_some(Readers::Programs)
    }
}

/// A path that is wholly known.
fn text(path: &Pattern, home: &str) -> Option<String> {
    let known = path.0.iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Home => Some(home),
        Piece::Any | Piece::Glob | Piece::Tree => None,
    });
    known.collect()
}
