//! What the output of a substitution can be, by the program that prints it.

use crate::field::Bit;
use crate::scope::Scope;
use crate::tree::{Command, List, Piece, Redirection, Simple, Word};

/// What a substitution stands for, by the last program in it.
pub(crate) fn shape(piece: &Piece, scope: &Scope) -> Bit {
    let Piece::Command { list, .. } = piece else { return Bit::Any };
    let Some((simple, piped)) = last_simple(list) else { return Bit::Any };
    let words: Vec<Option<String>> = simple.words.iter().map(|word| word.literal().map(|(text, _)| text)).collect();
    let Some((Some(program), args)) = words.split_first() else { return Bit::Any };
    if !scope.is_program(program) || !simple.redirections.iter().all(keeps_output) {
        return Bit::Any;
    }
    // A program that does not start, because its input is missing, prints nothing.
    let starts = !simple.redirections.iter().any(|redirection| redirection.operator == "<");
    let known: Option<Vec<&str>> = args.iter().map(Option::as_deref).collect();
    match known.map_or_else(|| partly_known(program, args), |args| known_shape(program, &args, scope)) {
        Bit::Number if !(starts || piped) => Bit::Numbers,
        Bit::Plain if !starts => Bit::Tame,
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

/// A program some of whose arguments are made at run time.
fn partly_known(program: &str, args: &[Option<String>]) -> Bit {
    let quoted = |text: &&Option<String>| text.as_deref().is_none_or(|text| !text.starts_with('-'));
    let options: Vec<&str> = args.iter().flatten().map(String::as_str).filter(|text| text.starts_with('-')).collect();
    let operands = args.iter().filter(quoted).count();
    match program {
        "realpath" | "readlink" if operands == 1 && is_absolute(program, &options) => Bit::Tame,
        "grep" if counts(&options) && operands <= 2 => Bit::Numbers,
        _ => Bit::Any,
    }
}

/// Whether `realpath` or `readlink` prints paths from the root.
fn is_absolute(program: &str, options: &[&str]) -> bool {
    let plain = options.iter().all(|option| matches!(*option, "-f" | "-e" | "-m" | "--"));
    plain && (program == "realpath" || options.iter().any(|option| *option != "--"))
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
        ("stat", ["-c", "%s" | "%Y" | "%a" | "%i", _]) => Bit::Numbers,
        ("grep", _) if counts(&options) && args.len().saturating_sub(options.len()) <= 2 => Bit::Numbers,
        ("date", [format]) if is_plain_format(format) => Bit::Plain,
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
        ("realpath" | "readlink", _) if args.len() > options.len() && is_absolute(program, &options) => Bit::Tame,
        ("find", _) if !scope.distrusts && lists_below(args) => Bit::Tame,
        ("git", ["merge-base", _, ..]) => Bit::Tame,
        ("git", ["rev-parse", rest @ ..]) if !rest.is_empty() && rest.iter().all(|arg| is_revision(arg)) => Bit::Tame,
        ("go", ["env", "GOMODCACHE" | "GOPATH" | "GOROOT" | "GOCACHE" | "GOMOD" | "GOOS" | "GOARCH"])
        | ("npm", ["root" | "prefix" | "bin"] | ["root" | "prefix" | "bin", "-g"])
        | ("rustc", ["--print", "sysroot"])
        | ("brew", ["--prefix"]) => Bit::Tame,
        _ => Bit::Any,
    }
}

/// Whether `find` prints names, each of which starts with a folder that it is given.
fn lists_below(args: &[&str]) -> bool {
    let starts = args.iter().take_while(|arg| !arg.starts_with(['-', '(', '!']));
    let prints = args.iter().any(|arg| arg.contains("print") || arg.starts_with("-exec") || *arg == "-ls");
    !prints && starts.count() > 0
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
