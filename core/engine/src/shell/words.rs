//! Command patterns: which words of a simple command a matcher means.

use crate::calls::analysis::{RunsIn, SimpleCommand, Status, Verdict, Word};
use crate::prelude::*;
use crate::shell::npm;
use crate::state::redacted_tests::Fit;
use crate::values::glob::text_fits;

/// The folders whose programs are meant by their bare names too.
pub(crate) const SYSTEM_FOLDERS: [&str; 6] =
    ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];

/// What stands before a word for what a command does, in the place of the words of a command.
pub const DOES: &str = "does:";

/// Whether a command has the words of a pattern. `*` as a word stands for any words, also none; inside a word it stands
/// for any characters.
///
/// Options of the program before its subcommand are passed over; where one of them has a value, as in `git -C x push`,
/// the answer is doubt. So it is for a program outside the folders of the system, after an assignment, and with a
/// redirection to or from a file. A pattern that ends with `*` means its input too, wherever that comes from.
///
/// Of options that exclude one another the last holds: where the words without those that it undoes would be answered
/// otherwise, the answer is doubt.
pub(crate) fn fits(command: &SimpleCommand, pattern: &str) -> Fit {
    // Most patterns are of other programs, so the program is compared before anything else.
    let Some(program) = command.words.first() else { return Fit::No };
    let other = |wanted: &str| wanted != "*" && program_fits(wanted, program) == Fit::No;
    if pattern.split_whitespace().next().is_none_or(other) {
        return Fit::No;
    }
    let as_written = fits_as_written(command, pattern);
    let Some(words) = in_effect(&command.words) else { return as_written };
    let in_effect = fits_as_written(&SimpleCommand { words, ..command.clone() }, pattern);
    if in_effect == as_written { as_written } else { Fit::Doubt }
}

/// Programs that take `--no-X` for the opposite of `--X`, and of both the last; with short names of options.
const BY_LAST: [(&str, &[(&str, &str)]); 4] = [
    ("git", &[("-n", "--dry-run"), ("-f", "--force"), ("-t", "--tags")]),
    ("npm", &[("-f", "--force")]),
    ("pnpm", &[]),
    ("yarn", &[]),
];

/// The words of a command without the options that a later one undoes; `None` where none is undone.
fn in_effect(words: &[Word]) -> Option<Vec<Word>> {
    let Some(Word::Known(program)) = words.first() else { return None };
    let program = program.rsplit('/').next().unwrap_or_default();
    let (_, short) = BY_LAST.iter().find(|(name, _)| *name == program)?;
    // Only a word that takes something back undoes one before it, or is undone.
    let takes_back =
        |word: &Word| matches!(word, Word::Known(text) if text.starts_with("--no-") || text.ends_with("=false"));
    words.iter().any(takes_back).then_some(())?;
    // The name of an option, and whether it says that it holds.
    let said = |word: &Word| {
        let Word::Known(text) = word else { return None };
        let long = short.iter().find(|(short, _)| short == text).map_or(text.as_str(), |(_, long)| *long);
        let (name, value) = long.strip_prefix("--")?.split_once('=').unwrap_or((long.strip_prefix("--")?, "true"));
        let (name, holds) = name.strip_prefix("no-").map_or((name, true), |name| (name, false));
        Some((name.to_string(), holds != (value == "false")))
    };
    let options: Vec<_> = words.iter().map(said).collect();
    let undone = |at: usize| {
        let Some(Some((name, holds))) = options.get(at) else { return false };
        let mut later = options.iter().skip(at.saturating_add(1)).flatten();
        later.rfind(|(other, _)| other == name).is_some_and(|(_, last)| last != holds)
    };
    let kept: Vec<Word> =
        words.iter().enumerate().filter(|(at, _)| !undone(*at)).map(|(_, word)| word.clone()).collect();
    (kept.len() < words.len()).then_some(kept)
}

fn fits_as_written(command: &SimpleCommand, pattern: &str) -> Fit {
    let Some((program, arguments)) = command.words.split_first() else { return Fit::No };
    let pattern: Vec<&str> = pattern.split_whitespace().collect();
    let open = pattern.len() > 1 && pattern.last() == Some(&"*");
    let plain = if is_plain_but(command, open) { Fit::Yes } else { Fit::Doubt };
    let Some((wanted, pattern)) = pattern.split_first() else { return Fit::No };
    if *wanted == "*" {
        return words_fit(&[&["*"], pattern].concat(), &command.words).min(plain);
    }
    let whole = words_fit(pattern, arguments);
    let options = usize::try_from(command.global_options).unwrap_or(usize::MAX).min(arguments.len());
    let (passed, rest) = arguments.split_at(options);
    let without = if options == 0 || whole == Fit::Yes {
        Fit::No
    } else if passed.iter().all(is_flag) {
        words_fit(pattern, rest)
    } else {
        words_fit(pattern, rest).min(Fit::Doubt)
    };
    // An alias may stand for any command of the program.
    let stands_for = if command.alias && !pattern.is_empty() { Fit::Doubt } else { Fit::No };
    let fit = whole.max(without).max(stands_for).max(fits_elsewhere(command, pattern, rest));
    let may = || fits_behind_toolchain(pattern, arguments) || fits_in_full(program, pattern, arguments);
    let fit = if fit == Fit::No && may() { Fit::Doubt } else { fit };
    program_fits(wanted, program).min(fit).min(plain)
}

/// Whether the words of a pattern stand behind an option that may take the word after it for its value: `fly -a web deploy`.
fn fits_elsewhere(command: &SimpleCommand, pattern: &[&str], words: &[Word]) -> Fit {
    let is_option = |word: &Word| matches!(word, Word::Known(text) if text.starts_with('-'));
    let may = command.unplaced || (command.unheard && words.first().is_some_and(is_option));
    let names = pattern.first().is_some_and(|wanted| !wanted.starts_with(['-', '*']));
    let mut later = (1..words.len()).filter_map(|at| words.get(at..));
    if may && names && later.any(|words| words_fit(pattern, words) != Fit::No) { Fit::Doubt } else { Fit::No }
}

/// Whether the words of a pattern stand behind a toolchain: `cargo +nightly publish`.
fn fits_behind_toolchain(pattern: &[&str], arguments: &[Word]) -> bool {
    let Some((first, rest)) = arguments.split_first() else { return false };
    matches!(first, Word::Known(text) if text.starts_with('+')) && words_fit(pattern, rest) != Fit::No
}

/// Whether the words of a pattern are those of a command of `npm` of which the beginning is given: `npm publis`.
fn fits_in_full(program: &Word, pattern: &[&str], arguments: &[Word]) -> bool {
    let Some((Word::Known(first), rest)) = arguments.split_first() else { return false };
    let Some((wanted, pattern)) = pattern.split_first() else { return false };
    let full = npm::meant(first);
    full != first
        && program_fits("npm", program) != Fit::No
        && text_fits(wanted, full)
        && words_fit(pattern, rest) != Fit::No
}

/// Whether a text that was not read as a line of the shell has the program of a pattern as a word.
pub(crate) fn mentions(text: &str, pattern: &str) -> bool {
    let program = pattern.split_whitespace().next().unwrap_or_default();
    let of_name = |letter: char| letter.is_alphanumeric() || ['-', '_', '.'].contains(&letter);
    let mut words = text.split(|letter| !of_name(letter));
    words.any(|word| !word.is_empty() && text_fits(&program.to_lowercase(), &word.to_lowercase()))
}

/// The variables that change how programs print or log in, and nothing of what they do.
const PLAIN_VARIABLES: [&str; 11] = [
    "CI",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "MYSQL_PWD",
    "NO_COLOR",
    "PGPASSWORD",
    "RUST_BACKTRACE",
    "TERM",
    "TZ",
];

/// Whether an assignment of the variable leaves a command what it is.
pub(crate) fn is_plain_variable(name: &str) -> bool {
    PLAIN_VARIABLES.contains(&name)
}

impl Word {
    /// Its text, where that is known.
    pub fn known(&self) -> Option<&str> {
        if let Self::Known(text) = self { Some(text) } else { None }
    }
}

/// Whether a command has no assignments that may change what it does, and no redirection that reads or writes a file.
pub fn is_plain(command: &SimpleCommand) -> bool {
    is_plain_but(command, false)
}

/// As [`is_plain`]; with `fed`, its input may come from a file or stand in the line.
pub(crate) fn is_plain_but(command: &SimpleCommand, fed: bool) -> bool {
    command.assignments.iter().all(|(name, _)| is_plain_variable(name)) && uses_no_file_but(command, fed)
}

/// Whether a command has no redirection that reads or writes a file.
pub fn uses_no_file(command: &SimpleCommand) -> bool {
    uses_no_file_but(command, false)
}

fn uses_no_file_but(command: &SimpleCommand, fed: bool) -> bool {
    let feeds = |operator: &str| fed && matches!(operator, "<" | "0<" | "<<" | "<<-" | "<<<");
    command.redirections.iter().all(|(operator, target)| feeds(operator) || is_harmless(operator, target))
}

/// Whether a program is one of the system, by its folder.
pub(crate) fn is_of_system(program: &str) -> bool {
    SYSTEM_FOLDERS.iter().any(|folder| program.strip_prefix(folder).is_some_and(|name| !name.contains('/')))
}

/// The words of a command after those that it surely begins with. Options of the program before its subcommand are passed
/// over where they have no value.
pub(crate) fn after<'c>(command: &'c SimpleCommand, start: &str) -> Option<&'c [Word]> {
    let (program, mut rest) = command.words.split_first()?;
    let mut wanted = start.split(' ');
    if program_fits(wanted.next()?, program) != Fit::Yes {
        return None;
    }
    let options = usize::try_from(command.global_options).unwrap_or(usize::MAX);
    if let Some((passed, others)) = rest.split_at_checked(options).filter(|(passed, _)| passed.iter().all(is_flag)) {
        rest = if passed.is_empty() { rest } else { others };
    }
    for word in wanted {
        let (first, others) = rest.split_first()?;
        if !matches!(first, Word::Known(text) if text == word) {
            return None;
        }
        rest = others;
    }
    Some(rest)
}

fn program_fits(wanted: &str, program: &Word) -> Fit {
    let Word::Known(program) = program else { return Fit::Doubt };
    if text_fits(wanted, program) {
        return Fit::Yes;
    }
    let Some((_, name)) = program.rsplit_once('/') else { return Fit::No };
    match text_fits(wanted, name) {
        true if is_of_system(program) => Fit::Yes,
        true => Fit::Doubt,
        false => Fit::No,
    }
}

/// Whether a word is an option without a value.
pub(crate) fn is_flag(word: &Word) -> bool {
    matches!(word, Word::Known(text) if text.starts_with('-') && !text.contains('='))
}

/// Whether a redirection joins descriptors or leads to nowhere.
fn is_harmless(operator: &str, target: &Word) -> bool {
    let Word::Known(target) = target else { return false };
    let descriptor = || target == "-" || (!target.is_empty() && target.bytes().all(|byte| byte.is_ascii_digit()));
    target == "/dev/null" || (operator.ends_with('&') && descriptor())
}

/// The pattern is walked once a word: which of its beginnings the words so far can stand for, and how surely.
fn words_fit(pattern: &[&str], words: &[Word]) -> Fit {
    let mut reached = vec![Fit::No; pattern.len().saturating_add(1)];
    if let Some(start) = reached.first_mut() {
        *start = Fit::Yes;
    }
    pass_stars(pattern, &mut reached);
    for word in words {
        let mut next = vec![Fit::No; reached.len()];
        for (at, so_far) in reached.iter().enumerate().filter(|(_, fit)| **fit != Fit::No) {
            let wanted = pattern.get(at).copied();
            let mut reach = |place: usize, fit: Fit| {
                if let Some(slot) = next.get_mut(place) {
                    *slot = fit.max(*slot);
                }
            };
            if wanted == Some("*") {
                reach(at, *so_far);
            }
            match word {
                Word::Known(text) if wanted.is_some_and(|wanted| wanted != "*" && text_fits(wanted, text)) => {
                    reach(at.saturating_add(1), *so_far);
                }
                Word::Known(_) => {}
                Word::Value => match wanted {
                    Some("*") | None => {}
                    // Any one word.
                    Some("**") => reach(at.saturating_add(1), *so_far),
                    Some(option) if option.starts_with('-') => {}
                    Some(_) => reach(at.saturating_add(1), (*so_far).min(Fit::Doubt)),
                },
                // It may stand for no word, or for several.
                Word::Unknown => (at..=pattern.len()).for_each(|place| reach(place, (*so_far).min(Fit::Doubt))),
            }
        }
        reached = next;
        pass_stars(pattern, &mut reached);
    }
    reached.last().copied().unwrap_or(Fit::No)
}

fn pass_stars(pattern: &[&str], reached: &mut [Fit]) {
    for (at, _) in pattern.iter().enumerate().filter(|(_, wanted)| **wanted == "*") {
        let here = reached.get(at).copied().unwrap_or(Fit::No);
        if let Some(slot) = reached.get_mut(at.saturating_add(1)) {
            *slot = here.max(*slot);
        }
    }
}

/// Whether every command that the second pattern selects is selected by the first too.
pub fn covers(outer: &str, inner: &str) -> bool {
    let word = |word: &str| if word.contains('*') { Word::Unknown } else { Word::Known(word.to_string()) };
    outer == inner || fits(&command(inner.split_whitespace().map(word).collect()), outer) == Fit::Yes
}

/// The likeliest command that a pattern selects: the pattern without `*`. `None` if a word is known only in part, or if
/// the pattern is a line that does more than run one command.
pub fn sample(pattern: &str) -> Option<SimpleCommand> {
    let special = |c: char| "|&;<>()$`\"'\\*?[]{}#~!=%\n".contains(c);
    let words: Vec<&str> = pattern.split_whitespace().filter(|word| *word != "*").collect();
    let plain = |word: &&str| !word.strip_prefix("--").unwrap_or(word).contains(special);
    let known = |word: &&str| Word::Known((*word).to_string());
    (!words.is_empty() && words.iter().all(plain)).then(|| command(words.iter().map(known).collect()))
}

/// A command of these words, of which nothing is known.
pub fn command(words: Vec<Word>) -> SimpleCommand {
    SimpleCommand {
        words,
        assignments: Vec::new(),
        redirections: Vec::new(),
        span: (0, 0),
        verdict: Verdict::Unknown,
        starts: Vec::new(),
        global_options: 0,
        unplaced: false,
        led_plainly: false,
        pushes_other: false,
        beside: Vec::new(),
        status: Status::Own,
        transparent: false,
        launched: false,
        alias: false,
        repeats: false,
        runs_in: RunsIn::Root,
        tests: None,
        registered: None,
        because: None,
        network: false,
        besides: false,
        looks: false,
        unheard: false,
        obeyed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(line: &str, global_options: u32) -> SimpleCommand {
        let word = |word: &str| if word == "$" { Word::Unknown } else { Word::Known(word.to_string()) };
        SimpleCommand { global_options, ..command(line.split(' ').map(word).collect()) }
    }

    #[test]
    fn words_are_compared_one_by_one() {
        let cases = [
            ("git push", "git push", Fit::Yes),
            ("git push", "git push -f", Fit::No),
            ("git push *", "git push", Fit::Yes),
            ("git push *", "git push -f origin", Fit::Yes),
            ("git push *", "/usr/bin/git push", Fit::Yes),
            ("git push *", "./git push", Fit::Doubt),
            ("git push *", "git commit -m push", Fit::No),
            ("git push * --force *", "git push origin --force main", Fit::Yes),
            ("git push * --force *", "git push origin main", Fit::No),
            ("git push * --force *", "git push $ main", Fit::Doubt),
            ("git push *", "git push $", Fit::Yes),
            ("git push", "git push $", Fit::Doubt),
            ("git push *", "git $", Fit::Doubt),
            ("git push *", "$ push", Fit::Doubt),
            ("terraform plan * -out=*", "terraform plan -lock=false -out=next", Fit::Yes),
            ("*", "anything at all", Fit::Yes),
            ("* all", "anything at all", Fit::Yes),
        ];
        for (pattern, line, wanted) in cases {
            assert_eq!(fits(&given(line, 0), pattern), wanted, "{pattern}: {line}");
        }
    }

    #[test]
    fn options_before_the_subcommand_are_passed_over() {
        let cases = [
            ("git push *", "git -C x push", 2, Fit::Doubt),
            ("git push *", "git --no-pager push", 1, Fit::Yes),
            ("git -C x push", "git -C x push", 2, Fit::Yes),
            ("git push *", "git --git-dir=x push", 1, Fit::Doubt),
            ("git push *", "git -C push commit", 2, Fit::No),
            ("cargo publish *", "cargo +nightly publish", 0, Fit::Doubt),
            ("cargo publish *", "cargo +nightly test publish", 0, Fit::No),
        ];
        for (pattern, line, options, wanted) in cases {
            assert_eq!(fits(&given(line, options), pattern), wanted, "{pattern}: {line}");
        }
    }

    #[test]
    fn a_subcommand_may_stand_behind_the_value_of_an_option() {
        let unplaced = |line, options| SimpleCommand { unplaced: true, ..given(line, options) };
        let unheard = |line| SimpleCommand { unheard: true, ..given(line, 0) };
        let cases = [
            (unplaced("fly -a web deploy", 1), Fit::Doubt),
            (unplaced("fly -a web --now deploy x", 1), Fit::Doubt),
            (unplaced("fly -a web logs", 1), Fit::No),
            (unheard("fly -a web deploy"), Fit::Doubt),
            (unheard("fly logs deploy"), Fit::No),
            (given("fly -a web deploy", 1), Fit::No),
        ];
        cases
            .into_iter()
            .for_each(|(command, wanted)| assert_eq!(fits(&command, "fly deploy *"), wanted, "{command:?}"));
    }

    #[test]
    fn a_pattern_covers_what_it_selects() {
        let cases = [
            ("git push *", "git push", true),
            ("git push *", "git push *", true),
            ("git *", "git push *", true),
            ("git push", "git push *", false),
            ("git push *", "git *", false),
            ("git push * -f *", "git push -f", true),
        ];
        cases
            .into_iter()
            .for_each(|(outer, inner, wanted)| assert_eq!(covers(outer, inner), wanted, "{outer}: {inner}"));
    }

    #[test]
    fn of_options_that_exclude_one_another_the_last_holds() {
        let words = |line: &str| -> Vec<Word> { line.split(' ').map(|word| Word::Known(word.into())).collect() };
        for (line, holds) in [
            ("git push -n --no-dry-run", Some("git push --no-dry-run")),
            ("git push --no-dry-run -n", Some("git push -n")),
            ("npm version --no-git-tag-version --git-tag-version", Some("npm version --git-tag-version")),
            ("npm version --git-tag-version=false --git-tag-version", Some("npm version --git-tag-version")),
            ("git push --force --no-force", Some("git push --no-force")),
            ("git push --tags --follow-tags", None),
            ("git commit --no-verify -m x", None),
            ("cargo test --fail-fast --no-fail-fast", None),
        ] {
            assert_eq!(in_effect(&words(line)), holds.map(words), "{line}");
        }
    }
}
