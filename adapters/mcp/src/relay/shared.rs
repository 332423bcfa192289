//! What both directions of a relay share: the servers, what is open, and the guard.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use phasegate_adapter::guarded::{GuardedCalls, GuardedSession};
use phasegate_adapter::{Guard, Problem};
use phasegate_core::events::event::SessionSource;
use phasegate_core::{Change, Code, EventKind, Outcome};
use tokio::sync::mpsc::Sender;

use super::pending::Table;
use super::server::Server;
use crate::denial::Form;
use crate::encode;
use crate::message::Message;
use crate::message::id::Id;
use crate::options::{Options, Session};
use crate::sync::lock;
use crate::wire::link::Routed;

pub(super) struct Shared {
    pub(super) servers: Vec<Server>,
    pub(super) options: Options,
    pub(super) session: Session,
    pub(super) calls: GuardedCalls,
    pub(super) table: Mutex<Table>,
    client: Sender<Routed>,
    /// Whether the client has sent anything.
    heard: AtomicBool,
    /// Nothing guards the project: everything passes.
    plain: AtomicBool,
    /// The phase changed, and the client was not told that its list of tools did.
    changed: AtomicBool,
    closing: AtomicBool,
    /// A server has answered something.
    spoke: AtomicBool,
}

impl Shared {
    pub(super) fn new(
        servers: Vec<Server>,
        client: Sender<Routed>,
        session: Session,
        guard: Arc<dyn Guard>,
        options: Options,
    ) -> Self {
        Self {
            servers,
            calls: GuardedCalls::new(guard, "mcp").holding(options.held.clone()),
            options,
            session,
            table: Mutex::default(),
            client,
            heard: AtomicBool::new(false),
            plain: AtomicBool::new(false),
            changed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            spoke: AtomicBool::new(false),
        }
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    /// Whether the guard's own tools are offered.
    pub(super) fn own_tools(&self) -> bool {
        self.options.own_tools && !self.plain.load(Ordering::Relaxed)
    }

    /// The session that an event of now belongs to.
    pub(super) fn session_now(&self) -> GuardedSession {
        let host = self.session.host.then(|| self.calls.guard().host_session()).flatten();
        host.map_or_else(|| self.own_session(), GuardedSession::of_others).of_principal(self.session.principal.clone())
    }

    /// The relay's own session. Without a known principal no person is known to have begun it.
    fn own_session(&self) -> GuardedSession {
        let known = self.session.principal.is_some();
        let source = if known { SessionSource::Startup } else { SessionSource::Child };
        let begins = self.session.owned.then_some(source);
        GuardedSession { id: self.session.id.clone(), principal: self.session.principal.clone(), begins }
    }

    /// Gives the guard an event. `None`: nothing guards the project, now or before, so everything passes.
    ///
    /// # Errors
    ///
    /// The guard could not work.
    pub(super) async fn give(&self, session: &GuardedSession, kind: EventKind) -> Result<Option<Outcome>, Problem> {
        let step = self.calls.give(session, kind).await;
        match &step {
            Ok(step) => self.observe(step.as_ref()),
            Err(problem) => warn_of(problem),
        }
        step
    }

    /// Notes what an event changed; `None`: nothing guards the project.
    pub(super) fn observe(&self, step: Option<&Outcome>) {
        self.plain.store(step.is_none(), Ordering::Relaxed);
        if let Some(step) = step {
            self.look_at(step);
        }
    }

    /// Notes where the runs stand, and what there is to report.
    fn look_at(&self, step: &Outcome) {
        for change in &step.changes {
            let Change::ToolsSeen { server, tools } = change else { continue };
            for tool in tools.iter().filter(|tool| tool.changed.is_some()) {
                if !self.table().told_changed.insert((server.clone(), tool.name.clone())) {
                    continue;
                }
                tracing::warn!("the server `{server}` describes the tool `{}` otherwise than before", tool.name);
            }
        }
        if self.options.hide_forbidden {
            let phases = step.runs.iter().flatten().map(|run| (run.id.clone(), run.phase.clone())).collect();
            let mut table = self.table();
            if table.phases != phases {
                table.phases = phases;
                self.changed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Begins the session with the client's first message, as far as that is to be done here. What fails is met again by the first call,
    /// which is then denied.
    pub(super) async fn begin(&self) {
        if !self.heard.swap(true, Ordering::Relaxed) {
            let _ = self.calls.begin(&self.session_now()).await;
        }
    }

    /// Ends the session, if it began here and its client has left it in good order.
    pub(super) async fn end(&self, orderly: bool) {
        if orderly || self.session.principal.is_some() {
            self.calls.end(&self.own_session()).await;
        }
    }

    /// Sends the client a message.
    pub(super) async fn tell(&self, message: Message, related: Option<Id>) {
        self.tell_routed(Routed { message, related: related.map(Box::new) }).await;
    }

    /// Sends the client a message of a server.
    pub(super) async fn tell_routed(&self, routed: Routed) {
        // A client that is gone reads nothing; its link ends, and the relay with it.
        let _ = self.client.send(routed).await;
    }

    /// Answers a request of the client with JSON that was made here.
    pub(super) async fn answer(&self, id: &Id, json: String) {
        self.table().open.remove(id);
        if let Some(message) = Message::made(json) {
            self.tell(message, Some(id.clone())).await;
        }
    }

    /// Answers a request of the client with an error.
    pub(super) async fn fail(&self, id: &Id, number: i64, text: &str, code: Option<Code>) {
        self.answer(id, encode::failed(Some(id), number, text, code)).await;
    }

    /// Tells the client that its list of tools is not what it was, if so.
    pub(super) async fn tell_changes(&self) {
        if self.changed.swap(false, Ordering::Relaxed) {
            Box::pin(self.tell_list_changed()).await;
        }
    }

    /// Tells the client that its list of tools is not what it was, in each of its subscriptions or else at large.
    pub(super) async fn tell_list_changed(&self) {
        let (listening, initialized) = {
            let table = self.table();
            (table.listening.clone(), table.initialized)
        };
        for id in listening {
            let meta = format!(r#"{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
            let json = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{meta}}}}}"#
            );
            if let Some(message) = Message::made(json) {
                self.tell(message, Some(id)).await;
            }
        }
        if initialized
            && let Some(message) =
                Message::made(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned())
        {
            self.tell(message, None).await;
        }
    }

    /// Sends a server a message; `false` if the server is gone.
    pub(super) async fn send(&self, server: usize, message: Message) -> bool {
        match self.servers.get(server).and_then(Server::sender) {
            Some(to) => to.send(message.into()).await.is_ok(),
            None => false,
        }
    }

    /// The server's name, for people.
    pub(super) fn name(&self, server: usize) -> &str {
        self.servers.get(server).map_or("", |server| server.name.as_str())
    }

    /// Lets no more be sent to the server.
    pub(super) fn close_server(&self, server: usize) {
        if let Some(server) = self.servers.get(server) {
            server.close();
        }
    }

    /// The client is gone: lets nothing more be sent to any server.
    pub(super) fn close_servers(&self) {
        self.closing.store(true, Ordering::Relaxed);
        for server in 0..self.servers.len() {
            self.close_server(server);
        }
    }

    /// Notes that a server has answered.
    pub(super) fn has_spoken(&self) {
        self.spoke.store(true, Ordering::Relaxed);
    }

    /// Whether a server has answered anything.
    pub(super) fn spoke(&self) -> bool {
        self.spoke.load(Ordering::Relaxed)
    }

    /// Whether the client is gone.
    pub(super) fn closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// What the result of a call of this tool must look like.
    pub(super) fn form(&self, server: Option<usize>, tool: &str, modern: bool) -> Form {
        let known = server.and_then(|server| self.servers.get(server)).map(|server| server.known(tool));
        Form { modern, declared: known.is_some_and(|known| known.declared) }
    }
}

/// Logs why the guard could not work.
pub(super) fn warn_of(problem: &Problem) {
    tracing::warn!(code = %problem.code, "{}", problem.message);
}
