//! Whose session is whose: those that a handshake began, those that handles name, and each principal's own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use hyper::StatusCode;
use phasegate_adapter::Guard;
use phasegate_core::Event;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::endpoint::Endpoint;
use super::principal::Principal;
use super::refusal::Refusal;
use crate::link::{Link, link};
use crate::options::Session;

/// Joins a client's link with servers of its own, in a session, until the client is gone.
pub type Join = Arc<dyn Fn(Link, Session) -> BoxFuture<'static, ()> + Send + Sync>;

/// All sessions of a listening address.
pub(super) struct Sessions {
    join: Join,
    guard: Arc<dyn Guard>,
    limit: usize,
    held: Mutex<Held>,
    beginning: tokio::sync::Mutex<()>,
    tasks: Mutex<JoinSet<()>>,
    /// What tells this process's sessions from those of others.
    process: String,
}

#[derive(Default)]
struct Held {
    /// Those of clients with a handshake, by the id that only their client knows.
    protocol: HashMap<String, (Principal, Arc<Endpoint>)>,
    /// Those of clients without, by principal and handle; without a handle it is the principal's own.
    stateless: HashMap<StatelessKey, Kept>,
}

/// Which session a client without a handshake means.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StatelessKey {
    principal: Principal,
    /// The handle; `None` for the principal's own session.
    handle: Option<String>,
}

/// A session of clients without a handshake: it outlives a relay whose server died.
struct Kept {
    id: String,
    endpoint: Arc<Endpoint>,
}

impl Sessions {
    pub(super) fn new(join: Join, guard: Arc<dyn Guard>, limit: usize) -> Result<Self, getrandom::Error> {
        let process = secret()?.chars().take(8).collect();
        Ok(Self {
            join,
            guard,
            limit,
            held: Mutex::default(),
            beginning: tokio::sync::Mutex::default(),
            tasks: Mutex::default(),
            process,
        })
    }

    /// Begins a session for a client that opens with a handshake: its id, and its endpoint.
    pub(super) fn begin(&self, principal: &Principal) -> Result<(String, Arc<Endpoint>), Refusal> {
        let id = secret().map_err(|_| full())?;
        let mut held = self.held();
        if held.count() >= self.limit {
            return Err(full());
        }
        let session = Session { principal: Some(principal.name().into()), ..Session::own(name(&id)) };
        let endpoint = self.endpoint(session, false);
        held.protocol.insert(id.clone(), (principal.clone(), Arc::clone(&endpoint)));
        Ok((id, endpoint))
    }

    /// The session with this id, if it is this principal's.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Result<Arc<Endpoint>, Refusal> {
        let unknown = || {
            let text = "no session has this id; begin one with `initialize`";
            Refusal::new(StatusCode::NOT_FOUND, -32600, text)
        };
        let held = self.held();
        let (owner, endpoint) = held.protocol.get(id).ok_or_else(unknown)?;
        if owner == principal { Ok(Arc::clone(endpoint)) } else { Err(unknown()) }
    }

    /// Ends the session with this id.
    pub(super) fn finish(&self, id: &str) {
        if let Some((_, endpoint)) = self.held().protocol.remove(id) {
            endpoint.close();
        }
    }

    /// The session that a handle names, or the principal's own without one.
    pub(super) async fn stateless(
        &self,
        principal: &Principal,
        handle: Option<&str>,
    ) -> Result<Arc<Endpoint>, Refusal> {
        let key = StatelessKey { principal: principal.clone(), handle: handle.map(ToOwned::to_owned) };
        if let Some(endpoint) = self.kept(&key) {
            return Ok(endpoint);
        }
        if handle.is_some() {
            let text = "no session has this handle; activate the skill again to get one";
            return Err(Refusal::new(StatusCode::OK, -32602, text));
        }
        // The guard hears of the session before anything else of it does.
        let _one = self.beginning.lock().await;
        match self.kept(&key) {
            Some(endpoint) => Ok(endpoint),
            None => self.keep(key, format!("http-{}-{}", principal.name(), self.process)).await,
        }
    }

    /// Begins a session for a client without a handshake, and the handle that names it.
    pub(super) async fn begin_handle(&self, principal: &Principal) -> Result<(String, Arc<Endpoint>), Refusal> {
        let handle = secret().map_err(|_| full())?;
        let endpoint = self
            .keep(StatelessKey { principal: principal.clone(), handle: Some(handle.clone()) }, name(&handle))
            .await?;
        Ok((handle, endpoint))
    }

    fn kept(&self, key: &StatelessKey) -> Option<Arc<Endpoint>> {
        let mut held = self.held();
        let kept = held.stateless.get_mut(key)?;
        if kept.endpoint.has_ended() {
            kept.endpoint = self.endpoint(of_others(&key.principal, &kept.id), true);
        }
        Some(Arc::clone(&kept.endpoint))
    }

    async fn keep(&self, key: StatelessKey, id: String) -> Result<Arc<Endpoint>, Refusal> {
        if self.held().count() >= self.limit {
            return Err(full());
        }
        self.tell(&key.principal, &id, json!({"event": "session_start", "source": "startup"})).await;
        let endpoint = self.endpoint(of_others(&key.principal, &id), true);
        self.held().stateless.insert(key, Kept { id, endpoint: Arc::clone(&endpoint) });
        Ok(endpoint)
    }

    /// Ends the session that a handle names.
    pub(super) async fn finish_handle(&self, principal: &Principal, handle: &str) {
        let key = StatelessKey { principal: principal.clone(), handle: Some(handle.to_owned()) };
        let kept = self.held().stateless.remove(&key);
        if let Some(kept) = kept {
            kept.endpoint.close();
            self.tell(principal, &kept.id, json!({"event": "session_end"})).await;
        }
    }

    /// Ends sessions that were unused for this time. A principal's own session stays: calls that name no session go
    /// there.
    pub(super) async fn sweep(&self, idle: Duration) {
        let handles: Vec<(Principal, String)> = {
            let mut held = self.held();
            held.protocol.retain(|_, (_, endpoint)| {
                let stays = !endpoint.is_idle(idle);
                if !stays {
                    endpoint.close();
                }
                stays
            });
            let idle = held.stateless.iter().filter(|(_, kept)| kept.endpoint.is_idle(idle));
            idle.filter_map(|(key, _)| Some((key.principal.clone(), key.handle.clone()?))).collect()
        };
        for (principal, handle) in handles {
            self.finish_handle(&principal, &handle).await;
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
    }

    /// Ends all sessions, and waits until their relays and servers are gone, or until this time has passed.
    pub(super) async fn finish_all(&self, time: Duration) {
        let (ids, tasks) = {
            let mut held = self.held();
            let held = std::mem::take(&mut *held);
            for (_, endpoint) in held.protocol.values() {
                endpoint.close();
            }
            for kept in held.stateless.values() {
                kept.endpoint.close();
            }
            let ids: Vec<(Principal, String)> =
                held.stateless.into_iter().map(|(key, kept)| (key.principal, kept.id)).collect();
            (ids, std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner)))
        };
        let mut tasks = tasks;
        let ended = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(time, ended).await.is_err() {
            tracing::warn!("some sessions did not end in time and are broken off");
        }
        // Dropping a task drops what it holds: connections are closed, children killed.
        tasks.shutdown().await;
        for (principal, id) in ids {
            self.tell(&principal, &id, json!({"event": "session_end"})).await;
        }
    }

    fn endpoint(&self, session: Session, stateless: bool) -> Arc<Endpoint> {
        let (client, wire) = link();
        let (endpoint, pump) = Endpoint::new(wire, stateless);
        let joined = (self.join)(client, session);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn(async move {
            tokio::join!(pump, joined);
        });
        endpoint
    }

    /// Tells the guard of a session. What it cannot record, it denies later by itself.
    async fn tell(&self, principal: &Principal, session: &str, event: serde_json::Value) {
        let Ok(event) = Event::from_value(event) else { return };
        let event = Event { principal: Some(principal.name().to_owned()), ..event };
        if let Err(problem) = self.guard.handle(session, event).await {
            tracing::debug!(session, code = problem.code.id(), "the guard was not told of a session");
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn count(&self) -> usize {
        self.protocol.len().saturating_add(self.stateless.len())
    }
}

fn of_others(principal: &Principal, id: &str) -> Session {
    Session { principal: Some(principal.name().into()), ..Session::of_others(id) }
}

/// The guard's name for a session; it does not reveal the secret.
fn name(secret: &str) -> String {
    let digest = Sha256::digest(secret.as_bytes());
    let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("http-{hex}")
}

/// 192 random bits, in letters that any header and argument can carry.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn full() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, -32603, "there are as many sessions as are let in; try again later")
}
