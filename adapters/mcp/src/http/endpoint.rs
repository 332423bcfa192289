//! One relay, and which answer each of its messages belongs into.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::header::HeaderMap;
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender};

use super::id_rewriting::{self, ProgressToken};
use super::replay_buffer::{Next, ReplayBuffer};
use crate::http::protocol::parameters::Parameters;
use crate::http::protocol::refusal::Refusal;
use crate::message::id::Id;
use crate::message::{Kind, Message};
use crate::sync::lock;
use crate::wire::link::{Arrived, Routed, Wire};

/// How many streams beside the common one can be resumed at most.
const MAX_RESUMABLE_STREAMS: usize = 4;

/// How long one look for an answer takes.
const ANSWER_STEP: Duration = Duration::from_secs(15);

/// One relay as its clients' requests see it.
#[derive(Debug)]
pub(super) struct Endpoint {
    to_relay: Mutex<Option<Sender<Arrived>>>,
    routes: Mutex<Routes>,
    /// Which arguments headers repeat, as lists of tools said that went to clients without a session.
    parameters: Mutex<Parameters>,
    /// Whether its requests come from clients without a session: they may use the same ids, and are asked nothing.
    stateless: bool,
}

#[derive(Debug)]
struct Routes {
    open: HashMap<Id, Route>,
    /// The stream of what belongs to no request.
    common: Arc<ReplayBuffer>,
    /// Streams that were begun and may be resumed, newest last.
    begun: VecDeque<(u64, Arc<ReplayBuffer>)>,
    streams: u64,
    ended: bool,
    used: Instant,
}

/// Where the messages of a request go.
#[derive(Debug)]
struct Route {
    buffer: Arc<ReplayBuffer>,
    stream: u64,
    /// The id that the client gave it, where the relay knows another.
    asked: Option<Id>,
    /// The token under which progress is told: as the relay knows it, and as the client does.
    token: Option<ProgressToken>,
    /// Whether it only listens.
    listens: bool,
    /// Whether it asks for a list of tools.
    lists: bool,
}

/// A request that was handed to the relay.
#[derive(Debug)]
pub(super) struct Asked {
    /// The stream of its answer.
    pub(super) buffer: Arc<ReplayBuffer>,
    /// The stream's number in the endpoint.
    pub(super) stream: u64,
    /// Its id as the relay knows it.
    pub(super) id: Id,
}

impl Asked {
    /// The answer, once it is there; `None` if there is none.
    pub(super) async fn answer(&self) -> Option<Message> {
        let reader = self.buffer.read(None);
        loop {
            match reader.next(ANSWER_STEP).await {
                Next::Message(_, message) if matches!(message.kind(), Kind::Result | Kind::Error) => {
                    return Some(message);
                }
                Next::Message(..) | Next::Silence => {}
                Next::End => return None,
            }
        }
    }
}

impl Endpoint {
    /// A endpoint at this end of a relay's link, and the task that hands out what the relay sends.
    pub(super) fn new(wire: Wire, stateless: bool) -> (Arc<Self>, impl Future<Output = ()> + Send + use<>) {
        let routes = Routes {
            open: HashMap::new(),
            common: ReplayBuffer::resumable(),
            begun: VecDeque::new(),
            streams: 0,
            ended: false,
            used: Instant::now(),
        };
        let (to_relay, parameters) = (Mutex::new(Some(wire.to)), Mutex::default());
        let endpoint = Arc::new(Self { to_relay, routes: Mutex::new(routes), parameters, stateless });
        let pump = Arc::clone(&endpoint).pump(wire.from);
        (endpoint, pump)
    }

    /// Hands a request to the relay.
    pub(super) async fn ask(&self, message: Message) -> Result<Asked, Refusal> {
        let (message, asked) = self.admit(message)?;
        if self.send(message).await {
            return Ok(asked);
        }
        self.routes().open.remove(&asked.id);
        Err(gone())
    }

    /// Whether the headers of a call repeat what its body says.
    ///
    /// # Errors
    ///
    /// They do not.
    pub(super) fn compare(&self, headers: &HeaderMap, message: &Message) -> Result<(), Refusal> {
        lock(&self.parameters).compare(headers, message)
    }

    /// Hands a message to the relay that asks for no answer.
    pub(super) async fn tell(&self, message: Message) -> Result<(), Refusal> {
        self.routes().used = Instant::now();
        if self.send(message).await { Ok(()) } else { Err(gone()) }
    }

    /// Gives up a request whose client is gone.
    pub(super) fn cancel(self: &Arc<Self>, id: &Id) {
        if self.routes().open.remove(id).is_none() {
            return;
        }
        let params = json!({"requestId": id, "reason": "the client closed the connection"});
        let text = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string();
        let Ok(message) = Message::read(text) else { return };
        let endpoint = Arc::clone(self);
        tokio::spawn(async move { endpoint.send(message).await });
    }

    /// Notes that a stream was begun, so that it can be resumed.
    pub(super) fn begun(&self, asked: &Asked) {
        let mut routes = self.routes();
        routes.begun.retain(|(_, buffer)| !buffer.is_done() || buffer.is_read());
        routes.begun.push_back((asked.stream, Arc::clone(&asked.buffer)));
        while routes.begun.len() > MAX_RESUMABLE_STREAMS {
            routes.begun.pop_front();
        }
    }

    /// The stream with this number; 0 is that of what belongs to no request.
    pub(super) fn stream(&self, number: u64) -> Option<Arc<ReplayBuffer>> {
        let mut routes = self.routes();
        routes.used = Instant::now();
        if number == 0 {
            return Some(Arc::clone(&routes.common));
        }
        routes.begun.iter().find(|(stream, _)| *stream == number).map(|(_, buffer)| Arc::clone(buffer))
    }

    /// Ends the relay.
    pub(super) fn close(&self) {
        self.to_relay.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.end();
    }

    /// Whether the relay is gone.
    pub(super) fn has_ended(&self) -> bool {
        self.routes().ended
    }

    /// Whether it was unused for this time.
    pub(super) fn is_idle(&self, time: Duration) -> bool {
        let routes = self.routes();
        routes.open.is_empty() && !routes.common.is_read() && routes.used.elapsed() >= time
    }

    fn admit(&self, message: Message) -> Result<(Message, Asked), Refusal> {
        let invalid = |text: &str| Refusal::new(StatusCode::BAD_REQUEST, -32600, text);
        let id = message.id().cloned().ok_or_else(|| invalid("a request has an id"))?;
        let mut routes = self.routes();
        if routes.ended {
            return Err(gone());
        }
        routes.used = Instant::now();
        routes.streams = routes.streams.saturating_add(1);
        let stream = routes.streams;
        let (mut message, mut inner, mut asked) = (message, id.clone(), None);
        if routes.open.contains_key(&id) {
            if !self.stateless {
                return Err(invalid("a request with this id is under way"));
            }
            inner = fresh(stream, &routes.open);
            message = message.with_id(&inner);
            asked = Some(id);
        }
        let mut token = id_rewriting::progress_token(&message);
        if let Some(token) = token.as_mut().filter(|token| self.stateless && routes.has_token(&token.relay)) {
            token.relay = fresh(stream, &routes.open).json();
            message = id_rewriting::with_progress_token(&message, &token.relay);
        }
        let buffer = if self.stateless { Arc::default() } else { ReplayBuffer::resumable() };
        let listens = message.method() == Some("subscriptions/listen");
        let lists = message.method() == Some("tools/list");
        let route = Route { buffer: Arc::clone(&buffer), stream, asked, token, listens, lists };
        routes.open.insert(inner.clone(), route);
        Ok((message, Asked { buffer, stream, id: inner }))
    }

    async fn pump(self: Arc<Self>, mut from_relay: Receiver<Routed>) {
        while let Some(routed) = from_relay.recv().await {
            self.deliver(routed).await;
        }
        self.end();
    }

    async fn deliver(&self, routed: Routed) {
        let message = routed.message;
        match (message.kind(), message.id()) {
            (Kind::Result | Kind::Error, Some(id)) => {
                let Some(route) = self.routes().open.remove(id) else { return };
                if route.lists && self.stateless {
                    lock(&self.parameters).learn(message.content());
                }
                let message =
                    route.asked.as_ref().map_or_else(|| message.clone(), |asked| route.restored(&message, asked));
                route.buffer.push(message).await;
                route.buffer.close();
            }
            (Kind::Result | Kind::Error, None) => {}
            (Kind::Request, Some(id)) if self.stateless => {
                // A client without a session cannot be asked: the server gets an error at once.
                let error = json!({"code": -32601, "message": "the client's protocol lets servers ask nothing"});
                let text = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
                if let Ok(answer) = Message::read(text) {
                    self.send(answer).await;
                }
            }
            (Kind::Request | Kind::Notification, _) => {
                let place = self.routes().place(&message, routed.related.as_deref(), self.stateless);
                if let Some((buffer, message)) = place {
                    buffer.push(message).await;
                }
            }
        }
    }

    /// Answers everything that is open: the relay is gone.
    fn end(&self) {
        let open: Vec<(Id, Route)> = {
            let mut routes = self.routes();
            routes.ended = true;
            routes.common.close();
            routes.open.drain().collect()
        };
        for (id, route) in open {
            let id = route.asked.as_ref().unwrap_or(&id);
            let text = String::from_utf8_lossy(&gone().body(Some(id))).into_owned();
            if let Ok(message) = Message::read(text) {
                route.buffer.push_now(message);
            }
            route.buffer.close();
        }
    }

    async fn send(&self, message: Message) -> bool {
        let to = self.to_relay.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match to {
            Some(to) => to.send(Ok(message.into())).await.is_ok(),
            None => false,
        }
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Routes {
    fn has_token(&self, token: &str) -> bool {
        self.open.values().any(|route| route.token.as_ref().is_some_and(|known| known.relay == token))
    }

    /// The stream that a message of the server belongs into, and the message as that stream's client reads it.
    fn place(&self, message: &Message, related: Option<&Id>, stateless: bool) -> Option<(Arc<ReplayBuffer>, Message)> {
        let subscription = id_rewriting::subscription(message);
        let token = id_rewriting::told_token(message);
        let by_id = |id: &Id| self.open.get(id);
        let by_token = |token: &String| {
            self.open.values().find(|route| route.token.as_ref().is_some_and(|known| known.relay == *token))
        };
        let known = subscription.as_ref().and_then(by_id).or_else(|| token.as_ref().and_then(by_token));
        if let Some(route) = known.or_else(|| related.and_then(by_id)) {
            let id = route.asked.as_ref().filter(|_| subscription.is_some());
            let mut message = message.clone();
            if let Some(id) = id {
                message = id_rewriting::with_subscription(&message, id);
            }
            if let Some(known) = route.token.as_ref().filter(|known| token.is_some() && known.relay != known.client) {
                message = id_rewriting::with_told_token(&message, &known.client);
            }
            return Some((Arc::clone(&route.buffer), message));
        }
        if subscription.is_some() {
            return None;
        }
        let newest = self.open.values().filter(|route| !route.listens).max_by_key(|route| route.stream);
        match newest {
            Some(route) if stateless || !self.common.is_read() => Some((Arc::clone(&route.buffer), message.clone())),
            _ if stateless => None,
            _ => Some((Arc::clone(&self.common), message.clone())),
        }
    }
}

impl Route {
    /// The answer under the id that the client gave.
    fn restored(&self, message: &Message, asked: &Id) -> Message {
        let message = message.with_id(asked);
        if self.listens { id_rewriting::with_subscription(&message, asked) } else { message }
    }
}

/// An id that no open request has.
fn fresh(stream: u64, open: &HashMap<Id, Route>) -> Id {
    let mut text = format!("phasegate-{stream}");
    while open.contains_key(&Id::Text(text.clone())) {
        text.push('-');
    }
    Id::Text(text)
}

/// What is answered when the relay is no more.
pub(super) fn gone() -> Refusal {
    Refusal::new(StatusCode::OK, -32603, "the server behind the proxy is gone; start a new session")
}
