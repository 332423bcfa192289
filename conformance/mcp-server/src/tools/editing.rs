//! The tools that the shipped skills name, on the document in memory.

use rmcp::model::CallToolResult;

use super::call::{Call, failed, said};
use crate::document::{Answer, Document};
use crate::shared::Change;

/// The answer, if the tool is one of these. A tool of which `fail: true` is asked fails.
pub(super) fn answer(call: &Call<'_>) -> Option<CallToolResult> {
    let mut document = call.shared.document();
    let answer = reading(call, &document).or_else(|| writing(call, &mut document))?;
    let asked = call.arguments.get("fail").and_then(serde_json::Value::as_bool) == Some(true);
    Some(match answer {
        _ if asked => failed(format!("`{}` failed, as it was asked to", call.name)),
        Ok(text) => said(text),
        Err(problem) => failed(problem),
    })
}

fn reading(call: &Call<'_>, document: &Document) -> Option<Answer> {
    let symbol = Some(call.text("symbol")).filter(|text| !text.is_empty()).unwrap_or("greeting");
    let lines = |word: &str| document.lines_with(word);
    Some(match call.name {
        "open_document" => Ok(document.text().to_owned()),
        "get_diagnostics" => Ok(format!("{} errors", lines("error").len())),
        "go_to_symbol" => lines(symbol).first().cloned().ok_or_else(|| format!("there is no symbol `{symbol}`")),
        "find_references" => Ok(lines(symbol).join("\n")),
        "blast_radius" => Ok(format!("{} lines use `{symbol}`", lines(symbol).len())),
        "get_tests_for_file" => Ok(lines("test").join("\n")),
        "suggest_fixes" => Ok(lines("error").iter().map(|line| format!("remove line {line}\n")).collect()),
        "preview_edit" => document.edited(call.text("old"), call.text("new")),
        "simulate_chain" => simulated(call, document),
        "prepare_rename" => lines(symbol)
            .first()
            .map(|_| format!("`{symbol}` can be renamed"))
            .ok_or_else(|| format!("there is no symbol `{symbol}`")),
        "run_build" => verdict(&lines("error"), "the build passed"),
        "run_tests" => verdict(&lines("failing"), "all tests passed"),
        _ => return None,
    })
}

/// The tools that change the document; nothing is changed where they fail or only try.
fn writing(call: &Call<'_>, document: &mut Document) -> Option<Answer> {
    let tries = call.arguments.get("dry_run").and_then(serde_json::Value::as_bool) == Some(true);
    let changed = match call.name {
        "start_lsp" => Ok(Document::default().text().to_owned()),
        "apply_edit" => document.edited(call.text("old"), call.text("new")),
        "rename_symbol" => document.renamed(call.text("symbol"), call.text("new_name")),
        "format_document" => Ok(document.formatted()),
        _ => return None,
    };
    Some(changed.inspect(|text| {
        if !tries {
            document.set(text.clone());
            call.shared.changed(Change::Document);
        }
    }))
}

fn simulated(call: &Call<'_>, document: &Document) -> Answer {
    let mut copy = Document::default();
    copy.set(document.text().to_owned());
    let edits = call.arguments.get("edits").and_then(serde_json::Value::as_array);
    for edit in edits.into_iter().flatten() {
        let part = |name: &str| edit.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        let text = copy.edited(part("old"), part("new"))?;
        copy.set(text);
    }
    Ok(copy.text().to_owned())
}

fn verdict(wrong: &[String], good: &str) -> Answer {
    if wrong.is_empty() { Ok(good.to_owned()) } else { Err(wrong.join("\n")) }
}
