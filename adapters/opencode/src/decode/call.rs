//! Calls, before and after they run.

use phasegate_adapter::Problem;
use phasegate_core::event::{By, Outcome};
use phasegate_core::{Code, EventKind};
use serde_json::Value;

use crate::memory::{Kept, Open};
use crate::outcome::{self, Ending};
use crate::tools::{self, Named};
use crate::wire::{Told, ToolAnswer, ToolArgs, ToolInput};

/// A call is about to run; and the skill that it invokes, if it does.
pub(super) fn before(message: &Told<'_>, kept: &mut Kept) -> Result<Vec<EventKind>, Problem> {
    let ToolInput { tool: native, call_id, .. } = message.input()?;
    if let Some(changed) = kept.changed() {
        return Err(Problem::new(
            Code::BadInput,
            format!(
                "a call of `{changed}` ran with other arguments than those that were decided: another plugin changes calls after the guard; \
                 nothing that is decided here would be what runs, until the client is started without that plugin"
            ),
        ));
    }
    let input = message.output::<ToolArgs>()?.args;
    let named = tools::canonical(&native, &message.head.servers, &input)?;
    kept.opened((&call_id, &message.head.session.id), &native, &input);
    let skill = (named.server.is_none() && named.tool == "Skill").then(|| skill(&input)).flatten();
    let analysis = tools::analysis(&named, &input);
    let labels = tools::labels(&named);
    let background = native == "task" && input.get("background").and_then(Value::as_bool) == Some(true);
    let Named { tool, native, server } = named;
    let call = EventKind::ToolCall { id: Some(call_id), tool, native, server, input, labels, background, analysis };
    Ok(std::iter::once(call).chain(skill).collect())
}

/// The skill that a call of the client's own tool invokes.
fn skill(input: &Value) -> Option<EventKind> {
    let name = input.get("name")?.as_str()?.to_owned();
    Some(EventKind::Skill { name, args: None, by: By::Agent })
}

/// A call ran. Ran it with other arguments than those that were decided, it proves nothing, and nothing after it is sure.
pub(super) fn after(message: &Told<'_>, kept: &mut Kept) -> Result<Option<EventKind>, Problem> {
    let ToolInput { tool, call_id, args } = message.input()?;
    let answer: ToolAnswer = message.output()?;
    let Some(open) = kept.ended(&call_id) else { return Ok(None) };
    let same = args.is_none_or(|args| open.had(&args));
    if !same {
        kept.tampered(&tool);
    }
    let named = tools::canonical(&tool, &message.head.servers, &Value::Null)?;
    let own = named.server.is_none().then_some(tool.as_str());
    let ending = if same { outcome::ran(own, &answer) } else { Ending::of(Outcome::Unknown) };
    if let (Outcome::Launched, Some(agent)) = (ending.outcome, outcome::subagent(&answer)) {
        kept.launched(agent, &call_id);
    }
    Ok(Some(result(call_id, ending)))
}

/// A call's part shows that it ended, and no hook told it: an error before or in it, or a call of the user's own.
pub(super) fn part_ended(call: String, answer: &ToolAnswer, kept: &mut Kept) -> Option<EventKind> {
    let open: Open = kept.ended(&call)?;
    let failed = answer.status.as_deref() == Some("error");
    let same = failed || answer.input.as_ref().is_none_or(|input| open.had(input));
    if !same {
        kept.tampered(&open.tool);
    }
    let ending = match answer.status.as_deref() {
        Some("error") => outcome::failed(answer.error.as_deref().unwrap_or_default()),
        _ if same => outcome::ran(Some(&open.tool), answer),
        _ => Ending::of(Outcome::Unknown),
    };
    Some(result(call, ending))
}

/// A call's end. What the call answered is left out: no policy reads it, and it may hold anything.
fn result(id: String, ending: Ending) -> EventKind {
    EventKind::ToolResult {
        id: Some(id),
        outcome: Some(ending.outcome),
        ok: None,
        exit_code: ending.exit_code,
        output: None,
        tool: None,
        input: None,
    }
}
