//! Paths in a config.

use phasegate_core::Code;

use crate::node::Span;
use crate::report::Finding;

/// A file of the project, without `.` parts.
pub(crate) fn file(written: &str, span: Span) -> Result<String, Finding> {
    if is_absolute(written) {
        return Err(outside(written, span, "it is absolute"));
    }
    if written.contains('*') {
        return Err(Finding::error(Code::ConfigValue, span, format!("`{written}` is not the path of one file"))
            .suggest("name the file"));
    }
    tidy(written, span)
}

/// A file, or a folder and everything below it (`src/**`); relative to the project, or absolute.
pub(crate) fn pattern(written: &str, span: Span) -> Result<String, Finding> {
    let unsupported = |message: &str, suggestion: String| {
        Err(Finding::error(Code::MatcherUnsupported, span, message).suggest(suggestion))
    };
    let folder = written.strip_suffix("/**");
    let body = folder.unwrap_or(written);
    if body.contains('*') {
        return unsupported(
            "a star in a path stands for everything below a folder only",
            "name a file (`src/main.rs`) or a folder (`src/**`)".into(),
        );
    }
    if body.ends_with('/') {
        return unsupported("a path ends in a slash", format!("write `{body}**` for everything below the folder"));
    }
    let root = if body.starts_with('/') { "/" } else { "" };
    let tidied = tidy(body, span)?;
    Ok(format!("{root}{tidied}{}", if folder.is_some() { "/**" } else { "" }))
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

fn outside(written: &str, span: Span, why: &str) -> Finding {
    Finding::error(Code::PathOutside, span, format!("`{written}` leads out of the project")).cause(why)
}
