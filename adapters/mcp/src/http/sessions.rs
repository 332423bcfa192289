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

use super::principal::Principal;
use super::refusal::Refusal;
use super::seat::Seat;
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
    protocol: HashMap<String, (Principal, Arc<Seat>)>,
    /// Those of clients without, by principal and handle; without a handle it is the principal's own.
    stateless: HashMap<(Principal, Option<String>), Kept>,
}

/// A session of clients without a handshake: it outlives a relay whose server died.
struct Kept {
    id: String,
    seat: Arc<Seat>,
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

    /// Begins a session for a client that opens with a handshake: its id, and its seat.
    pub(super) fn begin(&self, principal: &Principal) -> Result<(String, Arc<Seat>), Refusal> {
        let id = secret().map_err(|_| full())?;
        let mut held = self.held();
        if held.count() >= self.limit {
            return Err(full());
        }
        let session = Session { principal: Some(principal.name().into()), ..Session::own(name(&id)) };
        let seat = self.seat(session, false);
        held.protocol.insert(id.clone(), (principal.clone(), Arc::clone(&seat)));
        Ok((id, seat))
    }

    /// The session with this id, if it is this principal's.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Result<Arc<Seat>, Refusal> {
        let unknown = || {
            let text = "no session has this id; begin one with `initialize`";
            Refusal::new(StatusCode::NOT_FOUND, -32600, text)
        };
        let held = self.held();
        let (owner, seat) = held.protocol.get(id).ok_or_else(unknown)?;
        if owner == principal { Ok(Arc::clone(seat)) } else { Err(unknown()) }
    }

    /// Ends the session with this id.
    pub(super) fn finish(&self, id: &str) {
        if let Some((_, seat)) = self.held().protocol.remove(id) {
            seat.close();
        }
    }

    /// The session that a handle names, or the principal's own without one.
    pub(super) async fn stateless(&self, principal: &Principal, handle: Option<&str>) -> Result<Arc<Seat>, Refusal> {
        let key = (principal.clone(), handle.map(ToOwned::to_owned));
        if let Some(seat) = self.kept(&key) {
            return Ok(seat);
        }
        if handle.is_some() {
            let text = "no session has this handle; activate the skill again to get one";
            return Err(Refusal::new(StatusCode::OK, -32602, text));
        }
        // The guard hears of the session before anything else of it does.
        let _one = self.beginning.lock().await;
        match self.kept(&key) {
            Some(seat) => Ok(seat),
            None => self.keep(key, format!("http-{}-{}", principal.name(), self.process)).await,
        }
    }

    /// Begins a session for a client without a handshake, and the handle that names it.
    pub(super) async fn begin_handle(&self, principal: &Principal) -> Result<(String, Arc<Seat>), Refusal> {
        let handle = secret().map_err(|_| full())?;
        let seat = self.keep((principal.clone(), Some(handle.clone())), name(&handle)).await?;
        Ok((handle, seat))
    }

    fn kept(&self, key: &(Principal, Option<String>)) -> Option<Arc<Seat>> {
        let mut held = self.held();
        let kept = held.stateless.get_mut(key)?;
        if kept.seat.has_ended() {
            kept.seat = self.seat(of_others(&key.0, &kept.id), true);
        }
        Some(Arc::clone(&kept.seat))
    }

    async fn keep(&self, key: (Principal, Option<String>), id: String) -> Result<Arc<Seat>, Refusal> {
        if self.held().count() >= self.limit {
            return Err(full());
        }
        self.tell(&key.0, &id, json!({"event": "session_start", "source": "startup"})).await;
        let seat = self.seat(of_others(&key.0, &id), true);
        self.held().stateless.insert(key, Kept { id, seat: Arc::clone(&seat) });
        Ok(seat)
    }

    /// Ends the session that a handle names.
    pub(super) async fn finish_handle(&self, principal: &Principal, handle: &str) {
        let kept = self.held().stateless.remove(&(principal.clone(), Some(handle.to_owned())));
        if let Some(kept) = kept {
            kept.seat.close();
            self.tell(principal, &kept.id, json!({"event": "session_end"})).await;
        }
    }

    /// Ends what nobody has used for this time. A principal's own session stays: it is where calls go that name none.
    pub(super) async fn sweep(&self, idle: Duration) {
        let handles: Vec<(Principal, String)> = {
            let mut held = self.held();
            held.protocol.retain(|_, (_, seat)| {
                let stays = !seat.is_idle(idle);
                if !stays {
                    seat.close();
                }
                stays
            });
            let idle = held.stateless.iter().filter(|(_, kept)| kept.seat.is_idle(idle));
            idle.filter_map(|((principal, handle), _)| Some((principal.clone(), handle.clone()?))).collect()
        };
        for (principal, handle) in handles {
            self.finish_handle(&principal, &handle).await;
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
    }

    /// Ends all sessions, and waits until their relays and servers are gone, or this time is over.
    pub(super) async fn finish_all(&self, time: Duration) {
        let (ids, tasks) = {
            let mut held = self.held();
            let held = std::mem::take(&mut *held);
            for (_, seat) in held.protocol.values() {
                seat.close();
            }
            for kept in held.stateless.values() {
                kept.seat.close();
            }
            let ids: Vec<(Principal, String)> =
                held.stateless.into_iter().map(|((principal, _), kept)| (principal, kept.id)).collect();
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

    fn seat(&self, session: Session, stateless: bool) -> Arc<Seat> {
        let (client, wire) = link();
        let (seat, pump) = Seat::new(wire, stateless);
        let joined = (self.join)(client, session);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn(async move {
            tokio::join!(pump, joined);
        });
        seat
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

/// What the guard calls a session: it tells nobody the secret.
fn name(secret: &str) -> String {
    let digest = Sha256::digest(secret.as_bytes());
    let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("http-{hex}")
}

/// 192 bits that nobody can guess, in letters that any header and argument can carry.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn full() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, -32603, "there are as many sessions as are let in; try again later")
}
