//! Approved calls: those about which the platform need not ask its user (rules 3.7).

use serde_json::Value;

use crate::answers::decision::{Decision, Effect};
use crate::calls::analysis::{CallAnalysis, PathUse, RunsIn, SimpleCommand, Word};
use crate::calls::tool::{BASH, Call, NETWORK, only_reads};
use crate::policy::{Approve, Policy};
use crate::prelude::*;
use crate::shell::classifier::Classifier;
use crate::state::State;

/// The built-in tools that look at the project, and ask nobody.
const LOOKERS: [&str; 6] = ["Read", "Grep", "Glob", "LS", "NotebookRead", BASH];
/// Their arguments that select files by a pattern.
const SELECTORS: [&str; 2] = ["pattern", "glob"];
/// Programs that read the files that they are given by name, and nothing else: no list of names, no environment, no
/// settings of a person.
const READERS: [&str; 24] = [
    "basename", "cat", "cd", "cut", "dirname", "echo", "egrep", "false", "fgrep", "find", "git", "grep", "head", "ls",
    "nl", "pwd", "rg", "sort", "stat", "tail", "tr", "true", "uniq", "wc",
];
/// What of git looks at the repository alone.
const GIT: [&str; 8] = ["describe", "diff", "log", "ls-files", "rev-parse", "shortlog", "show", "status"];
/// Names of Python that lead to the environment, to folders of a person and to what the machine is.
const OF_THE_MACHINE: [&str; 9] =
    ["environ", "getenv", "getpass", "os", "pathlib", "platform", "posix", "site", "sysconfig"];
/// Names of Python by which a text may not end, beside powers and shifts.
const ENDLESS: [&str; 5] = ["input", "itertools", "sleep", "time", "while"];
/// The most digits in a row of a text of Python that is approved.
const MAX_DIGITS: usize = 6;
/// Names that a program of awk may use: those by which it computes and prints what it reads, and comes to its end.
const AWK: [&str; 20] = [
    "BEGIN", "END", "FNR", "FS", "NF", "NR", "OFS", "ORS", "else", "gsub", "if", "index", "length", "next", "print",
    "printf", "sub", "substr", "tolower", "toupper",
];
/// Letters of options that make some program take names from a file, follow links, go to another folder or not end.
const LETTERS: &str = "CFHLORTfx";
/// Options by their whole names that do none of this.
const OPTIONS: [&str; 62] = [
    "abbrev-ref",
    "after",
    "after-context",
    "all",
    "almost-all",
    "author",
    "before",
    "before-context",
    "branch",
    "bytes",
    "cached",
    "chars",
    "color",
    "colour",
    "context",
    "count",
    "date",
    "decorate",
    "deleted",
    "exclude",
    "exclude-dir",
    "exclude-standard",
    "extended-regexp",
    "files-with-matches",
    "files-without-match",
    "fixed-strings",
    "format",
    "graph",
    "heading",
    "hidden",
    "human-readable",
    "ignore-case",
    "include",
    "invert-match",
    "is-inside-work-tree",
    "line-number",
    "lines",
    "max-count",
    "max-depth",
    "modified",
    "name-only",
    "name-status",
    "no-color",
    "no-heading",
    "no-merges",
    "no-pager",
    "numeric-sort",
    "numstat",
    "oneline",
    "only-matching",
    "others",
    "patch",
    "porcelain",
    "pretty",
    "reverse",
    "short",
    "show-toplevel",
    "shortstat",
    "since",
    "staged",
    "stat",
    "word-regexp",
];
/// The words of find that select by name, kind, size and age.
const FIND: [&str; 14] = [
    "-a",
    "-iname",
    "-ipath",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-not",
    "-o",
    "-path",
    "-print",
    "-size",
    "-type",
];

/// Whether the call is approved: no gate has anything to say, and it only reads, in the project, and talks to nobody.
pub(crate) fn is_approved(policy: &Policy, state: &State, call: &Call, decision: &Decision) -> bool {
    let known = call.tool.server.is_some() || LOOKERS.contains(&call.tool.name.as_str());
    let may = policy.approve == Approve::Reads && decision.effect == Effect::Allow && known;
    may && reads_here(call, &Classifier::of(state, &policy.safety))
}

/// Whether a person answers for a command as one that only reads.
fn is_persons(command: &SimpleCommand, classifier: &Classifier) -> bool {
    command.registered.as_ref().is_some_and(|found| found.reads() && classifier.is_persons(found))
}

/// Whether a person's word covers all that a line gives to the commands that a person answers for: such a command stands
/// first, nothing is written or read beside it, and no word of the line may name a file or bring settings.
fn covers(call: &Call, classifier: &Classifier) -> bool {
    let commands = &call.analysis.commands;
    let later = commands.iter().skip(1).any(|command| is_persons(command, classifier));
    if later || !commands.iter().any(|command| is_persons(command, classifier)) {
        return !later;
    }
    let line = call.command().and_then(Value::as_str).unwrap_or_default();
    let plain = |letter: char| letter.is_alphanumeric() || " '\"-_.,:*?+%|@".contains(letter);
    let names_file = |word: &str| word.trim_start_matches(['\'', '"']).starts_with('@');
    line.chars().all(plain) && !line.split(' ').any(names_file) && !line.contains("||")
}

/// Whether every part of the call only reads, at paths of the project.
fn reads_here(call: &Call, classifier: &Classifier) -> bool {
    let analysis = &call.analysis;
    let asks = |command: &SimpleCommand| command.network && !is_persons(command, classifier);
    let sends = analysis.commands.iter().any(asks)
        || call.tool.labels.contains(NETWORK)
            && !analysis.commands.iter().any(|command| is_persons(command, classifier));
    let inside = |path: &PathUse| {
        is_plain_path(&path.written) && path.resolved.as_deref().is_some_and(|path| !path.starts_with('/'))
    };
    let read_line = call.tool.name != BASH || call.tool.server.is_some() || !analysis.commands.is_empty();
    only_reads(&call.tool.labels)
        && !sends
        && !call.background
        && read_line
        && analysis.guarded.is_empty()
        && analysis.invokes.is_none()
        && covers(call, classifier)
        && SELECTORS.iter().all(|name| selects_here(call, name))
        && analysis.paths.iter().all(inside)
        && analysis.commands.iter().all(|command| stays_here(command, analysis, is_persons(command, classifier)))
}

/// Whether a client takes a path as it is written: it puts nothing in the place of `~` or a variable, takes it for no
/// address, and cuts nothing off.
fn is_plain_path(written: &str) -> bool {
    let address =
        || written.split_once(':').is_some_and(|(scheme, rest)| !scheme.contains('/') && rest.starts_with('/'));
    !written.starts_with('~') && !written.contains('$') && written.trim() == written && !address()
}

/// Whether a built-in tool's pattern selects files of the project: it leads nowhere else, and names no folder, as that may
/// be a link.
fn selects_here(call: &Call, name: &str) -> bool {
    let pattern = call.input.get(name).and_then(Value::as_str).filter(|_| call.tool.name != BASH);
    let is_regex = name == "pattern" && call.tool.name != "Glob";
    pattern.is_none_or(|pattern| is_regex || (!may_leave(pattern) && pattern.starts_with('*')))
}

/// Whether the program is one that reads what it is given by name, and each option is one that changes nothing about that;
/// or Python with a text that was judged to read, whose files are among the paths of the call.
fn is_plain_reader(command: &SimpleCommand) -> bool {
    let Some(words) = command.words.iter().map(Word::known).collect::<Option<Vec<&str>>>() else { return false };
    let Some((program, arguments)) = words.split_first() else { return true };
    let name = program.strip_prefix("/usr/bin/").or_else(|| program.strip_prefix("/bin/")).unwrap_or(program);
    let looks = || arguments.iter().find(|word| **word != "--no-pager").is_some_and(|about| GIT.contains(about));
    match (name, arguments) {
        ("python" | "python3", ["-c", text]) => is_plain_python(text),
        ("awk" | "gawk" | "mawk", ["-F", _, text, files @ ..]) => is_plain_awk(text, files),
        ("awk" | "gawk" | "mawk", [text, files @ ..]) => is_plain_awk(text, files),
        ("git", _) if !looks() => false,
        _ => READERS.contains(&name) && arguments.iter().all(|word| is_plain_option(name, word)),
    }
}

/// Whether a text of Python, which was judged to read, asks nothing of the machine and of the person that it runs for, and
/// ends.
fn is_plain_python(text: &str) -> bool {
    let mut names = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let mut numbers = text.split(|letter: char| !letter.is_ascii_digit());
    text.is_ascii()
        && !names.any(|name| OF_THE_MACHINE.contains(&name) || ENDLESS.contains(&name))
        && !text.contains("**")
        && !text.contains("<<")
        && numbers.all(|digits| digits.len() <= MAX_DIGITS)
}

/// Whether a program of awk, which was judged to read, reads the files that it is given, and nothing else. Its own variables
/// have one letter.
fn is_plain_awk(text: &str, files: &[&str]) -> bool {
    let mut names = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let known = |name: &str| AWK.contains(&name) || name.len() <= 1 || name.bytes().all(|digit| digit.is_ascii_digit());
    let is_file = |file: &&str| !file.starts_with('-') && !file.contains('=');
    let plain = text.is_ascii() && !text.starts_with('-');
    plain && !text.contains(['"', '@', '|', '<', '>', '\\']) && names.all(known) && files.iter().all(is_file)
}

/// Whether a word is no option, or one that keeps a program with the files that it is given by name.
fn is_plain_option(program: &str, word: &str) -> bool {
    let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else { return true };
    if program == "find" {
        return FIND.contains(&word);
    }
    match option.strip_prefix('-') {
        Some(long) => long.is_empty() || OPTIONS.contains(&long.split('=').next().unwrap_or_default()),
        None if program == "cut" => true,
        None => !option.contains(|letter| LETTERS.contains(letter)),
    }
}

/// Whether every word of a command is known, and none names what may lie outside of the project. The program may, which is a
/// reader, or one for which a person answers.
fn stays_here(command: &SimpleCommand, analysis: &CallAnalysis, persons: bool) -> bool {
    let program = command.words.iter().take(1).all(|word| matches!(word, Word::Known(_)));
    let assigned = command.assignments.iter().map(|(_, word)| word);
    let redirected = command.redirections.iter().map(|(_, word)| word);
    let mut words = command.words.iter().skip(1).chain(assigned).chain(redirected);
    program
        && command.runs_in != RunsIn::Elsewhere
        && !command.repeats
        && (persons || is_plain_reader(command))
        && words.all(|word| match word {
            Word::Known(text) => !may_leave(text) || analysis.paths.iter().any(|path| path.written == *text),
            Word::Unknown | Word::Value => false,
        })
}

/// Whether a word may name a path outside of the project: an absolute one, one of a home folder, or one that goes up. A
/// path that the analysis knows is looked at there.
fn may_leave(word: &str) -> bool {
    let option = word.starts_with('-') && word.contains('/');
    let leaves = |piece: &str| piece.starts_with(['/', '~']) || piece.split('/').any(|part| part == "..");
    option || word.split(['=', ':', ',']).any(leaves)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{is_plain_path, is_plain_reader, may_leave};
    use crate::calls::analysis::Word;
    use crate::shell::words::command;

    fn is_plain(line: &str) -> bool {
        let words: Vec<Word> = line.split(' ').map(|word| Word::Known(word.into())).collect();
        is_plain_reader(&command(words))
    }

    #[test]
    fn words_that_lead_out_are_seen() {
        for word in ["/etc", "~", "~/x", "../a", "a/../../b", "-C/x", "--dir=/x", "--dir=~", "a:/x", "-I../x"] {
            assert!(may_leave(word), "{word}");
        }
        for word in ["src/a.rs", "-la", "HEAD~1", "HEAD..main", "--name-only", "a/b/c", "."] {
            assert!(!may_leave(word), "{word}");
        }
    }

    #[test]
    fn paths_that_a_client_takes_for_others_are_not_plain() {
        for path in ["~/.ssh/id", " /etc/passwd", "file:///etc/passwd", "$HOME/x", "a\n"] {
            assert!(!is_plain_path(path), "{path}");
        }
        for path in ["src/a.rs", "/p/src/a.rs", "a b.md", "a:b", "notes~"] {
            assert!(is_plain_path(path), "{path}");
        }
    }

    #[test]
    fn readers_of_what_they_are_given_by_name_are_plain() {
        for line in [
            "cat a.rs",
            "ls -la src",
            "grep -rn one src",
            "grep --include=*.rs -rn one .",
            "rg -n one",
            "find . -name *.rs -type f -maxdepth 2",
            "git log --oneline -5",
            "git --no-pager diff --stat",
            "git status --short",
            "cut -d: -f1 a.txt",
            "tail -n 5 a.txt",
            "sort -rn a.txt",
            "/usr/bin/wc -l a.txt",
            "python3 -c print(1)",
            "awk {print$1,NF} a.txt",
            "awk -F : NR==2 a.txt",
        ] {
            assert!(is_plain(line), "{line}");
        }
    }

    #[test]
    fn lists_links_settings_and_the_environment_are_not_plain() {
        for line in [
            "sort --files0-from=l0",
            "wc --files0-from=l0",
            "file -f list",
            "grep -R . .",
            "grep --dereference-recursive . .",
            "rg -L .",
            "rg --follow .",
            "find -L . -name a",
            "find . -newer a",
            "ls -LR",
            "du -L",
            "diff -r sub src",
            "git diff --no-index sub src",
            "git grep one",
            "git blame -S fl a.py",
            "git -C dl log",
            "git config --list",
            "git var -l",
            "date --file=fl",
            "grep -f fl a.py",
            "tar tf fl",
            "env",
            "printenv",
            "set",
            "ps eww",
            "jq -n $ENV",
            "tail -f a.txt",
            "sleep 100000",
            "./cat a",
            "awk -f a.awk",
            "awk {print(ENVIRON[1])} a.txt",
            "awk {while(1){}} a.txt",
            "awk {getline<$1} a.txt",
            "awk {print} ARGV=1",
            "awk {print} -f",
            "python3 a.py",
            "python3 -m json.tool a.json",
            "python3 -c print(os.environ)",
            "python3 -c print(\u{ff4f}s)",
            "python3 -X dev -c print(1)",
            "python3 -c while(1):pass",
            "python3 -c print(10**10**9)",
            "python3 -c list(range(99999999999))",
            "git --no-pager config --list",
            "git",
        ] {
            assert!(!is_plain(line), "{line}");
        }
    }
}
