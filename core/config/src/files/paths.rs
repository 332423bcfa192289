//! Paths in a config.

use phasegate_core::Code;
use phasegate_core::values::glob::{choices, count};

use crate::read::node::Span;
use crate::read::report::Finding;

/// The most texts that the braces of a path stand for, together.
const MAX_CHOICES: usize = 1024;

/// A file of the project, without `.` parts.
pub(crate) fn file(written: &str, span: Span) -> Result<String, Finding> {
    if is_absolute(written) {
        return Err(outside(written, span, "it is absolute"));
    }
    if written.contains(['*', '?']) || count(written) > 1 {
        return Err(Finding::error(Code::ConfigValue, span, format!("`{written}` is not the path of one file"))
            .suggest("name the file; several files are an artifact, which a person approves by its name"));
    }
    tidy(written, span)
}

/// A path with `*`, `?`, `**` and `{a,b}`; relative to the project, or absolute.
pub(crate) fn pattern(written: &str, span: Span) -> Result<String, Finding> {
    let unsupported = |message: &str, suggestion: String| {
        Err(Finding::error(Code::MatcherUnsupported, span, message).suggest(suggestion))
    };
    if written.strip_prefix('@').is_some_and(is_name) {
        return unsupported("a group of files cannot stand here", "write the paths".into());
    }
    if written.ends_with('/') {
        return unsupported("a path ends in a slash", format!("write `{written}**` for everything below the folder"));
    }
    if let Some(rest) = ["~/", "${HOME}/", "$HOME/"].iter().find_map(|home| written.strip_prefix(home)) {
        return Err(outside(written, span, "no path has the sign for a home folder in it")
            .suggest(format!("write `/**/{rest}`, which selects it in every folder, the home folder too")));
    }
    let open = written.chars().filter(|c| *c == '{').count();
    if open != written.chars().filter(|c| *c == '}').count() {
        return unsupported("a brace in a path has no partner", "write `{a,b}` for one of two texts".into());
    }
    if open > MAX_CHOICES || count(written) > MAX_CHOICES {
        return unsupported(
            "a path stands for too many texts",
            format!("write fewer braces: together they may stand for {MAX_CHOICES} texts"),
        );
    }
    let two_stars =
        |choice: &String| choice.split('/').find(|part| part.contains("**") && *part != "**").map(ToString::to_string);
    if let Some(part) = choices(written).iter().find_map(two_stars) {
        return unsupported(
            "two stars in a path stand for whole folders only",
            format!("write `{}`, or a `**` between slashes", part.replace("**", "*")),
        );
    }
    let root = if written.starts_with('/') { "/" } else { "" };
    Ok(format!("{root}{}", tidy(written, span)?))
}

/// Whether a text is a name of a group of files.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

fn tidy(written: &str, span: Span) -> Result<String, Finding> {
    if written == "~" || written.starts_with("~/") {
        return Err(outside(written, span, "it is in a home folder"));
    }
    let parts: Vec<&str> = written.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(outside(written, span, "it goes up with `..`"));
    }
    if parts.is_empty() {
        return Err(Finding::error(Code::MatcherEmpty, span, format!("`{written}` names no file"))
            .suggest("name a file or a folder (`src/**`)"));
    }
    Ok(parts.join("/"))
}

fn is_absolute(written: &str) -> bool {
    written.starts_with(['/', '\\']) || written.chars().nth(1) == Some(':')
}

pub(crate) fn outside(written: &str, span: Span, why: &str) -> Finding {
    Finding::error(Code::PathOutside, span, format!("`{written}` leads out of the project")).cause(why)
}
