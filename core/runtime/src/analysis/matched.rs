//! File name patterns, matched against what exists.

use std::path::{Path, PathBuf};

use phasegate_shell::{Pattern, Piece};

use crate::protected::pattern::stands_for;

/// The most names that patterns of a call are matched against.
const MAX_NAMES: usize = 4096;
/// The most entries of folders that a search looks at.
const MAX_SEARCHED: usize = 16_384;
/// The most paths of a search that are kept.
const MAX_FOUND: usize = 64;
/// The folder of a repository's own data, which is not searched.
const REPOSITORY: &str = ".git";

/// The paths that exist and that the pattern stands for, seen from the folder `base`; none if it is no pattern of names
/// alone.
pub(super) fn matched(pattern: &Pattern, base: &Path, home: &str) -> Vec<PathBuf> {
    let plain = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Glob | Piece::Home);
    if !pattern.0.contains(&Piece::Glob) || !pattern.0.iter().all(plain) {
        return Vec::new();
    }
    let names = names(pattern, home);
    let absolute = names.first().is_some_and(|name| name.0.is_empty());
    let mut found = vec![if absolute { PathBuf::from("/") } else { base.to_path_buf() }];
    let mut left = MAX_NAMES;
    for name in names.iter().filter(|name| !name.0.is_empty()) {
        found = match name.text() {
            Some(text) => found.iter().map(|folder| folder.join(&text)).collect(),
            None => found.iter().flat_map(|folder| entries(folder, name, &mut left)).collect(),
        };
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    found
}

/// What a search finds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Searched {
    /// The paths from the folder in which the line starts; of more than are kept, the folders that they are in.
    pub(super) paths: Vec<String>,
    /// Whether these are all, and each is a path that was found.
    pub(super) whole: bool,
}

/// What a search finds that stands for a pattern, from the folder `base`.
pub(super) fn found_below(pattern: &Pattern, base: &Path) -> Searched {
    let start = match pattern.0.first() {
        Some(Piece::Text(text)) => text.as_str(),
        Some(Piece::Tree | Piece::Glob) => "",
        Some(Piece::Any | Piece::Home) | None => return Searched::default(),
    };
    // The folder in which it begins, with its slash.
    let top = match start.rfind('/') {
        _ if !start.is_empty() && base.join(start).is_dir() => format!("{}/", start.trim_end_matches('/')),
        Some(slash) => start.get(..=slash).unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let (mut found, mut left, mut open) = (Vec::new(), MAX_SEARCHED, vec![top]);
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(base.join(&folder)).into_iter().flatten().flatten();
        for entry in entries.take(left) {
            left = left.saturating_sub(1);
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}{name}");
            if name != REPOSITORY && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(format!("{path}/"));
            }
            if pattern.could_be(&path, None) {
                found.push(path);
            }
        }
    }
    let whole = left > 0 && found.len() <= MAX_FOUND;
    if found.len() > MAX_FOUND {
        found = found.iter().filter_map(|path| path.rsplit_once('/')).map(|(folder, _)| folder.to_owned()).collect();
    }
    found.sort();
    found.dedup();
    found.truncate(MAX_FOUND);
    Searched { paths: found, whole }
}

/// The entries of a folder that the pattern of one name stands for.
fn entries(folder: &Path, name: &Pattern, left: &mut usize) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten().take(*left).map(|entry| entry.path());
    let all: Vec<PathBuf> = all.collect();
    *left = left.saturating_sub(all.len());
    let stands = |path: &PathBuf| {
        let own = path.file_name().map(|own| own.to_string_lossy().to_lowercase());
        own.is_some_and(|own| stands_for(name, &own, ""))
    };
    all.into_iter().filter(stands).collect()
}

/// The names of a path, each as a pattern; the first is empty where the path is absolute.
fn names(pattern: &Pattern, home: &str) -> Vec<Pattern> {
    let mut names = vec![Pattern::default()];
    let mut push = |piece: Piece, opens: bool| {
        if opens {
            names.push(Pattern::default());
        }
        if let Some(last) = names.last_mut().filter(|_| piece != Piece::Text(String::new())) {
            last.0.push(piece);
        }
    };
    for piece in &pattern.0 {
        match piece {
            Piece::Text(text) => {
                text.split('/').enumerate().for_each(|(at, part)| push(Piece::Text(part.into()), at > 0))
            }
            Piece::Home => home.split('/').enumerate().for_each(|(at, part)| push(Piece::Text(part.into()), at > 0)),
            other => push(other.clone(), false),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_what_lies_below() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        for path in ["infra/prod/main.tf", "infra/dev/main.tf", "infra/dev/x.tf", ".git/main.tf"] {
            std::fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            std::fs::write(base.join(path), "").unwrap();
        }
        let below = |start: &str| {
            let pieces = [Piece::Text(start.into()), Piece::Tree, Piece::Text("/main.tf".into())];
            let pieces = pieces.into_iter().filter(|piece| *piece != Piece::Text(String::new()));
            let found = found_below(&Pattern(pieces.collect()), base);
            assert_eq!(found.whole, found.paths.len() < MAX_FOUND);
            found.paths
        };
        assert_eq!(below("infra/"), ["infra/dev/main.tf", "infra/prod/main.tf"]);
        assert_eq!(below("infra/d"), ["infra/dev/main.tf"]);
        assert_eq!(below(""), ["infra/dev/main.tf", "infra/prod/main.tf"]);
        assert_eq!(below("none/"), Vec::<String>::new());
        for number in 0..70 {
            std::fs::create_dir_all(base.join(format!("many/{number}"))).unwrap();
            std::fs::write(base.join(format!("many/{number}/main.tf")), "").unwrap();
        }
        assert_eq!(below("many/").len(), MAX_FOUND);
        assert_eq!(below("many/").first().map(String::as_str), Some("many/0"));
    }

    #[test]
    fn a_pattern_of_names_finds_what_exists() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for path in [".conf/deep/a.yaml", "conf/b.yaml", "c.txt"] {
            std::fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            std::fs::write(base.join(path), "").unwrap();
        }
        let glob = |pieces: &[&str]| {
            let piece = |text: &&str| if *text == "*" { Piece::Glob } else { Piece::Text((*text).into()) };
            matched(&Pattern(pieces.iter().map(piece).collect()), &base, "/h")
        };
        assert_eq!(glob(&[".c", "*", "/deep/", "*", ".yaml"]), [base.join(".conf/deep/a.yaml")]);
        assert_eq!(glob(&["*", "/b.yaml"]), [base.join("conf/b.yaml")]);
        assert_eq!(glob(&["c", "*", "/none"]), Vec::<PathBuf>::new());
        assert_eq!(glob(&["c.txt"]), Vec::<PathBuf>::new());
    }
}
