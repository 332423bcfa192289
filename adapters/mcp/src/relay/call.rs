//! A call of the client: decided, and only then forwarded.

use phasegate_adapter::Problem;
use phasegate_adapter::guarded::{Denial, Proposed, Ruling};
use phasegate_core::{Code, Decision};

use super::act::{Act, Asked};
use super::elicitation;
use super::multiplexed;
use super::pending::{OpenCall, Pending};
use super::shared::{Shared, warn_of};
use crate::denial;
use crate::encode;
use crate::events::{self, Named};
use crate::message::Message;
use crate::message::id::Id;
use crate::message::own;
use crate::message::tool_call::Call;

/// Where a call goes.
struct Target {
    server: usize,
    /// The tool's own name there.
    tool: String,
}

pub(super) async fn decide(shared: &Shared, message: Message, id: Id) -> Act {
    decide_as(shared, message, id, None).await
}

/// Decides a call again that a person was asked about and that has this id in the guard's records. Nobody is asked twice.
pub(super) async fn decide_again(shared: &Shared, asked: Asked) -> Act {
    let Asked { message, id, call, .. } = asked;
    decide_as(shared, message, id, Some(call)).await
}

/// Whether the relay answers calls of its own tools: in a project that nothing guards, they are those of a server.
async fn answers_itself(shared: &Shared) -> bool {
    shared.servers.is_empty() || (shared.own_tools() && !shared.calls.unguarded().await)
}

async fn decide_as(shared: &Shared, message: Message, id: Id, asked: Option<String>) -> Act {
    let mut call = match Call::read(&message) {
        Ok(call) => call,
        Err(text) => {
            let json = encode::failed(Some(&id), -32602, &text, Some(Code::BadInput));
            return Act::Answer(id, json);
        }
    };
    if own::is_own(&call.name) && answers_itself(shared).await {
        return own(shared, &call, id).await;
    }
    let Some(target) = target(shared, &call.name) else {
        let text = format!("there is no tool `{}`", call.name);
        return Act::Answer(id.clone(), encode::failed(Some(&id), -32602, &text, None));
    };
    let session = shared.session_now();
    let Some(server) = shared.servers.get(target.server) else { return Act::Drop };
    let labels = server.known(&target.tool).labels;
    let is_new = asked.is_none();
    let call_id = asked.unwrap_or_else(|| shared.calls.fresh_id());
    let named = Named { id: call_id.clone(), server: &server.name, tool: &target.tool, labels };
    let proposed = Proposed {
        event: events::tool_call(&call.name, std::mem::take(&mut call.input), named),
        host_ids: call.host_ids,
        stated: None,
    };
    let ruled = shared.calls.propose(&session, proposed).await;
    let open = match ruled.ruling {
        Ruling::DecidedByHost => OpenCall { guarded: None, warning: None },
        Ruling::Unguarded => {
            shared.observe(None);
            OpenCall { guarded: None, warning: None }
        }
        Ruling::Runs { call, warning } => {
            shared.observe(ruled.step.as_ref());
            let warning = warning.map(|decision| warned(&decision));
            OpenCall { guarded: Some(call), warning }
        }
        Ruling::Denied(why) => {
            match &why {
                Denial::Problem(problem) if ruled.step.is_none() => warn_of(problem),
                _ => shared.observe(ruled.step.as_ref()),
            }
            let form = shared.form(Some(target.server), &target.tool, call.modern);
            if is_new && let Some(decision) = elicitation::question(shared, &why) {
                let asked = Asked { message, id, call: call_id, session, decision, tool: call.name, form };
                return Act::Question(Box::new(asked));
            }
            elicitation::unasked(shared, &session, &why, &call_id).await;
            let denied = denial::of(&why, &call.name);
            return Act::Answer(id.clone(), encode::answered(&id, &denied.result(form)));
        }
    };
    let message = if shared.servers.len() > 1 { multiplexed::own_name(message, &target.tool) } else { message };
    Act::Ask(target.server, message, Pending::Call(Box::new(open)))
}

/// The warning that the agent reads beside the answer; the log has it too.
fn warned(decision: &Decision) -> String {
    tracing::warn!("{}", encode::warning(decision));
    denial::warning(decision)
}

/// A call of one of the guard's own tools.
async fn own(shared: &Shared, call: &Call, id: Id) -> Act {
    let form = shared.form(None, &call.name, call.modern);
    let session = shared.session_now();
    let result = match shared.give(&session, own::command(call)).await {
        Ok(Some(step)) => own::result(&step, form),
        Ok(None) => denial::problem(&call.name, &Problem::new(Code::PolicyMissing, "no config guards this project"))
            .result(form),
        Err(problem) => denial::problem(&call.name, &problem).result(form),
    };
    Act::Answer(id.clone(), encode::answered(&id, &result))
}

/// The server and the tool that a name stands for.
fn target(shared: &Shared, name: &str) -> Option<Target> {
    if shared.servers.len() == 1 {
        return Some(Target { server: 0, tool: name.to_owned() });
    }
    shared.split(name).map(|(server, tool)| Target { server, tool: tool.to_owned() })
}
