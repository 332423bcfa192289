//! Paths that a shell line names in part, as `~/.ssh/*`, `$DIR/a.txt` and `*.pem`, and those that it may read because it
//! names them: rules compare what is known of them.

use phasegate_core::analysis::{Access, PathInPart};
use phasegate_rules::Piece as Known;
use phasegate_shell::{Judgement, Part, Pattern, Piece, Touch};

use super::descendants::program;

/// The most paths that are kept.
const MAX_PATHS: usize = 256;
/// Programs of which nothing else tells which words are files that they read.
const MAY_READ: [&str; 42] = [
    "aws",
    "bash",
    "bsdtar",
    "bun",
    "deno",
    "docker",
    "docker-compose",
    "dotenv",
    "flask",
    "git annotate",
    "git archive",
    "git blame",
    "git cat-file",
    "git diff",
    "git difftool",
    "git format-patch",
    "git log",
    "git show",
    "git whatchanged",
    "gpg",
    "gpg2",
    "gsutil",
    "gtar",
    "kubectl",
    "make",
    "node",
    "npx",
    "open",
    "openssl",
    "perl",
    "php",
    "podman",
    "python",
    "python3",
    "ruby",
    "sh",
    "sqlite3",
    "tar",
    "uvicorn",
    "xdg-open",
    "zip",
    "zsh",
];

/// Them, in the order of the line.
pub(super) fn paths(judged: &Judgement) -> Vec<PathInPart> {
    let in_part = judged.touches.iter().filter(|touch| touch.path.text().is_none());
    let may_read = judged.parts.iter().zip(0..).filter(|(part, _)| MAY_READ.contains(&program(part).as_str()));
    let may_read = may_read.flat_map(|(part, number)| named(part, number));
    let mut found: Vec<PathInPart> = Vec::new();
    for path in in_part.map(path).chain(may_read) {
        if found.contains(&path) {
            continue;
        }
        if found.len() == MAX_PATHS {
            // One more stands for all that follow.
            found.push(PathInPart {
                name: vec![Known::Any(())],
                file: vec![Known::Any(())],
                hidden: true,
                command: None,
                ..path
            });
            break;
        }
        found.push(path);
    }
    found
}

/// The words of a command that may name files which it reads: `-in FILE`, `--env-file=FILE`, `@FILE`, `REVISION:FILE`.
fn named(part: &Part, number: u32) -> impl Iterator<Item = PathInPart> {
    part.words.iter().skip(1).filter_map(move |word| {
        let text = word.text().filter(|text| !text.contains(char::is_whitespace))?;
        let file = text.rsplit(['=', ':', '@']).next().filter(|file| !file.is_empty())?;
        let name = Pattern(vec![Piece::Text(file.to_owned())]);
        Some(path(&Touch { path: name, access: Access::Read, part: Some(number) }))
    })
}

fn path(touch: &Touch) -> PathInPart {
    let Pattern(pieces) = &touch.path;
    let (file, hidden) = file(pieces);
    let name = pieces.iter().map(known).collect();
    PathInPart { name, file, hidden, access: touch.access, command: touch.part }
}

/// What the last part of the path is made of, and whether it may begin with a dot.
fn file(pieces: &[Piece]) -> (Vec<Known>, bool) {
    let (mut file, mut hidden): (Vec<Known>, bool) = (Vec::new(), true);
    for piece in pieces {
        match piece {
            Piece::Text(text) => match text.rsplit_once('/') {
                Some((_, last)) => {
                    (file, hidden) = (Vec::new(), true);
                    if !last.is_empty() {
                        file.push(Known::Text(last.to_string()));
                    }
                }
                None => file.push(Known::Text(text.clone())),
            },
            Piece::Glob => {
                hidden &= !file.is_empty();
                file.push(Known::Any(()));
            }
            // What it stands for may have slashes in it.
            Piece::Any | Piece::Tree | Piece::Home => (file, hidden) = (vec![Known::Any(())], true),
        }
    }
    if file.is_empty() { (vec![Known::Any(())], true) } else { (file, hidden) }
}

fn known(piece: &Piece) -> Known {
    match piece {
        Piece::Text(text) => Known::Text(text.clone()),
        Piece::Any | Piece::Glob | Piece::Tree | Piece::Home => Known::Any(()),
    }
}

#[cfg(test)]
mod tests {
    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    /// The last parts of the paths of a line.
    fn files(line: &str) -> Vec<String> {
        let judged = judge(line, &Table::shipped(), Trust::default());
        let piece = |piece: &Known| if let Known::Text(text) = piece { text.clone() } else { "*".to_string() };
        let shown = |path: &PathInPart| {
            let file: String = path.file.iter().map(piece).collect();
            if path.hidden { file } else { format!("visible {file}") }
        };
        paths(&judged).iter().map(shown).collect()
    }

    #[test]
    fn the_last_part_is_known_as_far_as_the_line_says_it() {
        for (line, wanted) in [
            ("cat a.rs", &[][..]),
            ("cat ~/.ssh/id_rsa", &["id_rsa"]),
            ("cat $X", &["*"]),
            ("cat $DIR/.env", &[".env"]),
            ("cat src/$X.rs", &["*.rs"]),
            ("cat *.rs", &["visible *.rs"]),
            ("cat .e*", &[".e*"]),
            ("cat src/*", &["visible *"]),
            ("rm build/*.o", &["visible *.o"]),
            ("git show HEAD:a/.env", &["show", ".env"]),
            ("openssl enc -in=a.pem", &["enc", "a.pem"]),
            ("echo .env", &[]),
        ] {
            assert_eq!(files(line), wanted, "{line}");
        }
    }
}
