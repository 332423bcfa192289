//! Calls, before and after they run.

use phasegate_adapter::Problem;
use phasegate_core::calls::analysis::{CallAnalysis, Invocation};
use phasegate_core::calls::reported_numbers::Reported;
use phasegate_core::calls::tool::{AGENT, SKILL};
use phasegate_core::events::event::{By, Outcome};
use phasegate_core::shell::test_report::TestReport;
use phasegate_core::{Code, EventKind};
use serde_json::Value;

use crate::decoding::Decoding;
use crate::outcome::{self, Ending};
use crate::tools::{self, Named};
use crate::wire::{ToolAnswer, ToolArgs, ToolInput};

/// A call is about to run; and the skill that it invokes, if it does.
pub(crate) fn before(decoding: &mut Decoding<'_>) -> Result<Vec<EventKind>, Problem> {
    let ToolInput { tool: native, call_id, .. } = decoding.told.input()?;
    if let Some(changed) = decoding.memory.changed() {
        return Err(Problem::new(
            Code::BadInput,
            format!(
                "a call of `{changed}` ran with other arguments than those that were decided: another plugin changes calls after the guard; \
                 nothing that is decided here would be what runs, until the client is started without that plugin"
            ),
        ));
    }
    let input = decoding.told.output::<ToolArgs>()?.args;
    let named = tools::canonical(&native, &decoding.told.head.servers, &input)?;
    decoding.memory.note_call(&call_id);
    let skill = (named.server.is_none() && named.tool == SKILL).then(|| skill(&input)).flatten();
    let invokes = invoked(&named, skill.as_ref(), &input);
    // The title of a subagent's session begins with the description of the call.
    let starts = matches!(invokes, Some(Invocation::Agent(_)));
    let described = input.get("description").and_then(Value::as_str).filter(|_| starts);
    let starts_as = described.map(ToOwned::to_owned);
    let analysis = CallAnalysis { invokes, starts_as, ..tools::analysis(&named, &input) };
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

/// The skill or the subagent that a call invokes.
fn invoked(named: &Named, skill: Option<&EventKind>, input: &Value) -> Option<Invocation> {
    if let Some(EventKind::Skill { name, .. }) = skill {
        return Some(Invocation::Skill(name.clone()));
    }
    let kind = input.get("subagent_type")?.as_str()?;
    (named.server.is_none() && named.tool == AGENT).then(|| Invocation::Agent(kind.to_owned()))
}

/// A call ran. If it ran with other arguments than those that were decided, it proves nothing, and nothing after it is
/// sure.
pub(crate) fn after(decoding: &mut Decoding<'_>) -> Result<Option<EventKind>, Problem> {
    let ToolInput { tool, call_id, args } = decoding.told.input()?;
    let answer: ToolAnswer = decoding.told.output()?;
    if !decoding.memory.note_end(&call_id) {
        return Ok(None);
    }
    let open = decoding.session.open_call(&call_id);
    let same = args.zip(open).is_none_or(|(args, open)| open.has_input(&args));
    if !same {
        decoding.memory.note_changed(&tool);
    }
    let named = tools::canonical(&tool, &decoding.told.head.servers, &Value::Null)?;
    let own = named.server.is_none().then_some(tool.as_str());
    let ending = if same { outcome::ran(own, &answer) } else { Ending::of(Outcome::Unknown) };
    if let (Outcome::Launched, Some(agent)) = (ending.outcome, outcome::subagent(&answer)) {
        decoding.memory.launched(agent, &call_id);
    }
    Ok(Some(result(call_id, ending, kept(own, &answer))))
}

/// A call's part shows that it ended, and no hook reported it: an error before or in it, or a call of the user's own.
pub(crate) fn part_ended(
    call: String,
    tool: Option<&str>,
    answer: &ToolAnswer,
    decoding: &mut Decoding<'_>,
) -> Option<EventKind> {
    if !decoding.memory.note_end(&call) {
        return None;
    }
    if answer.status.as_deref() == Some("error") {
        return Some(result(call, outcome::failed(answer.error.as_deref().unwrap_or_default()), Kept::default()));
    }
    let open = decoding.session.open_call(&call);
    let same = answer.input.as_ref().zip(open).is_none_or(|(input, open)| open.has_input(input));
    if !same {
        decoding.memory.note_changed(tool.unwrap_or("unknown"));
    }
    let ending = if same { outcome::ran(tool, answer) } else { Ending::of(Outcome::Unknown) };
    Some(result(call, ending, kept(tool, answer)))
}

/// What is kept of what a call answered: it may hold anything.
#[derive(Default)]
struct Kept {
    tests: Vec<TestReport>,
    reported: Reported,
}

fn kept(tool: Option<&str>, answer: &ToolAnswer) -> Kept {
    Kept { tests: outcome::tests(tool, answer), reported: outcome::reported(tool, answer) }
}

/// A call's end.
fn result(id: String, ending: Ending, kept: Kept) -> EventKind {
    let Kept { tests, reported } = kept;
    EventKind::ToolResult {
        id: Some(id),
        outcome: Some(ending.outcome),
        ok: None,
        exit_code: ending.exit_code,
        output: None,
        tests,
        reported,
        tool: None,
        input: None,
    }
}
