//! A call of the client: decided, and only then forwarded.

use phasegate_adapter::Problem;
use phasegate_core::{Code, Decision, Effect, Event, EventKind};

use super::down::Act;
use super::several::{self, BETWEEN};
use super::shared::{OpenCall, Pending, Server, Shared};
use crate::call::Call;
use crate::denial::{self, Denied};
use crate::encode;
use crate::events::{self, Named};
use crate::id::Id;
use crate::message::Message;
use crate::own;

/// Where a call goes.
struct Target {
    server: usize,
    /// The tool's own name there.
    tool: String,
}

pub(super) async fn decide(shared: &Shared, message: Message, id: Id) -> Act {
    let call = match Call::read(&message) {
        Ok(call) => call,
        Err(text) => {
            let json = encode::failed(Some(&id), -32602, &text, Some(Code::BadInput));
            return Act::Answer(id, json);
        }
    };
    if (shared.own_tools() || shared.servers.is_empty()) && own::is_own(&call.name) {
        return own(shared, &call, id).await;
    }
    let Some(target) = target(shared, &call.name) else {
        let text = format!("there is no tool `{}`", call.name);
        return Act::Answer(id.clone(), encode::failed(Some(&id), -32602, &text, None));
    };
    let (session, host) = shared.session_now();
    let Some(server) = shared.servers.get(target.server) else { return Act::Drop };
    let event_id = Shared::call_id();
    let named = Named {
        id: event_id.clone(),
        server: &server.name,
        tool: &target.tool,
        labels: server.known(&target.tool).labels,
    };
    let event = events::tool_call(&call, named);
    let message = if shared.servers.len() > 1 { several::own_name(message, &target.tool) } else { message };
    let open = |id, warning| OpenCall { id, session: session.clone(), tool: target.tool.clone(), warning };
    if host && decided_by_host(shared, &session, &event, &call).await {
        return Act::Ask(target.server, message, Pending::Call(open(None, None)));
    }
    let form = shared.form(Some(target.server), &target.tool, call.modern);
    let judged = match shared.give(&session, event).await {
        Ok(None) => Ok(None),
        Ok(Some(step)) => match step.decision {
            Some(decision) => judged(shared, &decision),
            None => Err(denial::problem(&call.name, &Problem::new(Code::BadInput, "the call was not decided"))),
        },
        Err(problem) => Err(denial::problem(&call.name, &problem)),
    };
    match judged {
        Err(denied) => Act::Answer(id.clone(), encode::answered(&id, &denied.result(form))),
        Ok(warning) => Act::Ask(target.server, message, Pending::Call(open(Some(event_id), warning))),
    }
}

/// Whether the host's own guard has decided and recorded this very call.
async fn decided_by_host(shared: &Shared, session: &str, event: &EventKind, call: &Call) -> bool {
    !call.marks.is_empty() && {
        let event = Event::new(session, event.clone());
        shared.guard.decided(session, &event, call.marks.clone()).await
    }
}

/// The denial that a decision is; else what the agent is told beside the answer.
fn judged(shared: &Shared, decision: &Decision) -> Result<Option<String>, Denied> {
    let names = |tool: &str, server: Option<&str>| shared.name_of(tool, server);
    if !decision.lets_through() {
        return Err(denial::denial(decision, &names));
    }
    if decision.effect != Effect::Warn {
        return Ok(None);
    }
    tracing::warn!("{}", encode::warning(decision));
    Ok(Some(denial::warning(decision, &names)))
}

/// A call of one of the guard's own tools.
async fn own(shared: &Shared, call: &Call, id: Id) -> Act {
    let form = shared.form(None, &call.name, call.modern);
    let (session, _) = shared.session_now();
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

impl Shared {
    /// The name by which the client calls a tool: one of several servers' has the server's name before it.
    pub(super) fn name_of(&self, tool: &str, server: Option<&str>) -> String {
        if self.servers.len() < 2 || own::is_own(tool) {
            return tool.to_owned();
        }
        let has = |known: &&Server| server.map_or_else(|| known.has(tool), |name| known.name == name);
        let mut owners = self.servers.iter().filter(has);
        match (owners.next(), owners.next()) {
            (Some(owner), None) => format!("{}{BETWEEN}{tool}", owner.name),
            _ => tool.to_owned(),
        }
    }
}
