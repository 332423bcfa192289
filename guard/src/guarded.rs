//! A guarded handler: finds the session of a request and decides calls.

use std::sync::OnceLock;

use phasegate_adapter::Problem;
use phasegate_adapter::guarded::GuardedSession;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData, Extensions, ProtocolVersion, RequestMetaObject};
use rmcp::service::{Peer, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};

use crate::deciding::{Fate, answer, warned};
use crate::gate::Gate;
use crate::learned::Learned;
use crate::own_tools::ACTIVATE;
use crate::sessions;
use crate::sync::lock;
use phasegate_mcp::denial::{self, Form};
use phasegate_mcp::message::own::{self, HANDLE_ARGUMENT as ARGUMENT, HANDLE_META as META};
use phasegate_mcp::message::tool_call::Call;

/// Who is behind a request over HTTP, where the server does not know.
const ANYBODY: &str = "anybody";

/// A handler, every tool call of which is decided first.
pub struct Guarded<H> {
    pub(super) gate: Gate,
    pub(super) inner: H,
    /// The session of the connection that this handler was made for; none where each request gets its own handler.
    session: OnceLock<String>,
}

impl<H> Guarded<H> {
    pub(super) fn new(gate: Gate, inner: H) -> Self {
        Self { gate, inner, session: OnceLock::new() }
    }

    /// The handler itself.
    pub fn inner(&self) -> &H {
        &self.inner
    }

    /// A client shook hands with this handler: from now on its requests are of one session.
    pub(super) fn connected(&self) {
        let _ = self.session.get_or_init(|| self.gate.shared.calls.fresh_id());
    }

    /// The session that a request belongs to.
    ///
    /// # Errors
    ///
    /// It carries a handle that is not known.
    pub(super) fn session(&self, extensions: &Extensions, handle: Option<&str>) -> Result<GuardedSession, Problem> {
        let shared = &self.gate.shared;
        let over_http = over_http(extensions);
        let known = self.gate.principal.as_ref().and_then(|principal| principal(extensions));
        // Clients over HTTP are unrelated to each other, even without principals.
        let principal = known.or_else(|| over_http.then(|| ANYBODY.to_owned()));
        if let Some(session) = shared.calls.guard().host_session().filter(|_| !over_http) {
            return Ok(GuardedSession::of_others(session).of_principal(principal));
        }
        match (self.session.get(), handle.filter(|_| over_http && self.gate.handles)) {
            (Some(session), _) => Ok(GuardedSession::new(session).of_principal(principal)),
            (None, Some(handle)) => shared.handles.find(handle, principal.as_deref()),
            (None, None) => Ok(sessions::default_of(&shared.calls, principal)),
        }
    }

    /// Whether a handle may say which session a request belongs to: only where the server wants it and nothing else does.
    pub(super) fn takes_handles(&self, extensions: &Extensions) -> bool {
        self.gate.handles && over_http(extensions) && self.session.get().is_none()
    }

    /// Announces another list of tools, where lists follow the phase.
    pub(super) async fn announce(&self, moved: bool, session: &str, peer: Option<&Peer<RoleServer>>) {
        if !moved || !self.gate.hide_forbidden {
            return;
        }
        self.gate.shared.announce(session).await;
        if let Some(peer) = peer {
            // A client that is gone need not be told.
            drop(peer.notify_tool_list_changed().await);
        }
    }
}

impl Gate {
    /// The handler, guarded: what is served in its place.
    #[must_use]
    pub fn wrap<H: ServerHandler>(&self, handler: H) -> Guarded<H> {
        Guarded::new(self.clone(), handler)
    }
}

impl<H: ServerHandler> Guarded<H> {
    /// Decides a call, and lets the handler answer it or not.
    pub(super) async fn call(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let handle = if self.takes_handles(&context.extensions) { handle(&mut request, &context.meta) } else { None };
        let call = read(&request, &context);
        let known = self.learned(&call.name);
        let form = Form { modern: call.modern, declared: known.declared };
        let refused = |problem: &Problem| Ok(answer(&denial::problem(&call.name, problem), form).into());
        let own = self.gate.own_tools && own::is_own(&call.name);
        let opens = own && call.name == ACTIVATE && handle.is_none() && self.takes_handles(&context.extensions);
        let shared = &self.gate.shared;
        let opened = self.session(&context.extensions, handle.as_deref()).and_then(|session| match opens {
            true => {
                let (session, handle) = shared.handles.open(&shared.calls, session.principal)?;
                Ok((session, Some(handle)))
            }
            false => Ok((session, None)),
        });
        let (session, handle) = match opened {
            Ok(found) => found,
            Err(problem) => return refused(&problem),
        };
        // Of an earlier revision the client hears of changes whatever it does; of a later one it listens for them.
        let peer = (!call.modern).then(|| context.peer.clone());
        if own {
            let (result, moved) = self.gate.own(&call, &session, handle.as_deref()).await;
            self.announce(moved, &session.id, peer.as_ref()).await;
            return Ok(result.into());
        }
        let labels = if self.gate.trusted { known.labels } else { None };
        let (open, warning) = match shared.decide(&session, &call, labels).await {
            Fate::Plain => return self.inner.call_tool(request, context).await,
            Fate::Denied(denied) => return Ok(answer(&denied, form).into()),
            Fate::Run { open, moved, warning } => {
                self.announce(moved, &session.id, peer.as_ref()).await;
                (open, warning)
            }
        };
        let cancelled = context.ct.clone();
        let answered = self.inner.call_tool(request, context).await;
        let moved = shared.ended(open, &answered, cancelled.is_cancelled()).await;
        self.announce(moved, &session.id, peer.as_ref()).await;
        match warning {
            Some(warning) => answered.map(|answer| warned(answer, warning)),
            None => answered,
        }
    }

    /// What the server says of a tool; asked of the handler where it was not listed yet.
    fn learned(&self, tool: &str) -> Learned {
        if let Some(learned) = lock(&self.gate.shared.learned).get(tool) {
            return learned.clone();
        }
        self.inner.get_tool(tool).map(|tool| Learned::of(&tool)).unwrap_or_default()
    }
}

impl<H> Drop for Guarded<H> {
    /// The connection is gone, and its session with it.
    fn drop(&mut self) {
        let (Some(session), Ok(runtime)) = (self.session.take(), tokio::runtime::Handle::try_current()) else { return };
        let shared = std::sync::Arc::clone(&self.gate.shared);
        runtime.spawn(async move { shared.calls.end(&GuardedSession::new(session)).await });
    }
}

impl<H> std::fmt::Debug for Guarded<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guarded").field("gate", &self.gate).finish_non_exhaustive()
    }
}

fn over_http(extensions: &Extensions) -> bool {
    extensions.get::<http::request::Parts>().is_some()
}

/// The call as the guard sees it: what the handler is given, nothing else.
fn read(request: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Call {
    let input = Value::Object(request.arguments.clone().unwrap_or_default());
    let given = request.meta.iter().chain([&context.meta]).flat_map(|meta| meta.0.0.values());
    let host_ids = given.filter_map(|value| Some(value.as_str()?.to_owned())).collect();
    Call { name: request.name.clone().into_owned(), input, host_ids, modern: modern(context) }
}

fn modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The handle that the client passes with a request.
pub(super) fn passed(meta: &RequestMetaObject) -> Option<&str> {
    meta.0.0.get(META)?.as_str().filter(|handle| !handle.is_empty())
}

/// Takes the handle out of a call: the handler sees none among its arguments. Two that differ are as good as a wrong one.
fn handle(request: &mut CallToolRequestParams, meta: &RequestMetaObject) -> Option<String> {
    let argument = request.arguments.as_mut().and_then(|arguments: &mut Map<String, Value>| arguments.remove(ARGUMENT));
    let given = [argument, meta.0.0.get(META).cloned()];
    let mut handles: Vec<String> = given
        .into_iter()
        .flatten()
        .filter(|value| !value.is_null() && value.as_str() != Some(""))
        .map(|value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned))
        .collect();
    handles.dedup();
    if handles.len() > 1 { Some(handles.concat()) } else { handles.pop() }
}
