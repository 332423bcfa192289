//! Links that a line makes, and copies that keep links: what a line writes through one it writes where the link leads.

use std::fs::{read_dir, read_link};
use std::path::{Component, Path, PathBuf};

use phasegate_core::analysis::{Access, Word};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Touch};

use super::matched::matched;
use super::word_paths::{folders, is_option};

/// The most entries of the folders that are copied that are looked at for links.
const MAX_ENTRIES: usize = 4096;
/// Programs that copy, with the letters and the names of the options with which they keep links.
const COPIERS: [(&[&str], &str, &[&str]); 3] = [
    (&["cp", "gcp", "ditto"], "PadRr", &["archive", "no-dereference", "recursive", "preserve"]),
    (&["rsync"], "al", &["archive", "links"]),
    // What is moved stays what it is.
    (&["mv"], "", &[""]),
];
/// The option of `rsync` that names a folder of whose files it makes second names.
const LINKED_TO: &str = "--link-dest";

/// The program that makes links, the letter and the names of its options that make them symbolic.
const LINKER: (&str, char, [&str; 2]) = ("ln", 's', ["symbolic", "relative"]);

/// A name that is a link once the line has run a part of itself.
struct Link {
    part: u32,
    /// Its path, absolute.
    name: String,
    /// What the link says; `None`: anything.
    says: Option<PathBuf>,
}

/// Adds to what a line touches the paths where the links lead that it copies.
pub(super) fn follow(judged: &mut Judgement, base: &Path) {
    let mut made: Vec<Link> = Vec::new();
    for (number, part) in (0_u32..).zip(&judged.parts) {
        if makes_links(part) {
            let written = judged.touches.iter().filter(|touch| touch.part == Some(number));
            let written = written.filter(|touch| touch.access == Access::Write).filter_map(|touch| touch.path.text());
            for name in written.chain(in_own_folder(part)) {
                let links = said(part, &whole(base, &name)).into_iter();
                made.extend(links.map(|(name, says)| Link { part: number, name, says }));
            }
        }
        if keeps_links(part) {
            let of = |access: fn(Access) -> bool| {
                judged.touches.iter().filter(move |touch| touch.part == Some(number) && access(touch.access))
            };
            for target in of(|access| access == Access::Write).filter_map(|touch| touch.path.text()) {
                for source in of(|access| access != Access::Write) {
                    let links = copied(&made, &source.path, &target, base);
                    made.extend(links.into_iter().map(|(name, says)| Link { part: number, name, says }));
                }
                if let Some(says) = second_names(part) {
                    let says = says.map(|says| base.join(&target).join(says));
                    made.push(Link { part: number, name: whole(base, &target), says });
                }
            }
        }
    }
    let through = |touch: &Touch| made.iter().filter_map(|link| link.through(touch, base)).collect::<Vec<_>>();
    let further: Vec<Touch> = judged.touches.iter().flat_map(through).collect();
    judged.touches.extend(further);
}

impl Link {
    /// What a change at or below the name changes.
    fn through(&self, touch: &Touch, base: &Path) -> Option<Touch> {
        let changes = matches!(touch.access, Access::Write | Access::Remove);
        if !changes || touch.part == Some(self.part) {
            return None;
        }
        let (first, rest) = touch.path.0.split_first()?;
        let Piece::Text(text) = first else { return None };
        // The last name may go on with what is not known: `d/.` in `d/.p*`.
        let (folder, last) = text.rsplit_once('/').map_or(("", text.as_str()), |(folder, last)| (folder, last));
        let text = match (rest.is_empty(), text.starts_with('/') && folder.is_empty()) {
            (true, _) => whole(base, text),
            (false, true) => text.clone(),
            (false, false) => format!("{}/{last}", whole(base, folder)),
        };
        // Behind a slash it is the folder that the link leads to.
        let through = rest.is_empty() && first_text_ends_in_slash(touch);
        let anything = || Touch { path: Pattern(vec![Piece::Any]), ..touch.clone() };
        let Some(below) = text.strip_prefix(&self.name) else {
            // A pattern of names may stand for the link's.
            let may = !rest.is_empty() && self.name.starts_with(&text);
            return may.then(anything);
        };
        if below.is_empty() && !rest.is_empty() {
            return Some(anything());
        }
        // Who removes a link removes nothing of what it leads to.
        let meant = if below.is_empty() { through || touch.access == Access::Write } else { below.starts_with('/') };
        if !meant {
            return None;
        }
        let Some(leads) = self.leads() else { return Some(anything()) };
        let mut path = vec![Piece::Text(format!("{leads}{below}"))];
        path.extend(rest.iter().cloned());
        Some(Touch { path: Pattern(path), ..touch.clone() })
    }

    /// Where the link leads.
    fn leads(&self) -> Option<String> {
        let says = self.says.as_ref()?;
        Path::new(&self.name).parent()?.join(says).to_str().map(str::to_owned)
    }
}

fn first_text_ends_in_slash(touch: &Touch) -> bool {
    matches!(touch.path.0.first(), Some(Piece::Text(text)) if text.ends_with('/'))
}

/// The links that come to lie at a target or below, each with what it says.
fn copied(made: &[Link], source: &Pattern, target: &str, base: &Path) -> Vec<(String, Option<PathBuf>)> {
    let target = whole(base, target);
    let sources: Vec<PathBuf> = match source.text() {
        Some(text) => vec![PathBuf::from(whole(base, &text))],
        None if source.0.contains(&Piece::Glob) => matched(source, base, ""),
        None => return vec![(target, None)],
    };
    let mut found = Vec::new();
    for source in sources {
        let own = source.file_name().map(|own| format!("{target}/{}", own.to_string_lossy()));
        // Into a folder that is there it comes under its own name, else as the target.
        let mut names = own.into_iter().collect::<Vec<_>>();
        if !Path::new(&target).is_dir() || source.is_dir() {
            names.push(target.clone());
        }
        let again = made.iter().find(|link| Path::new(&link.name) == source).map(|link| link.says.clone());
        let links = match again.or_else(|| link(&source, base).map(Some)) {
            Some(says) => vec![(PathBuf::new(), says)],
            None => below(&source, base),
        };
        for (rest, says) in links {
            let name = |name: &String| Path::new(name).join(&rest).to_string_lossy().trim_end_matches('/').to_owned();
            found.extend(names.iter().map(|at| (name(at), says.clone())));
        }
    }
    found
}

/// A path as an absolute one, without `.` and `..`, by its words alone.
fn whole(base: &Path, text: &str) -> String {
    let mut whole = PathBuf::new();
    for name in base.join(text).components() {
        match name {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            name => whole.push(name),
        }
    }
    whole.to_string_lossy().into_owned()
}

/// What a link says. Those of a process are of the one that the line runs in.
fn link(path: &Path, base: &Path) -> Option<PathBuf> {
    let text = path.to_str()?;
    if text.starts_with("/proc/") {
        return match path.file_name()?.to_str()? {
            "cwd" => Some(base.to_path_buf()),
            "root" => Some(PathBuf::from("/")),
            _ => None,
        };
    }
    read_link(path).ok()
}

/// The links below a folder, by their paths from there.
fn below(folder: &Path, base: &Path) -> Vec<(PathBuf, Option<PathBuf>)> {
    let (mut found, mut left, mut open) = (Vec::new(), MAX_ENTRIES, vec![folder.to_path_buf()]);
    while let Some(next) = open.pop() {
        for entry in read_dir(&next).into_iter().flatten().flatten().take(left) {
            left = left.saturating_sub(1);
            let path = entry.path();
            let is = |kind: fn(&std::fs::FileType) -> bool| entry.file_type().is_ok_and(|of| kind(&of));
            if is(std::fs::FileType::is_symlink) {
                let rest = path.strip_prefix(folder).map(Path::to_path_buf);
                found.extend(rest.ok().zip(link(&path, base)).map(|(rest, says)| (rest, Some(says))));
            } else if is(std::fs::FileType::is_dir) {
                open.push(path);
            }
        }
    }
    found
}

/// Whether a part makes symbolic links.
fn makes_links(part: &Part) -> bool {
    let (program, letter, names) = LINKER;
    let Some(Word::Known(own)) = part.command.words.first() else { return false };
    let symbolic = |word: &Word| match word {
        Word::Unknown | Word::Value => true,
        Word::Known(word) => match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => !long.is_empty() && names.iter().any(|name| name.starts_with(long)),
            (None, Some(short)) => short.contains(letter),
            (None, None) => false,
        },
    };
    own.rsplit('/').next() == Some(program) && part.command.words.iter().skip(1).any(symbolic)
}

/// The operands of a part.
fn operands(part: &Part) -> impl Iterator<Item = &Pattern> {
    part.words.iter().skip(1).filter(|word| !is_option(word))
}

/// The operands that a part makes links to: all of several but the last, where no option names the folder.
fn led_to(part: &Part) -> Vec<&Pattern> {
    let mut all: Vec<&Pattern> = operands(part).collect();
    let folder = |word: &Pattern| word.text().is_some_and(|word| word.starts_with("-t") || word.starts_with("--t"));
    if all.len() > 1 && !part.words.iter().skip(1).any(folder) {
        all.pop();
    }
    all
}

/// The name of a link that is made where its part runs, under the last name of what it leads to.
fn in_own_folder(part: &Part) -> Vec<String> {
    let mut all = operands(part);
    let (Some(only), None) = (all.next().and_then(Pattern::text), all.next()) else { return Vec::new() };
    let own = only.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    folders(part).iter().filter_map(Pattern::text).map(|folder| format!("{folder}{own}")).collect()
}

/// The links that a part makes at a path, or in the folder there, each with what it says.
fn said(part: &Part, at: &str) -> Vec<(String, Option<PathBuf>)> {
    let mut links = Vec::new();
    for says in led_to(part).into_iter().map(|word| word.text().map(PathBuf::from)) {
        let own = says.as_deref().and_then(Path::file_name).map(|own| format!("{at}/{}", own.to_string_lossy()));
        let names = [Some(at.to_owned()), own].into_iter().flatten();
        // What a link leads to counts as written, too, and is none.
        let is_itself = |name: &String, says: &Path| {
            Path::new(name).parent().is_some_and(|folder| folder.join(says) == Path::new(name))
        };
        let names = names.filter(|name| says.as_deref().is_none_or(|says| !is_itself(name, says)));
        links.extend(names.map(|name| (name, says.clone())));
    }
    links
}

/// Whether a part copies links as links.
fn keeps_links(part: &Part) -> bool {
    let Some(Word::Known(program)) = part.command.words.first() else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    let Some((_, letters, names)) = COPIERS.iter().find(|(programs, ..)| programs.contains(&name)) else {
        return false;
    };
    let keeps = |word: &Word| match word {
        Word::Unknown | Word::Value => true,
        Word::Known(word) => match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => {
                let long = long.split('=').next().unwrap_or_default();
                long == "link-dest" || (!long.is_empty() && names.iter().any(|name| name.starts_with(long)))
            }
            (None, Some(short)) => short.contains(|letter| letters.contains(letter)),
            (None, None) => false,
        },
    };
    letters.is_empty() || part.command.words.iter().skip(1).any(keeps)
}

/// The folder of whose files a part makes second names, as far as that is known.
fn second_names(part: &Part) -> Option<Option<PathBuf>> {
    let mut words = part.words.iter();
    while let Some(word) = words.next() {
        let Some(Piece::Text(start)) = word.0.first() else { continue };
        if start == LINKED_TO && word.0.len() == 1 {
            return Some(words.next().and_then(Pattern::text).map(PathBuf::from));
        }
        if let Some(folder) = start.strip_prefix(LINKED_TO).and_then(|rest| rest.strip_prefix('=')) {
            return Some(word.text().map(|_| PathBuf::from(folder)));
        }
    }
    None
}

#[cfg(all(test, unix))]
mod tests {
    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    /// The changed paths that following links adds to a line.
    fn further(line: &str, base: &Path) -> Vec<String> {
        let mut judged = judge(line, &Table::shipped(), Trust::default());
        let before = judged.touches.len();
        follow(&mut judged, base);
        judged.touches.split_off(before).iter().map(|touch| touch.path.text().unwrap_or("?".to_owned())).collect()
    }

    #[test]
    fn what_is_written_through_a_copied_link_is_written_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        for name in ["src", "tests", "tree/sub", "docs"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("src/a.py", base.join("lnk")).unwrap();
        std::os::unix::fs::symlink("../../src", base.join("tree/sub/s")).unwrap();
        let rows = [
            ("cp -P lnk d.md; echo E > d.md", "src/a.py"),
            ("cp -a lnk docs; echo E > docs/lnk", "docs/src/a.py"),
            ("cp -P lnk x && cp -P x y && echo E > y", "src/a.py"),
            ("cp -P lnk x && mv x y && echo E > ./y", "src/a.py"),
            ("cp -P /proc/self/cwd tests/d; echo E > tests/d/src/a.py", "src/a.py"),
            ("cp -P /proc/self/cwd d; cd d/src && echo E > a.py", "src/a.py"),
            ("cp -r tree docs/t; echo E > docs/t/sub/s/a.py", "docs/t/sub/../../src/a.py"),
            ("rsync -l lnk d.md; cp x d.md", "src/a.py"),
            ("cp -P /proc/self/cwd d; rm -r d/.??*", "?"),
            ("rsync -a --link-dest=/p tree/ h/; echo E > h/sub/a", "/p/sub/a"),
            ("cp -P $x d; echo E > d/a", "?"),
            ("cp -P lnk d; echo E > d*/a", "?"),
            ("ln -s src q; echo E > q/a.py", "src/a.py"),
            ("mkdir m && ln -s ../src m/q && echo E > m/q/a.py", "m/../src/a.py"),
            ("ln -sfn src q && cd q && rm a.py", "src/a.py"),
            ("cd docs && ln -s ../src/b && echo E > b/a.py", "docs/../src/b/a.py"),
            ("ln -s \"$X\" q && echo E > q/a.py", "?"),
            ("ln -s src q && rm -r q/", "src"),
            ("ln -s docs/src tree/docs/src; echo E > tree/docs/src/a.py", "tree/docs/docs/src/a.py"),
        ];
        for (line, path) in rows {
            let path = if path == "?" { path.to_owned() } else { base.join(path).to_str().unwrap().to_owned() };
            let mut found = further(line, base);
            found.dedup();
            assert_eq!(found, [path], "{line}");
        }
    }

    #[test]
    fn copies_without_links_add_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        for name in ["src", "tree/sub", "docs"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("src/a.py", base.join("lnk")).unwrap();
        for line in [
            "cp -r src build && sed -i s/a/b/ build/a.py",
            "cp -a tree docs && rm -rf docs/tree",
            "cp lnk docs/a.md; echo E >> docs/a.md",
            "cp -P lnk x; rm x",
            "cp -P lnk x; echo E > other",
            "mv src/a.py src/b.py && echo E > src/b.py",
            "ln -s src q && ls q",
            "ln -s src q && echo E > other && rm q",
        ] {
            assert_eq!(further(line, base), Vec::<String>::new(), "{line}");
        }
    }
}
