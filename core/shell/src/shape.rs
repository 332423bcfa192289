//! What the output of a substitution can be, by the program that prints it.

use crate::field::{Bit, Field};
use crate::scope::Scope;
use crate::tree::{Command, List, Operation, Parameter, Piece, Redirection, Simple, Word};

/// What a substitution stands for, by the last program in it.
pub(crate) fn shape(piece: &Piece, scope: &Scope) -> Bit {
    let Piece::Command { list, .. } = piece else { return Bit::Any };
    last_simple(list).map_or(Bit::Any, |(simple, piped)| output(simple, piped, scope))
}

/// What a command prints; `piped` says whether a pipe feeds it.
fn output(simple: &Simple, piped: bool, scope: &Scope) -> Bit {
    let searches = simple.words.first().and_then(Word::keyword) == Some("find");
    let text = |word: &Word| word.plain(true).or_else(|| (searches && is_folder(word, scope)).then(|| "./".to_owned()));
    let words: Vec<Option<String>> = simple.words.iter().map(text).collect();
    let Some((Some(program), args)) = words.split_first() else { return Bit::Any };
    let known: Option<Vec<&str>> = args.iter().map(Option::as_deref).collect();
    let patterns = simple.words.iter().any(|word| word.plain(false).is_none());
    let lists = known.as_deref().is_some_and(|args| lists_names(program, args));
    if !scope.is_program(program) || !simple.redirections.iter().all(keeps_output) {
        return Bit::Any;
    }
    // A program that does not start, because its input is missing, prints nothing.
    let starts = !simple.redirections.iter().any(|redirection| redirection.operator == "<");
    let shape = match known {
        // A pattern may become several words.
        Some(_) if patterns && !lists => Bit::Any,
        Some(args) => known_shape(program, &args, scope),
        None => partly_known(program, simple.words.get(1..).unwrap_or(&[]), scope),
    };
    match shape {
        Bit::Number if !(starts || piped) => Bit::Numbers,
        Bit::Plain | Bit::Here | Bit::Branch if !starts => Bit::Tame,
        bit => bit,
    }
}

/// Whether a redirection leaves the output where it was.
fn keeps_output(redirection: &Redirection) -> bool {
    match (redirection.operator, redirection.descriptor.as_deref()) {
        ("<" | "<<" | "<<-" | "<<<", None | Some("0")) => true,
        (">" | ">>", Some("2")) => true,
        (">&", Some("2")) => redirection.target.literal().is_some_and(|(text, _)| text == "/dev/null"),
        _ => false,
    }
}

/// A program that prints names, whatever operands a pattern adds.
fn lists_names(program: &str, args: &[&str]) -> bool {
    matches!(program, "find" | "git") || (program == "grep" && names_files(args))
}

/// A program some of whose arguments are made at run time.
fn partly_known(program: &str, args: &[Word], scope: &Scope) -> Bit {
    let texts: Vec<String> = args.iter().filter_map(|word| word.plain(false)).collect();
    let options: Vec<&str> = texts.iter().map(String::as_str).filter(|text| text.starts_with('-')).collect();
    let operands = args.len().saturating_sub(options.len());
    let made = |word: &&Word| word.plain(false).is_none();
    if !args.iter().filter(made).all(|word| is_one_operand(word, scope)) {
        return Bit::Any;
    }
    match program {
        "grep" if counts(&options) && operands <= 2 => Bit::Numbers,
        _ => Bit::Any,
    }
}

/// Whether a word is one path of a folder, in the home folder or as the environment gives it.
fn is_folder(word: &Word, scope: &Scope) -> bool {
    let given = |bit: &Bit| matches!(bit, Bit::Given | Bit::Home | Bit::Here | Bit::Plain | Bit::Text(_));
    let one = |(at, piece): (usize, &Piece)| match piece {
        Piece::Text { text, quoted } => {
            *quoted || !text.contains(['{', '*', '?', '[']) && (at == 0 || !text.contains('~'))
        }
        Piece::Parameter(parameter) => {
            parameter.quoted
                && parameter.name != "@"
                && is_plain(parameter)
                && scope.value(&parameter.name).iter().all(given)
        }
        _ => false,
    };
    let dash = matches!(word.pieces.first(), Some(Piece::Text { text, .. }) if text.starts_with('-'));
    !dash && word.pieces.iter().enumerate().all(one)
}

/// Whether a word that is made at run time is one word, and no option.
fn is_one_operand(word: &Word, scope: &Scope) -> bool {
    let one = word.pieces.iter().all(|piece| match piece {
        Piece::Text { text, quoted } => *quoted || !text.contains(['{', '*', '?', '[']),
        Piece::Parameter(parameter) => parameter.quoted && parameter.name != "@" && is_plain(parameter),
        Piece::Command { quoted, .. } => *quoted,
        Piece::Process { .. } | Piece::Arithmetic(_) => false,
    });
    let empty = |piece: &&Piece| matches!(piece, Piece::Text { text, .. } if text.is_empty());
    let starts = match word.pieces.iter().find(|piece| !empty(piece)) {
        Some(Piece::Text { text, .. }) => !text.starts_with('-'),
        Some(Piece::Parameter(parameter)) => {
            let field = Field { bits: scope.value(&parameter.name), many: false, span: word.span };
            !field.may_be_option()
        }
        _ => false,
    };
    one && starts
}

/// Whether a parameter stands for its value as it is.
const fn is_plain(parameter: &Parameter) -> bool {
    matches!(parameter.operation, Operation::Plain) && parameter.index.is_none()
}

/// Whether `realpath` or `readlink` prints paths from the root.
fn is_absolute(program: &str, options: &[&str]) -> bool {
    let plain = options.iter().all(|option| matches!(*option, "-f" | "-e" | "-m" | "--"));
    plain && (program == "realpath" || options.iter().any(|option| *option != "--"))
}

/// Whether a text is several words where it is not quoted.
fn has_blank(text: &str) -> bool {
    text.contains(char::is_whitespace)
}

/// Whether `grep` prints only how many lines fit.
fn counts(options: &[&str]) -> bool {
    let letters =
        |option: &&str| option.len() > 1 && option.bytes().skip(1).all(|letter| b"civwxEFP".contains(&letter));
    options.iter().all(letters) && options.iter().any(|option| option.contains('c'))
}

fn known_shape(program: &str, args: &[&str], scope: &Scope) -> Bit {
    let names = |args: &[&str]| !args.is_empty() && args.iter().all(|arg| !arg.contains(['/', '-']));
    let options: Vec<&str> = args.iter().copied().filter(|arg| arg.starts_with('-')).collect();
    match (program, args) {
        ("wc", ["-l" | "-w" | "-c" | "-m" | "-L" | "--lines" | "--words" | "--bytes" | "--chars"])
        | ("nproc", [] | ["--all"])
        | ("id", ["-u" | "-g"])
        | ("date", ["+%s" | "+%Y" | "+%s%N"]) => Bit::Number,
        ("seq", _) if args.iter().all(|arg| arg.parse::<i64>().is_ok()) => Bit::Numbers,
        ("stat", ["-c", "%s" | "%Y" | "%a" | "%i", file]) if !file.starts_with('-') => Bit::Numbers,
        ("grep", _) if counts(&options) && args.len().saturating_sub(options.len()) <= 2 => Bit::Numbers,
        ("date", [format]) if is_plain_format(format) => Bit::Plain,
        ("date", [] | ["-u" | "-R" | "-Is" | "-Iseconds" | "-I"]) => Bit::Tame,
        ("mktemp", _) if args.iter().all(|arg| !has_blank(arg)) => Bit::Tame,
        ("git", ["log", rest @ ..]) if prints_hashes(rest) => Bit::Tame,
        (program, [first, ..]) if SETTERS.contains(&(program, first)) => Bit::Settings,
        ("pwd", [] | ["-P" | "-L"]) if scope.own_path() == [Bit::Here] => Bit::Here,
        ("pwd", [] | ["-P" | "-L"]) => scope.working_folder(),
        ("whoami" | "arch", []) | ("uname", [] | ["-r" | "-m" | "-s" | "-n"]) => Bit::Plain,
        ("hostname", [] | ["-s" | "-f"]) | ("logname", []) => Bit::Tame,
        ("which" | "command" | "type", _) => match (program, args) {
            ("which", names_only) | ("command", ["-v", names_only @ ..]) | ("type", ["-p" | "-P", names_only @ ..])
                if names(names_only) =>
            {
                Bit::Tame
            }
            _ => Bit::Any,
        },
        ("realpath" | "readlink", _)
            if args.len() > options.len()
                && is_absolute(program, &options)
                && !args.iter().any(|arg| has_blank(arg)) =>
        {
            Bit::Tame
        }
        ("find", _) if !scope.distrusts && lists_below(args) => Bit::Tame,
        ("git", ["ls-files", rest @ ..]) if !scope.distrusts && rest.iter().all(|arg| lists_files(arg)) => Bit::Tame,
        ("grep", _) if !scope.distrusts && names_files(args) => Bit::Tame,
        ("git", ["merge-base", _, ..]) if options.is_empty() => Bit::Tame,
        ("git", ["branch", "--show-current"] | ["rev-parse", "--abbrev-ref", "HEAD"])
        | ("git", ["symbolic-ref", "--short", "HEAD"] | ["symbolic-ref", "--short", "-q", "HEAD"]) => Bit::Branch,
        ("git", ["rev-parse", rest @ ..]) if !rest.is_empty() && rest.iter().all(|arg| is_revision(arg)) => Bit::Tame,
        ("go", ["env", "GOMODCACHE" | "GOPATH" | "GOROOT" | "GOCACHE" | "GOMOD" | "GOOS" | "GOARCH"])
        | ("npm", ["root" | "prefix" | "bin"] | ["root" | "prefix" | "bin", "-g"])
        | ("rustc", ["--print", "sysroot"])
        | ("brew", ["--prefix"]) => Bit::Tame,
        _ => Bit::Any,
    }
}

/// What a command of a pipeline prints, after one that prints `before`, where all of it is words that start with no `-`.
pub(crate) fn printed(command: &Command, before: Option<&Bit>, scope: &Scope) -> Option<Bit> {
    let Command::Simple(simple) = command else { return None };
    if !simple.assignments.is_empty() {
        return None;
    }
    if before.is_some() && passes_lines(simple, scope) {
        return before.cloned();
    }
    let printed = output(simple, before.is_some(), scope);
    matches!(printed, Bit::Tame | Bit::Branch).then_some(Bit::Tame)
}

/// Whether a command prints some of the lines that it gets, as they are.
fn passes_lines(simple: &Simple, scope: &Scope) -> bool {
    let words: Option<Vec<String>> = simple.words.iter().map(|word| word.plain(false)).collect();
    let Some(words) = words else { return false };
    let Some((program, args)) = words.split_first() else { return false };
    let letters = |arg: &str, known: &str| {
        arg.len() > 1 && arg.starts_with('-') && arg.chars().skip(1).all(|letter| known.contains(letter))
    };
    let fits = match program.as_str() {
        "sort" => args.iter().all(|arg| letters(arg, "urnVzf")),
        "uniq" => args.is_empty(),
        "head" | "tail" => match args {
            [] => true,
            [one] => letters(one, "0123456789") || one.strip_prefix("-n").is_some_and(is_count),
            [option, count] => option == "-n" && is_count(count),
            _ => false,
        },
        "grep" => {
            let (options, operands): (Vec<&String>, Vec<&String>) = args.iter().partition(|arg| arg.starts_with('-'));
            operands.len() == 1 && options.iter().all(|option| letters(option, "viEFwx"))
        }
        _ => false,
    };
    fits && scope.is_program(program) && simple.redirections.iter().all(keeps_output)
}

fn is_count(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A part of a command of `git ls-files` that prints names of files.
fn lists_files(arg: &str) -> bool {
    !arg.starts_with('-')
        || matches!(
            arg,
            "-c" | "-o" | "-m" | "-d" | "-co" | "-z" | "--cached" | "--others" | "--modified" | "--deleted"
        )
        || matches!(arg, "--exclude-standard" | "--full-name" | "--")
}

/// Whether `grep` prints names of files only.
fn names_files(args: &[&str]) -> bool {
    let options = args.iter().filter(|arg| arg.starts_with('-'));
    let plain = |arg: &&str| {
        let letters = arg.len() > 1 && arg.bytes().skip(1).all(|letter| b"lrRiwxEFsIn".contains(&letter));
        letters || arg.starts_with("--include=") || arg.starts_with("--exclude")
    };
    let listing = |arg: &&str| !arg.starts_with("--") && arg.contains('l') && arg.starts_with('-');
    options.clone().all(plain) && args.iter().any(listing)
}

/// What has `find` print something else than names, beside programs that it runs.
const TELLS: [&str; 5] = ["-ls", "-help", "--help", "-version", "--version"];

/// Whether `find` prints names, each of which starts with a folder that it is given.
fn lists_below(args: &[&str]) -> bool {
    let starts = args.iter().take_while(|arg| !arg.starts_with(['-', '(', '!']));
    let other = |arg: &str| arg.contains("print") && !matches!(arg, "-print" | "-print0");
    let runs = |arg: &str| arg.starts_with("-exec") || arg.starts_with("-ok");
    let prints = args.iter().any(|arg| other(arg) || runs(arg) || TELLS.contains(arg));
    !prints && starts.count() > 0
}

/// Programs whose output a shell is meant to run, as it sets variables, with what has them print it.
const SETTERS: [(&str, &str); 13] = [
    ("brew", "shellenv"),
    ("conda", "shell.bash"),
    ("dircolors", "-b"),
    ("direnv", "hook"),
    ("fnm", "env"),
    ("mise", "activate"),
    ("nodenv", "init"),
    ("opam", "env"),
    ("pyenv", "init"),
    ("rbenv", "init"),
    ("ssh-agent", "-s"),
    ("starship", "init"),
    ("zoxide", "init"),
];

/// Formats of `git log` that print the hashes of commits.
const HASHES: [&str; 6] =
    ["--format=%h", "--format=%H", "--pretty=%h", "--pretty=%H", "--pretty=format:%h", "--pretty=format:%H"];

/// Whether `git log` prints nothing of commits but their hashes.
fn prints_hashes(args: &[&str]) -> bool {
    let flags = ["-n", "--all", "--merges", "--no-merges", "--reverse", "--first-parent", "--"];
    let number = |letters: &str| !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_digit());
    let selects = |arg: &&str| {
        !arg.starts_with('-')
            || flags.contains(arg)
            || HASHES.contains(arg)
            || arg.strip_prefix("-n").or_else(|| arg.strip_prefix('-')).is_some_and(number)
    };
    args.iter().any(|arg| HASHES.contains(arg)) && args.iter().all(selects)
}

/// What prints a hash, a branch or a folder.
fn is_revision(arg: &str) -> bool {
    matches!(arg, "--show-toplevel" | "HEAD" | "--short" | "--abbrev-ref" | "--git-dir" | "--verify")
}

/// A format of `date` that prints one word, which starts with no `-`.
fn is_plain_format(format: &str) -> bool {
    let Some(format) = format.strip_prefix('+').filter(|format| !format.is_empty()) else { return false };
    let mut letters = format.chars();
    let mut first = true;
    while let Some(letter) = letters.next() {
        let plain = match letter {
            '%' => letters.next().is_some_and(|kind| "FTYmdHMSsNjyuUVWGgaAbBhI".contains(kind)),
            '-' => !first,
            _ => letter.is_ascii_alphanumeric() || "_.:+".contains(letter),
        };
        if !plain {
            return false;
        }
        first = false;
    }
    true
}

/// The command whose output a list's output is, where there is one, and whether a pipe feeds it.
fn last_simple(list: &List) -> Option<(&Simple, bool)> {
    let [item] = list.items.as_slice() else { return None };
    let [pipeline] = item.pipelines.as_slice() else { return None };
    match pipeline.commands.last()? {
        Command::Simple(simple) if simple.assignments.is_empty() && !item.background => {
            Some((simple, pipeline.commands.len() > 1))
        }
        _ => None,
    }
}

/// Whether a word names a program that prints only what the line itself says.
pub(crate) fn is_speaker(word: &Word, scope: &Scope) -> bool {
    word.literal().is_some_and(|(name, _)| {
        matches!(name.as_str(), "echo" | "printf" | "true" | ":" | "sleep") && scope.is_program(&name)
    })
}
