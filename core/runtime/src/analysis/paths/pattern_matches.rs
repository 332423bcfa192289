//! File name patterns, matched against what exists.

use std::path::{Path, PathBuf};

use phasegate_shell::{Pattern, Piece};

use crate::protected::pattern::stands_for;

/// The most names that patterns of a call are matched against.
const MAX_NAMES: usize = 4096;
/// The paths that exist and that the pattern stands for, seen from the folder `base`; none if it is no pattern of names
/// alone.
pub(in crate::analysis) fn matched(pattern: &Pattern, base: &Path, home: &str) -> Vec<PathBuf> {
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
