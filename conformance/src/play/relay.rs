//! MCP as it ships: recorded messages go through the relay in memory, with a server on one side that says what was
//! recorded, and a client on the other. No process is started.

mod guards;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use phasegate_adapter::{Adapter, Guard};
use phasegate_mcp::options::{Options, Session};
use phasegate_mcp::relay::{Upstream, relay};
use phasegate_mcp::wire::link::{Wire, link};
use phasegate_mcp::{Kind, Mcp, Message};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

pub(crate) use guards::Script;
use guards::{Recording, Scripted};

/// Whether this adapter's messages go through the relay.
pub(crate) fn plays(adapter: &dyn Adapter) -> bool {
    adapter.id() == Mcp.id()
}

/// A recorded message with where it was seen.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded<'a> {
    session: String,
    server: String,
    from: From,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    /// The client is gone.
    #[serde(default)]
    closed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum From {
    Client,
    Server,
}

/// What came of one recorded message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relayed {
    /// The session it belongs to.
    pub(crate) session: String,
    /// The method, `answer`, or `closed`.
    pub(crate) event: String,
    /// What the client got, a message a line, except what the server had said in the same words.
    pub(crate) to_client: String,
    /// What the server got.
    to_server: Vec<Message>,
    /// What was logged.
    pub(crate) log: String,
}

/// How long the relay may take to pass a message on.
const PASSING_TIMEOUT: Duration = Duration::from_secs(30);
/// A notification that passes in both directions. What it follows has been passed on when it arrives.
const MARK: &str = r#"{"jsonrpc":"2.0","method":"notifications/conformance/mark"}"#;
/// The principal of a recording's sessions after the first. The first is played as over stdio, without a principal; the
/// others as over HTTP, which always has one.
const PRINCIPAL: &str = "recorded";

/// Both ends of one session's relay.
struct Line {
    client: Wire,
    server: Wire,
    ended: JoinHandle<()>,
}

/// Plays recorded messages, a relay for each session.
pub(crate) struct Player {
    runtime: Runtime,
    guard: Arc<dyn Guard>,
    /// By session; `None` once its client is gone.
    lines: BTreeMap<String, Option<Line>>,
    log: Log,
}

impl Player {
    /// A player whose relays ask this guard.
    ///
    /// # Errors
    ///
    /// The system gives no runtime.
    pub(crate) fn new(guard: Arc<dyn Guard>) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Self { runtime, guard, lines: BTreeMap::new(), log: Log::default() })
    }

    /// Plays one recorded message. Text that is no recorded message is what a client sent.
    ///
    /// # Errors
    ///
    /// The relay passes nothing on.
    pub(crate) fn play(&mut self, text: &str) -> Result<Relayed, String> {
        let log = self.log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || log.clone())
            .with_ansi(false)
            .without_time()
            .with_level(false)
            .with_target(false)
            .finish();
        let _logged = tracing::subscriber::set_default(subscriber);
        let Self { runtime, guard, lines, log } = self;
        let mut relayed = runtime.block_on(async {
            let played = tokio::time::timeout(PASSING_TIMEOUT, played(guard, lines, text)).await;
            played.unwrap_or_else(|_| Err("the relay passes nothing on".into()))
        })?;
        relayed.log = log.taken();
        Ok(relayed)
    }
}

async fn played(
    guard: &Arc<dyn Guard>,
    lines: &mut BTreeMap<String, Option<Line>>,
    text: &str,
) -> Result<Relayed, String> {
    let whole =
        Recorded { session: "1".into(), server: "lsp".into(), from: From::Client, message: None, closed: false };
    let (recorded, bytes) = match serde_json::from_str::<Recorded<'_>>(text) {
        Ok(recorded) => {
            let bytes = recorded.message.map(|message| message.get().to_owned());
            (recorded, bytes)
        }
        Err(_) => (whole, Some(text.to_owned())),
    };
    let session = recorded.session.clone();
    let passed = Relayed { session: session.clone(), ..Relayed::default() };
    if recorded.closed {
        if let Some(Some(line)) = lines.insert(session, None) {
            line.close().await?;
        }
        return Ok(Relayed { event: "closed".into(), ..passed });
    }
    let first = lines.is_empty();
    let line = lines.entry(session.clone()).or_insert_with(|| Some(Line::new(guard, &recorded, first)));
    let message = Message::read(bytes.ok_or("a recorded line with neither `message` nor `closed`")?.into_bytes());
    let event = message.as_ref().map_or("unreadable", |message| message.method().unwrap_or("answer")).to_owned();
    let same = message.as_ref().ok().filter(|_| recorded.from == From::Server).cloned();
    // After the client is gone, the server's messages are dropped.
    let Some(line) = line else { return Ok(Relayed { event, ..passed }) };
    line.send(recorded.from, message.map(Into::into).map_err(Box::new)).await?;
    let (to_client, to_server) = line.settled().await?;
    let told = to_client.iter().filter(|got| same.as_ref().is_none_or(|said| said.bytes() != got.bytes()));
    let to_client = told.map(|message| format!("{}\n", message.to_text())).collect();
    Ok(Relayed { event, to_client, to_server, ..passed })
}

impl Line {
    fn new(guard: &Arc<dyn Guard>, recorded: &Recorded<'_>, first: bool) -> Self {
        let (client_link, client) = link();
        let (server_link, server) = link();
        let upstream = Upstream { name: recorded.server.clone(), trusted: false, link: server_link, trouble: None };
        let principal = (!first).then(|| PRINCIPAL.to_owned());
        let session = Session { principal, ..Session::own(recorded.session.clone()) };
        let guard = Arc::clone(guard);
        let ended = tokio::spawn(async move {
            relay(client_link, vec![upstream], session, guard, Options::default()).await;
        });
        Self { client, server, ended }
    }

    async fn send(&self, from: From, message: phasegate_mcp::wire::link::Arrived) -> Result<(), String> {
        let to = match from {
            From::Client => &self.client.to,
            From::Server => &self.server.to,
        };
        to.send(message).await.map_err(|_| "the relay is gone".to_owned())
    }

    /// Closes the client's end. The server ends when its input does.
    async fn close(self) -> Result<(), String> {
        let Self { client, mut server, ended } = self;
        drop(client);
        while server.from.recv().await.is_some() {}
        drop(server);
        ended.await.map_err(|error| error.to_string())
    }

    /// Everything that has come out of the relay, once it has dealt with what went in. Recording an outcome may follow its
    /// answer, so marks pass twice.
    async fn settled(&mut self) -> Result<(Vec<Message>, Vec<Message>), String> {
        let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
        let mark = Message::made(MARK.to_owned()).ok_or("the mark is no message")?;
        for _ in 0..2 {
            self.send(From::Client, Ok(mark.clone().into())).await?;
            until_mark(&mut self.server, &mut to_server).await?;
            self.send(From::Server, Ok(mark.clone().into())).await?;
            until_mark(&mut self.client, &mut to_client).await?;
        }
        Ok((to_client, to_server))
    }
}

async fn until_mark(wire: &mut Wire, passed: &mut Vec<Message>) -> Result<(), String> {
    loop {
        let routed = wire.from.recv().await.ok_or("the relay is gone")?;
        if routed.message.bytes() == MARK.as_bytes() {
            return Ok(());
        }
        passed.push(routed.message);
    }
}

/// What the messages of a recording stand for: the method, and the events that the relay gave its guard.
pub(crate) fn decoded(frames: &[String]) -> Result<Vec<Value>, String> {
    let guard = Arc::new(Recording::default());
    let mut player = Player::new(Arc::clone(&guard) as Arc<dyn Guard>)?;
    let mut lines = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let relayed = player.play(frame).map_err(|problem| format!("frame {}: {problem}", at + 1))?;
        lines.push(json!({"hook": relayed.event, "events": guard.taken()}));
    }
    Ok(lines)
}

/// What the client gets for a recorded message whose events the guard answers as the script says. A request that is
/// forwarded is answered as recorded among `frames`, or with an empty result.
pub(crate) fn replied(frame: &str, frames: &[String], script: Script) -> Result<Relayed, String> {
    let guard = Arc::new(Scripted::default());
    let mut player = Player::new(Arc::clone(&guard) as Arc<dyn Guard>)?;
    let answered = |message: &Message| frames.iter().find(|line| is_answer(line, message));
    // An answer only means something to a relay that has forwarded its request.
    if let Some(request) = frames.iter().find(|line| message_of(line).is_some_and(|request| is_answer(frame, &request)))
    {
        player.play(request)?;
    }
    guard.answers(script);
    let mut relayed = player.play(frame)?;
    let forwarded = relayed.to_server.iter().find(|message| message.kind() == Kind::Request).cloned();
    if let Some(request) = forwarded {
        let answer = match answered(&request) {
            Some(line) => line.clone(),
            None => {
                let id = request.id().map(ToString::to_string).unwrap_or_default();
                format!(
                    r#"{{"session":"{}","server":"lsp","from":"server","message":{{"jsonrpc":"2.0","id":{id},"result":{{}}}}}}"#,
                    relayed.session
                )
            }
        };
        let more = player.play(&answer)?;
        relayed.to_client.push_str(&more.to_client);
        relayed.log.push_str(&more.log);
    }
    Ok(relayed)
}

/// Whether a recorded line answers this request.
fn is_answer(line: &str, request: &Message) -> bool {
    let said = serde_json::from_str::<Recorded<'_>>(line).is_ok_and(|recorded| recorded.from == From::Server);
    said && message_of(line).is_some_and(|answer| {
        matches!(answer.kind(), Kind::Result | Kind::Error)
            && request.kind() == Kind::Request
            && answer.id() == request.id()
    })
}

fn message_of(line: &str) -> Option<Message> {
    let recorded: Recorded<'_> = serde_json::from_str(line).ok()?;
    Message::read(recorded.message?.get().to_owned().into_bytes()).ok()
}

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn taken(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
