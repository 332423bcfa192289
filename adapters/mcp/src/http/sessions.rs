//! Whose session is whose: those that a handshake began, those that handles name, and those of clients that name none.
//!
//! A session outlives its relay, the server behind it and this process: the state has it under an id that is made of what
//! its client shows. Only its client ends it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use hyper::StatusCode;
use phasegate_adapter::{Guard, Standing, current_session};
use phasegate_core::Event;
use phasegate_core::events::event::SessionSource;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::client::{Client, Clients};
use super::endpoint::{self, Endpoint};
use super::principal::Principal;
use crate::http::protocol::refusal::Refusal;
use crate::message::{Kind, Message};
use crate::options::Session;
use crate::wire::link::{Link, link};

/// Joins a client's link with servers of its own, in a session, until the client is gone.
pub type Join = Arc<dyn Fn(Link, Session) -> BoxFuture<'static, ()> + Send + Sync>;

/// All sessions of a listening address.
pub(super) struct Sessions {
    join: Join,
    guard: Arc<dyn Guard>,
    limit: usize,
    clients: Arc<dyn Clients>,
    held: Mutex<Held>,
    beginning: tokio::sync::Mutex<()>,
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct Held {
    /// Those of clients with a handshake, by the id that only their client knows.
    protocol: HashMap<String, Kept>,
    /// Those of clients without.
    stateless: HashMap<StatelessKey, Kept>,
}

/// Which session a client without a handshake means.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StatelessKey {
    principal: Principal,
    named: Named,
}

/// What names a session of a client without a handshake.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Named {
    /// The handle that the client passes.
    Handle(String),
    /// The client's process.
    Process(String),
    /// Nothing: it is the principal's own.
    Principal,
}

/// A session: it outlives its relay.
#[derive(Clone)]
struct Kept {
    /// Its id, as the guard is given it.
    id: String,
    principal: Principal,
    endpoint: Arc<Endpoint>,
    /// The client's handshake, where it had one: it is repeated for each new relay.
    greeting: Option<Message>,
}

impl Sessions {
    pub(super) fn new(join: Join, guard: Arc<dyn Guard>, clients: Arc<dyn Clients>, limit: usize) -> Self {
        let (held, beginning, tasks) = Default::default();
        Self { join, guard, limit, clients, held, beginning, tasks }
    }

    /// Makes room for a session of a client that opens with a handshake: its id, and its endpoint.
    pub(super) fn prepare(
        &self,
        principal: &Principal,
        greeting: &Message,
    ) -> Result<(String, Arc<Endpoint>), Refusal> {
        let id = secret().map_err(|_| self.full())?;
        self.check_room()?;
        let kept = self.kept_anew(principal, name(principal, &id), Some(greeting.clone()));
        let endpoint = Arc::clone(&kept.endpoint);
        self.held().protocol.insert(id.clone(), kept);
        Ok((id, endpoint))
    }

    /// The handshake was answered: the session begins.
    pub(super) async fn begin(&self, id: &str) {
        let kept = self.held().protocol.get(id).cloned();
        if let Some(kept) = kept {
            self.tell_start(&kept, SessionSource::Startup).await;
        }
    }

    /// The handshake failed: no session begins.
    pub(super) fn discard(&self, id: &str) {
        if let Some(kept) = self.held().protocol.remove(id) {
            kept.endpoint.close();
        }
    }

    /// The session with this id, if it is this principal's. One whose relay is gone goes on with another, to which the
    /// handshake is repeated; `version` is the protocol's, where the handshake itself is not known here.
    pub(super) async fn find(&self, id: &str, principal: &Principal, version: &str) -> Result<Arc<Endpoint>, Refusal> {
        if let Some(kept) = self.protocol(id, principal)?.filter(|kept| !kept.endpoint.has_ended()) {
            return Ok(kept.endpoint);
        }
        let _one = self.beginning.lock().await;
        let kept = self.protocol(id, principal)?;
        let greeting = match kept {
            Some(kept) if !kept.endpoint.has_ended() => return Ok(kept.endpoint),
            Some(kept) => kept.greeting,
            None if self.guard.standing(&name(principal, id)) == Standing::Open => None,
            None => return Err(unknown()),
        };
        self.check_room()?;
        let greeting = greeting.or_else(|| greeting_of(version)).ok_or_else(unknown)?;
        let kept = self.kept_anew(principal, name(principal, id), Some(greeting.clone()));
        if !greeted(&kept.endpoint, greeting).await {
            kept.endpoint.close();
            return Err(endpoint::gone());
        }
        self.tell_start(&kept, SessionSource::Resume).await;
        self.held().protocol.insert(id.to_owned(), kept.clone());
        Ok(kept.endpoint)
    }

    /// Ends the session with this id, if it is this principal's, as its client asks.
    pub(super) async fn finish(&self, id: &str, principal: &Principal) -> Result<(), Refusal> {
        let id_of_guard = name(principal, id);
        match self.protocol(id, principal)? {
            Some(kept) => kept.endpoint.close(),
            None if self.guard.standing(&id_of_guard) == Standing::Open => {}
            None => return Err(unknown()),
        }
        self.held().protocol.remove(id);
        self.tell(&id_of_guard, principal, json!({"event": "session_end"})).await;
        Ok(())
    }

    /// The session that a handle names; without one that of the client's process, or else the principal's own.
    pub(super) async fn stateless(&self, client: &Client, handle: Option<&str>) -> Result<Arc<Endpoint>, Refusal> {
        let keys = self.keys(client, handle);
        if let Some(endpoint) = self.first_kept(&keys)? {
            return Ok(endpoint);
        }
        // The guard hears of the session before anything else of it does.
        let _one = self.beginning.lock().await;
        if let Some(endpoint) = self.first_kept(&keys)? {
            return Ok(endpoint);
        }
        let mut known = keys.iter().map(|key| (key, current_session(self.guard.as_ref(), &key.id())));
        if let Some((key, (id, _))) = known.find(|(_, (_, standing))| *standing == Standing::Open) {
            return self.keep(key.clone(), id, SessionSource::Resume).await;
        }
        match keys.into_iter().next() {
            Some(key) if handle.is_none() => {
                self.let_go_of_the_gone().await;
                let (id, _) = current_session(self.guard.as_ref(), &key.id());
                self.keep(key, id, SessionSource::Startup).await
            }
            _ => {
                let text = "no session has this handle; activate the skill again to get one";
                Err(Refusal::new(StatusCode::OK, -32602, text))
            }
        }
    }

    /// Begins a session for a client without a handshake, and the handle that names it.
    pub(super) async fn begin_handle(&self, principal: &Principal) -> Result<(String, Arc<Endpoint>), Refusal> {
        let handle = secret().map_err(|_| self.full())?;
        let key = StatelessKey { principal: principal.clone(), named: Named::Handle(handle.clone()) };
        let id = key.id();
        let endpoint = self.keep(key, id, SessionSource::Startup).await?;
        Ok((handle, endpoint))
    }

    /// Ends the session that a handle names.
    pub(super) async fn finish_handle(&self, principal: &Principal, handle: &str) {
        let key = StatelessKey { principal: principal.clone(), named: Named::Handle(handle.to_owned()) };
        let kept = self.held().stateless.remove(&key);
        if let Some(kept) = kept {
            kept.endpoint.close();
            self.tell(&kept.id, principal, json!({"event": "session_end"})).await;
        }
    }

    /// The names of the session that a client means, the nearest first.
    fn keys(&self, client: &Client, handle: Option<&str>) -> Vec<StatelessKey> {
        let of = |named| StatelessKey { principal: client.principal.clone(), named };
        if let Some(handle) = handle {
            return vec![of(Named::Handle(handle.to_owned()))];
        }
        match client.processes(self.clients.as_ref()) {
            [] => vec![of(Named::Principal)],
            processes => processes.iter().map(|process| of(Named::Process(process.clone()))).collect(),
        }
    }

    fn protocol(&self, id: &str, principal: &Principal) -> Result<Option<Kept>, Refusal> {
        match self.held().protocol.get(id) {
            Some(kept) if kept.principal != *principal => Err(unknown()),
            kept => Ok(kept.cloned()),
        }
    }

    /// The first of these sessions that is kept, with a new relay where its own has ended.
    fn first_kept(&self, keys: &[StatelessKey]) -> Result<Option<Arc<Endpoint>>, Refusal> {
        let mut held = self.held();
        let has_room = held.count() < self.limit;
        let Some(key) = keys.iter().find(|key| held.stateless.contains_key(key)) else { return Ok(None) };
        let Some(kept) = held.stateless.get_mut(key) else { return Ok(None) };
        if kept.endpoint.has_ended() {
            if !has_room {
                return Err(self.full());
            }
            *kept = self.kept_anew(&key.principal, kept.id.clone(), None);
        }
        Ok(Some(Arc::clone(&kept.endpoint)))
    }

    async fn keep(&self, key: StatelessKey, id: String, source: SessionSource) -> Result<Arc<Endpoint>, Refusal> {
        self.check_room()?;
        let kept = self.kept_anew(&key.principal, id, None);
        self.tell_start(&kept, source).await;
        let endpoint = Arc::clone(&kept.endpoint);
        self.held().stateless.insert(key, kept);
        Ok(endpoint)
    }

    /// Lets go of the sessions of processes that have ended: what begins next goes on in their runs.
    async fn let_go_of_the_gone(&self) {
        let gone = |key: &StatelessKey| matches!(&key.named, Named::Process(process) if self.clients.is_gone(process));
        let kept: Vec<Kept> = self.held().stateless.extract_if(|key, _| gone(key)).map(|(_, kept)| kept).collect();
        for kept in kept {
            self.let_go(&kept).await;
        }
    }

    /// Closes the relays of sessions that were unused for this time. The sessions go on when their clients do. The
    /// principal's own relay stays: calls that name no session go there.
    pub(super) async fn sweep(&self, idle: Duration) {
        let unused: Vec<Kept> = {
            let mut held = self.held();
            let Held { protocol, stateless } = &mut *held;
            let stateless = stateless.iter().filter(|(key, _)| key.named != Named::Principal).map(|(_, kept)| kept);
            let all = protocol.values().chain(stateless);
            let unused =
                all.filter(|kept| !kept.endpoint.has_ended() && kept.endpoint.is_idle(idle)).cloned().collect();
            held.forget_surplus(self.limit);
            unused
        };
        for kept in unused {
            self.let_go(&kept).await;
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
    }

    /// Closes the relay of a session, which goes on with another.
    async fn let_go(&self, kept: &Kept) {
        kept.endpoint.close();
        self.tell(&kept.id, &kept.principal, json!({"event": "idle"})).await;
    }

    /// Ends all relays, and waits until they and their servers are gone, or until this time has passed. The sessions go on
    /// with the next process.
    pub(super) async fn close_all(&self, time: Duration) {
        let held = std::mem::take(&mut *self.held());
        held.protocol.values().chain(held.stateless.values()).for_each(|kept| kept.endpoint.close());
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let ended = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(time, ended).await.is_err() {
            tracing::warn!("some sessions did not end in time and are broken off");
        }
        // Dropping a task drops what it holds: connections are closed, children killed.
        tasks.shutdown().await;
    }

    /// A session with a relay of its own.
    fn kept_anew(&self, principal: &Principal, id: String, greeting: Option<Message>) -> Kept {
        let (client, wire) = link();
        let (endpoint, pump) = Endpoint::new(wire, greeting.is_none());
        let session = Session { principal: Some(principal.name().into()), ..Session::of_others(&id) };
        let joined = (self.join)(client, session);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn(async move {
            tokio::join!(pump, joined);
        });
        Kept { id, principal: principal.clone(), endpoint, greeting }
    }

    async fn tell_start(&self, kept: &Kept, source: SessionSource) {
        self.tell(&kept.id, &kept.principal, json!({"event": "session_start", "source": source})).await;
    }

    /// Tells the guard of a session. What it cannot record, it denies later by itself.
    async fn tell(&self, session: &str, principal: &Principal, event: serde_json::Value) {
        let Ok(event) = Event::from_value(event) else { return };
        let event = Event { principal: Some(principal.name().to_owned()), ..event };
        if let Err(problem) = self.guard.handle(session, event).await {
            tracing::debug!(session, code = problem.code.id(), "the guard was not told of a session");
        }
    }

    fn check_room(&self) -> Result<(), Refusal> {
        if self.held().count() < self.limit { Ok(()) } else { Err(self.full()) }
    }

    fn full(&self) -> Refusal {
        let limit = self.limit;
        let text = format!(
            "{limit} sessions have servers running, and more are not let in (`--max-sessions`); end a session with \
             DELETE, or try again when one was idle"
        );
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, -32603, text)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// How many relays run.
    fn count(&self) -> usize {
        let all = self.protocol.values().chain(self.stateless.values());
        all.filter(|kept| !kept.endpoint.has_ended()).count()
    }

    /// Forgets sessions without a relay where there are more than so many. They are in the state.
    fn forget_surplus(&mut self, limit: usize) {
        if self.protocol.len() > limit {
            self.protocol.retain(|_, kept| !kept.endpoint.has_ended());
        }
        if self.stateless.len() > limit {
            self.stateless.retain(|_, kept| !kept.endpoint.has_ended());
        }
    }
}

impl StatelessKey {
    /// The guard's name for the session.
    fn id(&self) -> String {
        match &self.named {
            Named::Handle(handle) => name(&self.principal, handle),
            Named::Process(process) => format!("http-{}-{process}", self.principal.name()),
            Named::Principal => format!("http-{}", self.principal.name()),
        }
    }
}

/// Repeats a handshake. Whether the server answered it.
async fn greeted(endpoint: &Endpoint, greeting: Message) -> bool {
    let Ok(asked) = endpoint.ask(greeting).await else { return false };
    let answered = asked.answer().await.is_some_and(|answer| answer.kind() == Kind::Result);
    let ready = Message::made(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned());
    match ready.filter(|_| answered) {
        Some(ready) => endpoint.tell(ready).await.is_ok(),
        None => false,
    }
}

/// The handshake for a client whose own is not known any more: servers can ask it nothing.
fn greeting_of(version: &str) -> Option<Message> {
    let client = json!({"name": "phasegate", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    Message::made(json!({"jsonrpc": "2.0", "id": "phasegate", "method": "initialize", "params": params}).to_string())
}

/// The guard's name for a session; it does not reveal the secret.
fn name(principal: &Principal, secret: &str) -> String {
    let digest = Sha256::new().chain_update(principal.name()).chain_update([0]).chain_update(secret).finalize();
    let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("http-{hex}")
}

/// 192 random bits, in letters that any header and argument can carry.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn unknown() -> Refusal {
    let text = "no session has this id; begin one with `initialize`";
    Refusal::new(StatusCode::NOT_FOUND, -32600, text)
}
