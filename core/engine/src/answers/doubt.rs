//! Doubt: why a call may be what a line of the policy means and is not surely so, in the words of a denial.

use alloc::borrow::Cow;
use core::cmp::Reverse;

use crate::answers::phrase;
use crate::calls::analysis::{Access, PathUse, SimpleCommand, UNKNOWN, UNNAMED, Verdict, Word};
use crate::policy::matcher::{ArgTest, Matcher, PathTest, Servers, Subject, Use};
use crate::prelude::*;
use crate::shell::words;
use crate::state::redacted_tests::Fit;

/// A line of the policy that a denial names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedLine {
    /// The line, in backticks.
    pub line: Box<str>,
    /// Why the call may be what it means, where it is not surely so: a clause without its conjunction.
    pub doubt: Option<Box<str>>,
    /// What a call does that the line selects, as a predicate: `writes source code`. Only where the line says that alone.
    pub does: Option<Box<str>>,
}

/// How a doubt begins about a program that nobody can see into.
const UNSEEN: &str = "nobody can see which files it ";
/// How one ends about a command that names no file.
const NAMES_NONE: &str = " files that it does not name";

impl NamedLine {
    /// Whether the call names no file that the line could mean, so that which line that is says nothing.
    pub(crate) fn is_about_no_name(&self) -> bool {
        self.doubt.as_ref().is_some_and(|doubt| doubt.starts_with(UNSEEN) || doubt.ends_with(NAMES_NONE))
    }

    /// A line, and why it may mean the call.
    pub(crate) fn of(matcher: &Matcher, subject: Subject<'_>, servers: Servers<'_>, used: Use) -> Self {
        let narrowed = narrowed(matcher, subject);
        let doubt = why(matcher, subject, servers, used);
        let line = phrase::quoted(&narrowed).into();
        Self { line, doubt: doubt.map(Into::into), does: phrase::predicate(&narrowed).map(Into::into) }
    }
}

/// The matcher with those of its commands first that fit the call best.
fn narrowed<'m>(matcher: &'m Matcher, subject: Subject<'_>) -> Cow<'m, Matcher> {
    if matcher.commands.len() < 2 {
        return Cow::Borrowed(matcher);
    }
    let fit = |wanted: &String| Matcher::fits_one_command(wanted, subject.call, subject.labels);
    let mut commands = matcher.commands.clone();
    commands.sort_by_key(|wanted| Reverse(fit(wanted)));
    Cow::Owned(Matcher { commands, ..matcher.clone() })
}

/// Why the matcher is in doubt about the call; `None`: it is not, or nothing more can be said.
fn why(matcher: &Matcher, subject: Subject<'_>, servers: Servers<'_>, used: Use) -> Option<String> {
    if matcher.fit(subject, servers, used) != Fit::Doubt {
        return None;
    }
    let labels = subject.labels;
    let command = (matcher.fits_command(subject.call, labels) == Fit::Doubt).then(|| of_command(matcher, subject));
    let argument = || matcher.args.iter().find(|test| test.fits(subject.call) == Fit::Doubt).map(of_argument);
    let analysis = &subject.call.analysis;
    let was_read = !analysis.commands.is_empty() || !analysis.paths.is_empty();
    let mut paths = matcher.paths.iter().filter(|test| was_read && test.fits(subject, used) == Fit::Doubt);
    command.flatten().or_else(argument).or_else(|| paths.next().map(|test| of_path(test, subject, used)))
}

fn of_argument(test: &ArgTest) -> String {
    format!("its argument `{}` is missing or is of another type", test.path)
}

fn of_command(matcher: &Matcher, subject: Subject<'_>) -> Option<String> {
    let commands = &subject.call.analysis.commands;
    let doubtful = |command: &&SimpleCommand| matcher.fits_words(command) == Fit::Doubt;
    match commands.iter().find(doubtful) {
        Some(command) => of_words(command),
        None => (commands.len() > 1).then(|| "its line has other commands too".to_string()),
    }
}

fn of_words(command: &SimpleCommand) -> Option<String> {
    if let Some((name, _)) = command.assignments.iter().find(|(name, _)| !words::is_plain_variable(name)) {
        return Some(format!("the assignment of `{name}` stands before it"));
    }
    if !words::is_plain(command) {
        return Some("a redirection reads or writes a file".to_string());
    }
    let (program, arguments) = command.words.split_first()?;
    let options = usize::try_from(command.global_options).unwrap_or(usize::MAX).min(arguments.len());
    match (program, arguments.get(options)) {
        (Word::Known(program), _) if program.contains('/') && !words::is_of_system(program) => {
            Some(format!("`{}` may be another program", phrase::shortened(program)))
        }
        (Word::Known(_), Some(Word::Known(word))) if command.alias => {
            Some(format!("`{}` may be an alias", phrase::shortened(word)))
        }
        _ if command.words.iter().any(|word| !matches!(word, Word::Known(_))) => {
            Some("a word of it is known only when it runs".to_string())
        }
        _ if command.unplaced || (options == 0 && command.unheard) => {
            Some("an option before its subcommand may take the next word".to_string())
        }
        _ if options > 0 => Some("an option with a value stands before its subcommand".to_string()),
        _ => None,
    }
}

fn of_path(test: &PathTest, subject: Subject<'_>, used: Use) -> String {
    let does = match test.access {
        Access::Read => "reads",
        Access::Write | Access::Remove => "changes",
        Access::Execute => "runs",
    };
    let analysis = &subject.call.analysis;
    let opaque = !subject.named && analysis.commands.iter().any(|command| command.verdict > Verdict::Write);
    if test.access == Access::Write && used == Use::Permit && analysis.commands.iter().any(|command| command.besides) {
        return "it changes something that is no file of its own, too".to_string();
    }
    let asked =
        |path: &&PathUse| path.access == test.access || (test.access == Access::Write && path.access == Access::Remove);
    let doubtful = |path: &&PathUse| test.fits_path(path, used) != Fit::Yes;
    let Some(path) = analysis.paths.iter().filter(asked).find(doubtful).filter(|_| !opaque) else {
        return [UNSEEN, does].concat();
    };
    match path.written.as_str() {
        UNKNOWN => format!("a path that it {does} is known only when it runs"),
        UNNAMED => format!("it {does}{NAMES_NONE}"),
        written if path.linked => {
            format!("the file `{}` has another name too, by a hard link", phrase::shortened(written))
        }
        written if test.fits_path(path, used) == Fit::No => format!("it {does} `{}` too", phrase::shortened(written)),
        written => format!("it {does} the folder `{}`", phrase::shortened(written)),
    }
}
