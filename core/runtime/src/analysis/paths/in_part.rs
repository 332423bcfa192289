//! Paths that a shell line names in part, as `~/.ssh/*`, `$DIR/a.txt` and `*.pem`, and those that it may read because it
//! names them: rules compare what is known of them.

use std::path::Path;

use phasegate_core::calls::analysis::{Access, PathInPart, Verdict};
use phasegate_core::is_secret_path;
use phasegate_rules::Piece as Known;
use phasegate_shell::{Judgement, Part, Pattern, Piece, Touch, is_subscript};

use super::descendants::program;
use super::pattern_matches::matched;
use super::word_paths::last_name;

/// The most paths that are kept.
const MAX_PATHS: usize = 256;
/// The most files with secrets that patterns find that are kept.
const MAX_SECRETS: usize = 16;
/// Programs of which nothing else tells which words are files that they read.
const MAY_READ: [&str; 53] = [
    "aws",
    "bash",
    "bsdtar",
    "bun",
    "c++",
    "cc",
    "clang",
    "clang++",
    "cpp",
    "deno",
    "docker",
    "docker-compose",
    "dotenv",
    "flask",
    "g++",
    "gcc",
    "git annotate",
    "git archive",
    "git blame",
    "git cat-file",
    "git commit",
    "git config",
    "git diff",
    "git difftool",
    "git format-patch",
    "git hash-object",
    "git log",
    "git rev-parse",
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

/// Commands of git that show history.
const HISTORIES: [&str; 6] = ["git diff", "git format-patch", "git log", "git shortlog", "git show", "git whatchanged"];
/// Their options with a text that is looked for.
const SEARCHES: [&str; 5] = ["-S", "-G", "--grep", "--author", "--committer"];
/// What options are called whose values are left out: `--exclude=.env`.
const LEAVING: [&str; 2] = ["exclude", "ignore"];
/// Variables that name a file which a shell reads when it starts.
const STARTED_BY: [&str; 2] = ["BASH_ENV", "ENV"];
/// How code runs a text as a line.
const STARTS: [&str; 8] = ["system", "popen", "exec", "spawn", "subprocess", "`", "qx", "Command"];
/// Programs that search folders for files whose names have a pattern.
const SEARCHERS: [&str; 8] = ["ag", "egrep", "fgrep", "ggrep", "grep", "rg", "rgrep", "zgrep"];
/// The options by which they are given the pattern.
const PATTERNS: [&str; 4] = ["--include", "--glob", "--iglob", "-g"];

/// Them, in the order of the line, and the files with secrets that its patterns find from the folder in which it starts.
pub(in crate::analysis) fn paths(judged: &Judgement, base: &Path) -> Vec<PathInPart> {
    let in_part = |touch: &&Touch| touch.path.text().is_none() && !touch.guess;
    let mut found = of_touches(judged, judged.touches.iter().filter(in_part));
    found.extend(found_secrets(judged, base));
    found
}

/// All paths of a line, also those that it names in full.
pub(in crate::analysis) fn all(judged: &Judgement) -> Vec<PathInPart> {
    of_touches(judged, judged.touches.iter())
}

/// The words of a line as paths that may be read and written, where nothing says what runs it.
pub(in crate::analysis) fn words(judged: &Judgement) -> Vec<PathInPart> {
    let named = |word: &Pattern| match word.text() {
        Some(text) => Some(shape(text.rsplit(['=', ':', '@']).next()?)),
        None => Some(word.clone()),
    };
    let all = (0..).zip(&judged.parts).flat_map(|(number, part)| {
        let words = part.words.iter().skip(1).filter_map(named).filter(|word| !word.0.is_empty());
        words.flat_map(move |word| {
            let touch = move |access| Touch { path: word.clone(), access, part: Some(number), guess: false };
            [Access::Read, Access::Write].map(touch)
        })
    });
    all.flat_map(|touch| path(&touch)).take(MAX_PATHS).collect()
}

fn of_touches<'t>(judged: &'t Judgement, touches: impl Iterator<Item = &'t Touch>) -> Vec<PathInPart> {
    let in_part =
        touches.flat_map(|touch| path(touch).into_iter().map(|path| PathInPart { flat: is_flat(touch), ..path }));
    let may_read = judged.parts.iter().zip(0..).flat_map(|(part, number)| named(part, number));
    let mut found: Vec<PathInPart> = Vec::new();
    for path in in_part.chain(may_read).chain(made(judged)) {
        if found.contains(&path) {
            continue;
        }
        if found.len() == MAX_PATHS {
            // One more stands for all that follow.
            found.push(PathInPart {
                name: vec![Known::Any(())],
                file: vec![Known::Any(())],
                hidden: true,
                flat: false,
                command: None,
                ..path
            });
            break;
        }
        found.push(path);
    }
    found
}

/// The files with secrets that stand where a pattern of names finds them: `certs/*`.
fn found_secrets(judged: &Judgement, base: &Path) -> Vec<PathInPart> {
    let mut all = Vec::new();
    for touch in judged.touches.iter().filter(|touch| last_name(&touch.path).0.contains(&Piece::Glob)) {
        let dotted = matches!(last_name(&touch.path).0.as_slice(), [Piece::Text(start), ..] if start.starts_with('.'));
        let names = matched(&touch.path, base, "").into_iter().filter_map(|found| {
            let name = found.strip_prefix(base).unwrap_or(&found).to_str()?.to_owned();
            let hidden = name.rsplit('/').next().is_some_and(|last| last.starts_with('.'));
            ((dotted || !hidden) && is_secret_path(&name)).then_some(name)
        });
        let named = |name: String| Touch { path: Pattern(vec![Piece::Text(name)]), ..touch.clone() };
        all.extend(names.take(MAX_SECRETS).flat_map(|name| path(&named(name))));
    }
    all.truncate(MAX_SECRETS);
    all
}

/// What a search for text looks at, as its pattern of names says it.
pub(in crate::analysis) fn searched(pattern: &str) -> Vec<PathInPart> {
    let touch = |pattern: String| Touch { path: shape(&pattern), access: Access::Read, part: None, guess: false };
    let all = if pattern.starts_with('!') { Vec::new() } else { alternatives(pattern) };
    all.into_iter().flat_map(|pattern| path(&touch(pattern))).collect()
}

/// A pattern for each of the names in the first braces of a pattern: `*.{pem,key}`.
fn alternatives(pattern: &str) -> Vec<String> {
    let inside = pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match inside {
        Some((before, (names, behind))) => names.split(',').map(|name| format!("{before}{name}{behind}")).collect(),
        None => vec![pattern.to_owned()],
    }
}

/// What a pattern of names stands for. What stands in brackets and braces may be anything.
fn shape(pattern: &str) -> Pattern {
    let mut pieces = Vec::new();
    let mut depth = 0_usize;
    for letter in pattern.chars() {
        depth = depth.saturating_add(usize::from(matches!(letter, '[' | '{')));
        let wild = depth > 0 || matches!(letter, '*' | '?');
        depth = depth.saturating_sub(usize::from(matches!(letter, ']' | '}')));
        match pieces.last_mut() {
            Some(Piece::Glob) if wild => {}
            Some(Piece::Text(text)) if !wild => text.push(letter),
            _ => pieces.push(if wild { Piece::Glob } else { Piece::Text(letter.to_string()) }),
        }
    }
    Pattern(pieces)
}

/// The words of a command that may name files which it reads.
fn named(part: &Part, number: u32) -> Vec<PathInPart> {
    let program = program(part);
    let words: Vec<String> = part.words.iter().skip(1).filter_map(Pattern::text).collect();
    let files: Vec<Pattern> = match program.as_str() {
        "python" | "python3" => words.iter().flat_map(|word| files_of(word, true)).collect(),
        program if MAY_READ.contains(&program) => {
            // What follows is left out of the archive.
            let leaves = |word: &String| program == "zip" && matches!(word.as_str(), "-x" | "--exclude");
            let kept: Vec<String> = words.iter().take_while(|word| !leaves(word)).cloned().collect();
            let words = without_searches(program, &kept).flat_map(|word| files_of(word, false));
            words.chain(fed(part).filter_map(|word| file_of(&word.text()?))).collect()
        }
        "curl" | "wget" => part.words.iter().skip(1).filter_map(of_address).collect(),
        "git grep" => after_pattern(&words).filter_map(|word| file_of(word)).collect(),
        "xargs" | "gxargs" => values(&words, &["-a", "--arg-file"]).filter_map(file_of).collect(),
        "awk" | "gawk" | "mawk" | "nawk" => read_by_lines(&words),
        "file" => values(&words, &["-f", "--files-from"]).filter_map(file_of).collect(),
        "wc" | "du" | "sort" | "tree" => values(&words, &["--files0-from", "--fromfile"]).filter_map(file_of).collect(),
        program if SEARCHERS.contains(&program) => {
            values(&words, &PATTERNS).filter(|pattern| !pattern.starts_with('!')).map(shape).collect()
        }
        _ if matches!(part.command.verdict, Verdict::Execute | Verdict::Unknown) => {
            without_searches(&program, &words).filter_map(|word| file_of(word)).filter(is_environment).collect()
        }
        _ => Vec::new(),
    };
    let files = files.into_iter().chain(at_start(part, &words));
    files
        .into_iter()
        .flat_map(|file| path(&Touch { path: file, access: Access::Read, part: Some(number), guess: false }))
        .collect()
}

/// Whether a name is one of a file of variables. What else has secrets, programs use without showing it: `ssh -i a.pem`.
fn is_environment(file: &Pattern) -> bool {
    let name = last_name(file).text().unwrap_or_default();
    is_secret_path(&name) && (name.starts_with(".env") || name.ends_with(".env"))
}

/// The files that a shell reads when it starts, as variables name them.
fn at_start(part: &Part, words: &[String]) -> Vec<Pattern> {
    let assigned = part.command.assignments.iter().filter_map(|(name, value)| Some((name.as_str(), value.known()?)));
    let given = words.iter().filter_map(|word| word.split_once('='));
    let of_start = assigned.chain(given).filter(|(name, _)| STARTED_BY.contains(name));
    of_start.map(|(_, file)| Pattern(vec![Piece::Text(file.to_owned())])).collect()
}

/// The words without what `git log` and its like look for in changes and messages, and without what is left out.
fn without_searches<'w>(program: &str, words: &'w [String]) -> impl Iterator<Item = &'w String> {
    let searches = HISTORIES.contains(&program);
    let is_one = |word: &String| SEARCHES.iter().any(|option| word.starts_with(option));
    let takes = |word: &&String| SEARCHES.contains(&word.as_str());
    let leaves = |word: &str| {
        let option = word.starts_with('-').then(|| word.split_once('=').map_or(word, |(option, _)| option));
        option.is_some_and(|option| LEAVING.iter().any(|leaving| option.contains(leaving)))
    };
    let is_left = move |word: &String, before: Option<&&String>| {
        let attached = leaves(word) && word.contains('=');
        attached || before.is_some_and(|before| leaves(before) && !before.contains('='))
    };
    let before = [None].into_iter().chain(words.iter().map(Some));
    let shown = words
        .iter()
        .zip(before)
        .filter(move |(word, before)| !searches || !(is_one(word) || before.as_ref().is_some_and(takes)))
        .filter(move |(word, before)| !is_left(word, before.as_ref()));
    shown.map(|(word, _)| word)
}

/// What a word names, or the texts of code that it is: `readFile(".env")`.
fn files_of(word: &str, is_python: bool) -> Vec<Pattern> {
    if word.contains(['(', '"', '\'', '`']) {
        let pieces: Vec<&str> = word.split(['"', '\'', '`']).collect();
        let keys = is_python && !word.contains("__");
        let texts = pieces.chunks(2).zip(pieces.iter().skip(2).step_by(2).map(Some).chain([None])).filter_map(
            |(pair, behind)| {
                let [before, text] = pair else { return None };
                let is_key = keys && behind.is_some_and(|behind| is_subscript(before, behind));
                Some(*text).filter(|_| !is_key)
            },
        );
        let runs = STARTS.iter().any(|start| word.contains(start));
        let words = texts.flat_map(|text| {
            let text = text.trim_start_matches(['<', '>', ' ']);
            // A text that the code runs as a line names files in its words.
            if runs { text.split_whitespace().collect() } else { vec![text] }
        });
        return words.filter_map(file_of).collect();
    }
    // A command of a client of a database.
    let inner = word.strip_prefix('.').and_then(|command| command.split_once(' ')).map(|(_, file)| file.trim());
    file_of(inner.unwrap_or(word)).into_iter().collect()
}

/// What a word names: `-in FILE`, `--env-file=FILE`, `@FILE`, `REVISION:FILE`.
fn file_of(word: &str) -> Option<Pattern> {
    let text = Some(word).filter(|text| !text.contains(char::is_whitespace))?;
    let file = text.rsplit(['=', ':', '@']).next().filter(|file| !file.is_empty())?;
    Some(Pattern(vec![Piece::Text(file.to_owned())]))
}

/// The operands after the first, which is what is searched for; all of them where an option says that.
fn after_pattern(words: &[String]) -> impl Iterator<Item = &String> {
    let given = words.iter().any(|word| word.starts_with("-e") || word.starts_with("-f"));
    let operands = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    operands.skip(usize::from(!given))
}

/// The values of these options: the next word, or what stands after `=`.
fn values<'w>(words: &'w [String], options: &'w [&str]) -> impl Iterator<Item = &'w str> {
    let next = words.iter().skip(1).map(|word| Some(word.as_str())).chain([None]);
    words.iter().zip(next).filter_map(move |(word, next)| match word.split_once('=') {
        Some((name, value)) if options.contains(&name) => Some(value),
        None if options.contains(&word.as_str()) => next,
        _ => None,
    })
}

/// The texts of `awk` programs that read files or run lines, and the values that they are given.
fn read_by_lines(words: &[String]) -> Vec<Pattern> {
    let reads = |word: &String| word.contains("getline") || word.contains("system");
    if !words.iter().any(reads) {
        return Vec::new();
    }
    let texts = words.iter().filter(|word| reads(word)).flat_map(|word| word.split('"').skip(1).step_by(2));
    let values = words.iter().filter_map(|word| word.split_once('=').filter(|(name, _)| is_name(name)));
    let all = texts.flat_map(str::split_whitespace).chain(values.map(|(_, value)| value));
    all.map(|text| Pattern(vec![Piece::Text(text.to_owned())])).collect()
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The file that an address names, as far as it is known.
fn of_address(word: &Pattern) -> Option<Pattern> {
    let (first, rest) = word.0.split_first()?;
    let Piece::Text(start) = first else { return None };
    let start = start.strip_prefix("file:")?;
    let pieces = [Piece::Text(start.to_owned())].into_iter().chain(rest.iter().cloned());
    // What stands in brackets and braces is one of several texts.
    let decoded = pieces.flat_map(|piece| match piece {
        Piece::Text(text) => shape(&decoded(&text)).0,
        other => vec![other],
    });
    Some(Pattern(decoded.collect()))
}

/// A text of an address without its percent signs: `.env` for `%2eenv`.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(part.as_bytes().iter().skip(2));
            }
            None => {
                bytes.push(b'%');
                bytes.extend(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What commands may read that are given names when the line runs: whatever the words of other commands name.
fn made(judged: &Judgement) -> Vec<PathInPart> {
    let opens = |touch: &&Touch| {
        touch.access == Access::Read && !touch.path.0.iter().any(|piece| matches!(piece, Piece::Text(_)))
    };
    let Some(reader) = judged.touches.iter().find(opens) else { return Vec::new() };
    let words = judged.parts.iter().flat_map(|part| part.words.iter().skip(1).cloned().chain(fed(part)));
    let says = |pattern: &Pattern| pattern.0.iter().any(|piece| matches!(piece, Piece::Text(_)));
    let patterns = words.filter_map(|word| match word.text() {
        // What is run as a line has its words as parts.
        _ if has_blank(&word) => None,
        Some(text) => Some(shape(text.rsplit(['=', ':', '@']).next()?)),
        None => Some(word),
    });
    let named = patterns.filter(says);
    named
        .flat_map(|path_of| path(&Touch { path: path_of, access: Access::Read, part: reader.part, guess: false }))
        .collect()
}

/// Whether what is known of a word has a blank in it.
fn has_blank(word: &Pattern) -> bool {
    word.0.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(char::is_whitespace)))
}

/// The words that stand in the line as the input of a command.
fn fed(part: &Part) -> impl Iterator<Item = Pattern> {
    let given = part.command.redirections.iter().filter(|(operator, _)| operator.ends_with("<<<"));
    given.filter_map(|(_, word)| Some(Pattern(vec![Piece::Text(word.known()?.to_owned())])))
}

/// A path as rules see it; where its last part begins with known text and goes on with what may have slashes in it, also as one
/// of which nothing is known.
fn path(touch: &Touch) -> Vec<PathInPart> {
    let Pattern(pieces) = &touch.path;
    let (file, hidden, sure) = file(pieces);
    let name = pieces.iter().map(known).collect();
    let own = PathInPart { name, file, hidden, flat: false, access: touch.access, command: touch.part };
    let other = (!sure).then(|| PathInPart { file: vec![Known::Any(())], hidden: true, ..own.clone() });
    [own].into_iter().chain(other).collect()
}

/// Whether what is not known of a path has no slash.
fn is_flat(touch: &Touch) -> bool {
    touch.path.0.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Glob))
}

/// What the last part of the path is made of, whether it may begin with a dot, and whether it is surely the last part.
fn file(pieces: &[Piece]) -> (Vec<Known>, bool, bool) {
    let (mut file, mut hidden, mut sure): (Vec<Known>, bool, bool) = (Vec::new(), true, true);
    for piece in pieces {
        match piece {
            Piece::Text(text) => match text.rsplit_once('/') {
                Some((_, last)) => {
                    (file, hidden, sure) = (Vec::new(), true, true);
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
            Piece::Any | Piece::Tree | Piece::Home => {
                sure &= file.iter().all(|before| *before == Known::Any(()));
                hidden |= file.is_empty();
                file.push(Known::Any(()));
            }
        }
    }
    if file.is_empty() { (vec![Known::Any(())], true, true) } else { (file, hidden, sure) }
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
        paths(&judged, Path::new("/none")).iter().map(shown).collect()
    }

    #[test]
    fn a_pattern_without_a_name_of_its_own_is_about_the_secrets_that_it_finds() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for path in ["certs/server.pem", "certs/README.md", ".ssh/id_rsa", "src/a.rs", "src/.env", "deep/x/.env.local"]
        {
            std::fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            std::fs::write(base.join(path), "").unwrap();
        }
        let found = |line: &str| {
            let judged = judge(line, &Table::shipped(), Trust::default());
            let all = found_secrets(&judged, &base).into_iter();
            let name = |path: PathInPart| match path.name.as_slice() {
                [Known::Text(text)] => text.clone(),
                _ => "?".to_owned(),
            };
            all.map(name).collect::<Vec<_>>()
        };
        for (line, wanted) in [
            ("cat certs/*", &["certs/server.pem"][..]),
            ("cat cert*/*", &["certs/server.pem"]),
            ("cd certs && cat *", &["certs/server.pem"]),
            ("for f in certs/*; do cat \"$f\"; done", &["certs/server.pem"]),
            ("cp .ssh/* x", &[".ssh/id_rsa"]),
            ("cat certs/*.md", &[]),
            ("cat src/*", &[]),
            ("cat *", &[]),
            ("cat deep/x/*", &[]),
            ("echo certs/*", &[]),
        ] {
            assert_eq!(found(line), wanted, "{line}");
        }
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
            ("git grep -n KEY -- .env", &[".env"]),
            ("rg KEY -g '*.env' -g '!.env'", &["visible *.env"]),
            ("awk 'BEGIN { while ((getline l < \".env\") > 0) print l }'", &["*", ".env"]),
            ("find . -name .env | xargs cat", &["*", ".", "-name", ".env", "cat"]),
            ("for f in .e*; do cat \"$f\"; done", &[".e*", "*", ".e*"]),
            ("openssl enc -in=a.pem", &["enc", "a.pem"]),
            ("echo .env", &[]),
            ("node -e 'readFileSync(\".env\", process.env)'", &["-e", ".env"]),
            ("sqlite3 x '.read .env'", &["*", "x", ".env"]),
            ("curl file:///a/.env https://h/b.env", &[".env"]),
            ("xargs cat <<< .env", &["*", "cat", ".env"]),
            ("git config -f .env -l", &["config", "-f", ".env", "-l"]),
            ("python3 -c 'import os; os.system(\"cat .env\")'", &["-c", "cat", ".env"]),
            ("awk -v f=.env 'BEGIN{getline l < f; print l}'", &["*", ".env"]),
            ("awk 'BEGIN{system(\"cat .env\")}'", &["*", "cat", ".env"]),
            ("curl file://$PWD/.env", &[".env"]),
            ("wc -l --files0-from=.env", &[".env"]),
            ("python3 -c \"print(d['x.key'])\"", &["-c"]),
            ("python3 -c \"print(d['a']['x.key'], open('b.key'))\"", &["-c", "b.key"]),
            ("python3 -c \"print(open(['x.key'][0]))\"", &["-c", "x.key"]),
            ("python3 -c \"class A: __getitem__ = open\nA()['x.key']\"", &["-c", "x.key"]),
            ("git log --all -S .env", &["log", "--all"]),
            ("git log -S.env --grep=.env", &["log"]),
            ("git log -p -- .env", &["log", "-p", "--", ".env"]),
            ("gcc -E -x c .env", &["-E", "-x", "c", ".env"]),
            ("BASH_ENV=./.env bash -c 'echo $KEY'", &["-c", ".env"]),
            ("env BASH_ENV=.env bash x.sh", &[".env", "x.sh"]),
            ("git cat-file --batch <<< HEAD:.env", &["cat-file", "--batch", ".env"]),
            ("curl \"file://$PWD/%2eenv\"", &[".env"]),
            ("curl file:///a/.e[n-n]v", &[".e*v"]),
            ("tar czf a.tgz --exclude=.env --exclude b.env src", &["czf", "a.tgz", "--exclude", "src"]),
            ("frob --file=conf/.env -i a.pem", &[".env"]),
        ] {
            assert_eq!(files(line), wanted, "{line}");
        }
    }
}
