//! What a line changes below the folders that it names: `rm -r src`, `cp a.py src`, `sed -i s/a/b/ src/*.py`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use phasegate_core::calls::analysis::{Access, PathUse, SimpleCommand, UNKNOWN, Word};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Touch};

use super::pattern_matches::matched;
use crate::facts::is_ignored;

/// Programs that put their other operands into their last one where that is a folder, and whether they take folders whole.
const PLACERS: [(&str, Whole); 10] = [
    ("cp", Whole::With("rRa")),
    ("gcp", Whole::With("rRa")),
    ("ditto", Whole::Always),
    ("install", Whole::Never),
    ("ln", Whole::Always),
    ("link", Whole::Always),
    ("mv", Whole::Always),
    ("git mv", Whole::Always),
    ("rsync", Whole::Always),
    ("scp", Whole::With("r")),
];
/// Programs that change a folder that they name, and nothing in it.
const ITSELF: [&str; 9] = ["chmod", "chown", "chgrp", "touch", "setfacl", "chattr", "setcap", "chcon", "mkdir"];
/// How the names of interpreters begin: what they are given names folders, and says not what becomes of them.
const INTERPRETERS: [&str; 8] = ["python", "pypy", "node", "perl", "ruby", "php", "deno", "lua"];
/// Programs that fill the folder that they name, or make it, whatever it is called.
const UNPACKERS: [&str; 7] = ["bsdtar", "cpio", "git clone", "git worktree", "gtar", "tar", "unzip"];
/// Modules of Python that do so with the option `-e`.
const UNPACKING_MODULES: [&str; 2] = ["zipfile", "-mzipfile"];
/// Programs that change what they name: a file, or all that is in a folder, also one that they make.
const FILLERS: [&str; 2] = ["git checkout", "git restore"];
/// Formatters, and how the names end of the files that they change in a folder.
const FORMATTERS: [(&str, &[&str]); 10] = [
    ("autopep8", &[".py"]),
    ("black", &[".py", ".pyi", ".ipynb"]),
    ("cargo fmt", &[".rs"]),
    ("go fmt", &[".go"]),
    ("gofmt", &[".go"]),
    ("goimports", &[".go"]),
    ("isort", &[".py", ".pyi"]),
    ("ruff", &[".py", ".pyi", ".ipynb"]),
    ("rustfmt", &[".rs"]),
    ("terraform fmt", &[".tf", ".tfvars", ".hcl"]),
];
/// The most entries of a folder that are looked at before it may hold anything.
const MAX_ENTRIES: usize = 4096;
/// The most ends of names that are kept of a folder.
const MAX_ENDS: usize = 32;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 32;
/// The most paths that are named in place of a folder or of a pattern; beyond, the ends of their names are.
const MAX_PATHS: usize = 64;

/// Whether a program takes a folder with what is in it.
#[derive(Clone, Copy)]
enum Whole {
    Always,
    Never,
    /// With one of these letters as an option, or a long option that says so.
    With(&'static str),
}

/// What is known of a line and of the folder in which it runs.
pub(in crate::analysis) struct Line<'a> {
    judged: &'a Judgement,
    base: &'a Path,
    root: &'a Path,
}

impl<'a> Line<'a> {
    pub(in crate::analysis) const fn new(judged: &'a Judgement, base: &'a Path, root: &'a Path) -> Self {
        Self { judged, base, root }
    }

    /// A path that the line changes, with what it changes below; of a program that puts files into a folder, the files.
    pub(in crate::analysis) fn spread(&self, touch: &Touch, path: PathUse) -> Vec<PathUse> {
        let part = touch.part.and_then(|number| self.judged.parts.get(usize::try_from(number).ok()?));
        let changes = matches!(touch.access, Access::Write | Access::Remove);
        let (Some(part), true, false) = (part, changes, path.folder) else { return vec![path] };
        let name = program(part);
        let Some(written) = touch.path.text() else { return self.selected(touch, &name, path) };
        let names = Word::Known(written.clone());
        if part.command.redirections.iter().any(|(_, word)| *word == names) {
            return vec![path];
        }
        if touch.access == Access::Write
            && let Some((_, whole)) = PLACERS.iter().find(|(placer, _)| *placer == name)
        {
            return self.placed(part, touch, *whole, &path);
        }
        let fills = || FILLERS.contains(&name.as_str()) && self.may_become(&written);
        if UNPACKERS.contains(&name.as_str()) || unpacks_by_module(part) || fills() {
            vec![PathUse { below: anything(), ..path }]
        } else if let Some(endings) = endings(part).filter(|_| self.is_folder(&written)) {
            vec![PathUse { below: endings, ..path }]
        } else {
            self.changed(&name, path)
        }
    }

    /// What a formatter changes that names no file: all in the project whose names have its endings.
    pub(in crate::analysis) fn formatted(&self, part: &Part) -> Option<PathUse> {
        let root = self.root.to_str()?.to_owned();
        Some(PathUse { below: endings(part)?, ..PathUse::new(root, Access::Write) })
    }

    /// A path that is named, with what is changed below it.
    fn changed(&self, name: &str, path: PathUse) -> Vec<PathUse> {
        let removed = path.access == Access::Remove;
        // A link is removed, and not what it leads to.
        let whole = !removed || path.written.ends_with('/') || !is_link(&self.base.join(&path.written));
        let folder = whole && self.is_folder(&path.written) && !self.is_root(&path.written);
        let itself = ITSELF.contains(&name) || INTERPRETERS.iter().any(|start| name.starts_with(start));
        if !folder || (!removed && itself) || (removed && self.is_ignored(&path.written)) {
            return vec![path];
        }
        if removed {
            self.held(&path.written, &path.written, &path)
        } else {
            vec![PathUse { below: anything(), ..path }]
        }
    }

    /// What a pattern of names stands for; where nothing is known of that, the folder that it is in.
    fn selected(&self, touch: &Touch, name: &str, folder: PathUse) -> Vec<PathUse> {
        let found = matched(&touch.path, self.base, "");
        if touch.path.0.contains(&Piece::Tree) {
            return vec![PathUse { below: self.ends(&touch.path), ..folder }];
        }
        if found.is_empty() || found.len() > MAX_PATHS || PLACERS.iter().any(|(placer, _)| *placer == name) {
            let below = if folder.written == UNKNOWN { Vec::new() } else { self.ends(&touch.path) };
            return vec![PathUse { below, ..folder }];
        }
        let named =
            found.iter().map(|path| path.strip_prefix(self.base).unwrap_or(path).to_string_lossy().into_owned());
        named.flat_map(|written| self.changed(name, PathUse { written, ..folder.clone() })).collect()
    }

    /// The paths at which the sources come to lie, where the target is a folder or may become one.
    fn placed(&self, part: &Part, target: &Touch, whole: Whole, path: &PathUse) -> Vec<PathUse> {
        let folder = self.is_folder(&path.written) || path.written.ends_with('/');
        let whole = match whole {
            Whole::Always => true,
            Whole::Never => false,
            Whole::With(letters) => has_option(part, letters),
        };
        let sources = self.judged.touches.iter().filter(|touch| touch.part == target.part && *touch != target);
        // What a folder is copied to is one, whatever its name.
        let takes_folder =
            || whole && sources.clone().filter_map(|source| source.path.text()).any(|from| self.is_taken_whole(&from));
        if !folder && !takes_folder() && !self.may_become(&path.written) {
            return vec![path.clone()];
        }
        let mut found = if folder { Vec::new() } else { vec![path.clone()] };
        let mut ends = BTreeSet::new();
        for source in sources {
            let Some(text) = source.path.text() else {
                ends.extend(self.ends(&source.path));
                continue;
            };
            let name = text.rsplit('/').next().unwrap_or_default();
            let below = format!("{}/{name}", path.written.trim_end_matches('/'));
            if whole && self.is_taken_whole(&text) {
                // Its content comes to lie there, or it does.
                found.extend([path.written.as_str(), &below].iter().flat_map(|to| self.moved(&text, to, path)));
                continue;
            }
            found.push(PathUse { written: below, ..path.clone() });
            // With the folders in its name: `cp --parents`, `rsync -R`.
            ends.extend(keeps_folders(part).then(|| format!("/{name}")));
        }
        if !ends.is_empty() {
            found.push(PathUse { below: ends.into_iter().collect(), ..path.clone() });
        }
        found
    }

    /// What a folder becomes in another place.
    fn moved(&self, from: &str, to: &str, path: &PathUse) -> Vec<PathUse> {
        let to = PathUse { written: to.to_owned(), ..path.clone() };
        if self.is_folder(from) {
            let held = self.held(from, &to.written, &to);
            return held.into_iter().filter(|held| held.written != to.written || !held.below.is_empty()).collect();
        }
        vec![PathUse { below: anything(), ..to }]
    }

    /// A path with those of all that a folder holds, as if they lay below it; of too many, the ends of their names.
    fn held(&self, folder: &str, to: &str, path: &PathUse) -> Vec<PathUse> {
        let mut names = Vec::new();
        if !collect(&self.base.join(folder), "", &mut names) {
            return vec![PathUse { below: anything(), ..path.clone() }];
        }
        if names.len() <= MAX_PATHS {
            let at =
                |name: &String| PathUse { written: format!("{}/{name}", to.trim_end_matches('/')), ..path.clone() };
            return [path.clone()].into_iter().chain(names.iter().map(at)).collect();
        }
        let ends: BTreeSet<&str> = names.iter().map(|name| end(name)).collect();
        let few = ends.len() <= MAX_ENDS;
        let below = if few { ends.into_iter().map(str::to_owned).collect() } else { anything() };
        vec![PathUse { below, ..path.clone() }]
    }

    /// How the names end that a path known in part stands for; any end where they may be folders.
    fn ends(&self, path: &Pattern) -> Vec<String> {
        let end = match path.0.last() {
            Some(Piece::Text(text)) => text.rsplit('/').next().unwrap_or_default(),
            _ => "",
        };
        let any_folder = || matched(path, self.base, "").iter().any(|found| found.is_dir());
        let known = end.contains('.') && end.len() > 1 && !end.ends_with('.') && !any_folder();
        vec![if known { end.to_owned() } else { String::new() }]
    }

    /// Whether nothing is there.
    pub(in crate::analysis) fn is_absent(&self, path: &str) -> bool {
        self.base.join(path).symlink_metadata().is_err()
    }

    fn is_folder(&self, path: &str) -> bool {
        fs::metadata(self.base.join(path)).is_ok_and(|data| data.is_dir())
    }

    /// Whether a path is the project's root, or around it: then the line may change everything.
    fn is_root(&self, path: &str) -> bool {
        self.base.join(path).canonicalize().is_ok_and(|path| self.root.starts_with(path))
    }

    /// Whether the repository ignores a path, so that what lies there is of no account.
    fn is_ignored(&self, path: &str) -> bool {
        is_ignored(self.root, &self.base.join(path))
    }

    /// Whether what a program takes is a folder, or named as only folders are.
    fn is_taken_whole(&self, path: &str) -> bool {
        self.is_folder(path) || matches!(path.rsplit('/').next().unwrap_or_default(), "" | "." | "..")
    }

    /// Whether a path that is no folder yet may be one when the program runs: nothing is there, and it has no end that files have.
    fn may_become(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        matches!(name, "" | "." | "..") || (self.is_absent(path) && !name.contains('.'))
    }
}

/// How the names end of the files that a formatter changes.
fn endings(part: &Part) -> Option<Vec<String>> {
    let mut words = part.words.iter().filter_map(Pattern::text);
    let program = words.next()?;
    let name = program.rsplit('/').next()?;
    let with = words.find(|word| !word.starts_with(['-', '+'])).map(|word| format!("{name} {word}"));
    let (_, endings) = FORMATTERS.iter().find(|(known, _)| *known == name || Some(*known) == with.as_deref())?;
    Some(endings.iter().map(|ending| (*ending).to_owned()).collect())
}

fn anything() -> Vec<String> {
    vec![String::new()]
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_symlink())
}

/// How the name of a file ends.
fn end(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rfind('.').filter(|at| *at > 0).and_then(|at| name.get(at..)).unwrap_or(name)
}

/// Adds the paths of all files in a folder; `false` if there are too many, or a folder cannot be read.
fn collect(folder: &Path, at: &str, names: &mut Vec<String>) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    for entry in entries {
        let (Ok(entry), true) = (entry, names.len() < MAX_ENTRIES) else { return false };
        let name = format!("{at}{}", entry.file_name().to_string_lossy());
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.push(name);
        } else if at.split('/').count() > MAX_DEPTH || !collect(&entry.path(), &format!("{name}/"), names) {
            return false;
        }
    }
    true
}

/// The name of the program of a part, with the command of git.
pub(in crate::analysis) fn program(part: &Part) -> String {
    program_of(&part.command)
}

/// The same, of a command.
pub(in crate::analysis) fn program_of(command: &SimpleCommand) -> String {
    let word = |at: usize| match command.words.get(at) {
        Some(Word::Known(word)) => Some(word.as_str()),
        _ => None,
    };
    let name = word(0).and_then(|program| program.rsplit('/').next()).unwrap_or_default();
    let options = usize::try_from(command.global_options).unwrap_or(usize::MAX);
    match word(options.saturating_add(1)).filter(|_| name == "git") {
        Some(command) => format!("git {command}"),
        None => name.to_owned(),
    }
}

fn unpacks_by_module(part: &Part) -> bool {
    let words: Vec<String> = part.words.iter().map(|word| word.text().unwrap_or_default()).collect();
    let is_interpreter = program(part).starts_with("py");
    let unpacks = |word: &String| {
        word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('e'))
    };
    let module = words.iter().position(|word| UNPACKING_MODULES.contains(&word.as_str()));
    let after = module.and_then(|module| words.get(module + 1..)).unwrap_or_default();
    is_interpreter && after.iter().any(|word| unpacks(word) || word.starts_with("--e"))
}

pub(in crate::analysis) fn has_option(part: &Part, letters: &str) -> bool {
    let is = |word: &String| match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => ["--r", "--a"].iter().any(|start| word.starts_with(start)),
        Some(short) => short.contains(|letter| letters.contains(letter)),
        None => false,
    };
    let unknown = |word: &Pattern| word.text().is_none() && !matches!(word.0.first(), Some(Piece::Text(_)));
    part.words.iter().skip(1).any(|word| unknown(word) || word.text().as_ref().is_some_and(is))
}

fn keeps_folders(part: &Part) -> bool {
    let keeps = |word: String| word.starts_with("--par") || word.starts_with("--rel") || is_relative(&word);
    part.words.iter().skip(1).filter_map(Pattern::text).any(keeps)
}

/// `rsync -aR`
fn is_relative(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('R'))
}

#[cfg(test)]
mod tests {
    use phasegate_core::values::glob::Glob;
    use phasegate_shell::{Table, Trust, judge};

    use super::*;
    use crate::analysis::line::paths_of;

    const FILES: [&str; 13] = [
        ".git/HEAD",
        ".gitignore",
        ".state/run.json",
        "a.py",
        "a.txt",
        "docs/use.md",
        "dist/app.js",
        "fresh/new/calc.py",
        "node_modules/x/index.js",
        "node_modules/x/setup.py",
        "notes/old/a.md",
        "src/calc.py",
        "src/sub/deep.py",
    ];

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in FILES {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, if file == ".gitignore" { "node_modules\n" } else { "" }).unwrap();
        }
        std::os::unix::fs::symlink("src", folder.path().join("link")).unwrap();
        folder
    }

    /// Whether a line may change a file that a pattern selects.
    fn may_change(root: &Path, pattern: &str, line: &str) -> bool {
        let judged = judge(line, &Table::shipped(), Trust::default());
        let paths = paths_of(&judged, &Line::new(&judged, root, root));
        let pattern = Glob::from(pattern);
        let hits = |path: &PathUse| {
            let written = path.written.trim_end_matches('/');
            match path.below.as_slice() {
                [] => pattern.fits(written) || matches!(written, "" | "." | "/"),
                ends => pattern.may_select_below(written, ends),
            }
        };
        paths.iter().filter(|path| matches!(path.access, Access::Write | Access::Remove)).any(hits)
    }

    #[test]
    fn what_lies_below_a_folder_is_changed_with_it() {
        let folder = project();
        let root = folder.path().canonicalize().unwrap();
        for line in [
            "cp a.py src",
            "cp -t src a.py",
            "cp a.py src/",
            "cp a.py new",
            "cp fresh/new/*.py src",
            "cp *.py docs",
            "cp $X docs",
            "cp -r fresh/new/. docs/",
            "cp -a fresh/new docs",
            "cp -aT fresh/new docs",
            "cp --parents fresh/new/calc.py docs",
            "install -t src a.py",
            "mv a.py docs",
            "mv fresh/new docs",
            "mv fresh other",
            "mv src old",
            "git mv src old",
            "git mv fresh/new docs/n",
            "rsync -a fresh/new/ docs/",
            "rsync a.py docs/",
            "ln a.py docs",
            "rm -rf src",
            "rm -rf sr*",
            "rm -r src/*",
            "rm src/*.py",
            "rm -rf link/",
            "git rm -rq src",
            "git checkout HEAD -- src",
            "git restore src",
            "git clone /x/y fetched",
            "git clone /x/y fetched.md",
            "unzip a.zip -d new.md",
            "cp -r fresh new.md",
            "sed -i s/a/b/ src/*.py",
            "sed -i s/a/b/ none/*.py",
            "find src -name '*.py' -delete",
            "find fresh -name '*.py' -exec cp {} docs \\;",
            "find src -delete",
            "chmod -R 000 src",
            "black src",
            "black .",
            "docker build -o src .",
            "docker build --output type=local,dest=src .",
            "docker buildx build . -o .",
            "docker buildx build -o notes .",
            "timeout 5 cp a.py src",
            "cd docs && cp ../a.py .",
            "cd docs && cp -r ../fresh/new .",
            "cd docs && cp -r ../fresh/new/. .",
            "cd docs && cp -r ../fresh/n* .",
            "for f in fresh/new/*; do cp $f docs; done",
            "touch notes/x.py; sleep 1; mv notes/old docs; cp -r notes docs",
        ] {
            assert!(may_change(&root, "**/*.py", line), "{line}");
        }
        for line in [
            "cp a.txt notes/",
            "cp a.txt notes",
            "cp a.txt b.txt",
            "cp a.py a.py.bak",
            "cp *.txt notes",
            "cp docs/*.md notes/",
            "cp a.py src && echo",
            "mv notes archive",
            "cp -r templates/basic docs/new",
            "rsync -a notes/ docs/notes/",
            "mv notes/old docs",
            "git mv notes/old docs/older",
            "mkdir src/x",
            "mkdir -p src",
            "touch src",
            "chmod 755 src",
            "rm -rf dist",
            "rm -rf node_modules",
            "rm -rf node_modules/x",
            "rm link",
            "rm *.txt",
            "rm -rf none",
            "ls src",
            "cp -r src /tmp/x",
            "mv a.txt notes/",
            "sed -i s/a/b/ docs/*.md",
            "gofmt -w .",
            "docker build -t app .",
            "ls src > notes/list",
            "python3 -c \"import sys; sys.path.insert(0, './src')\"",
            "cp a.py /tmp/x",
        ] {
            let code = if line.starts_with("cp a.py src &&") { "docs/**" } else { "**/*.py" };
            assert!(!may_change(&root, code, line), "{line}");
        }
    }
}
