//! The subject of a denial: the call, as the agent that made it knows it.

use serde_json::Value;

use crate::answers::phrase;
use crate::calls::analysis::{Access, SimpleCommand, Word};
use crate::calls::tool::Call;
use crate::prelude::*;
use crate::values::one_line::one_line;

/// The call: its command, where it has one alone; else its tool, with the first file that it changes or reads.
pub(crate) fn of_call(call: &Call) -> String {
    // What a record leaves out cannot be said again.
    if call.analysis.unsaid {
        return call.tool.name.clone();
    }
    if let [command] = call.analysis.commands.as_slice() {
        return of_command(call, command);
    }
    let tool = &call.tool.name;
    let paths = &call.analysis.paths;
    let named = call.analysis.commands.is_empty().then(|| {
        let changed = paths.iter().find(|path| matches!(path.access, Access::Write | Access::Remove));
        changed.or_else(|| paths.first())
    });
    let path = named.flatten().filter(|path| !path.written.is_empty());
    path.map_or_else(
        || tool.clone(),
        |path| format!("{tool} of {}", phrase::shortened(path.resolved.as_deref().unwrap_or(&path.written))),
    )
}

/// A command of the call in backticks, as it stands in the line; else its words, as far as they are known.
pub(crate) fn of_command(call: &Call, command: &SimpleCommand) -> String {
    let (start, end) = (usize::try_from(command.span.0).ok(), usize::try_from(command.span.1).ok());
    let line = call.command().and_then(Value::as_str);
    if let (Some(line), Some(start), Some(end)) = (line, start, end)
        && let Some(typed) = line.get(start..end).filter(|typed| !typed.is_empty())
    {
        return format!("`{}`", phrase::shortened(&one_line(typed)));
    }
    let words = command.words.iter().map(|word| match word {
        Word::Known(text) => text.as_str(),
        Word::Unknown | Word::Value => "\u{2026}",
    });
    format!("`{}`", phrase::shortened(&words.collect::<Vec<_>>().join(" ")))
}
