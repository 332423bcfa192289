//! Listening: connections in, requests to the part that knows their revision.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::TRANSFER_ENCODING;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use phasegate_adapter::Guard;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::client::{Client, Connection, Ends};
use super::principal::Principal;
use super::protocol::{lists, pages};
use super::sessions::{Join, Sessions};
use super::settings::{Listen, PATH, Server};
use super::{handshake, stateless};
use crate::http::protocol::accept::checked;
use crate::http::protocol::refusal::Refusal;
use crate::http::protocol::reply::{self, Reply};
use crate::http::protocol::revision::{self, Revision};
use crate::message::{Fault, Message};

/// How long a client may take to send the head of a request; a connection that waits for another one stays as long.
const HEADER_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a client may take between two pieces of a request's body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long sessions may take to end when the listening does.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves clients until `stop`, each session by a relay of its own, which `join` makes.
pub async fn listen(
    listener: TcpListener,
    settings: Listen,
    guard: Arc<dyn Guard>,
    join: Join,
    stop: impl Future<Output = ()>,
) {
    let sessions = Sessions::new(join, guard, Arc::clone(&settings.clients), settings.sessions);
    let idle = settings.idle;
    let places = Arc::new(Semaphore::new(settings.connections));
    let server = Arc::new(Server { settings, sessions });
    let (stopping, stopped) = watch::channel(());
    let mut sweep = tokio::time::interval((idle / 4).clamp(Duration::from_millis(50), Duration::from_secs(30)));
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            _ = sweep.tick() => server.sessions.sweep(idle).await,
            (place, connection) = accepted(&places, &listener) => match connection {
                Ok(connection) => {
                    tokio::spawn(connected(Arc::clone(&server), connection, place, stopped.clone()));
                }
                // Too many open files, or a client that is gone already: others may fare better.
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
        }
    }
    drop(listener);
    server.sessions.close_all(SHUTDOWN_TIMEOUT).await;
    drop(stopping);
}

async fn accepted(
    places: &Arc<Semaphore>,
    listener: &TcpListener,
) -> (Option<OwnedSemaphorePermit>, std::io::Result<TcpStream>) {
    let place = Arc::clone(places).acquire_owned().await.ok();
    let connection = listener.accept().await.map(|(connection, _)| connection);
    (place, connection)
}

async fn connected(
    server: Arc<Server>,
    connection: TcpStream,
    place: Option<OwnedSemaphorePermit>,
    mut stopped: watch::Receiver<()>,
) {
    // Answers are small and waited for.
    let _ = connection.set_nodelay(true);
    let ends = connection.peer_addr().and_then(|client| Ok(Ends { client, own: connection.local_addr()? })).ok();
    let known = Connection::new(ends);
    let service = service_fn(move |request| {
        let (server, known) = (Arc::clone(&server), Arc::clone(&known));
        // A connection keeps room for this future between requests, so it is kept small.
        Box::pin(async move { Ok::<_, Infallible>(answer_to_page(&server, known, request).await) })
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(connection), service);
    tokio::select! {
        result = serving => {
            if let Err(error) = result {
                tracing::debug!(%error, "a connection ended");
            }
        }
        // The sender is dropped when the sessions have ended.
        _ = stopped.changed() => {}
    }
    drop(place);
}

/// Answers a request so that a listed web page that sent it can read the answer.
async fn answer_to_page(server: &Arc<Server>, connection: Arc<Connection>, request: Request<Incoming>) -> Reply {
    let access = &server.settings.access;
    let page = access.page(request.headers()).cloned();
    let mut reply = match pages::asked_before(access, &request) {
        Some(reply) => reply,
        None => answer(server, connection, request).await,
    };
    if let Some(page) = page {
        pages::readable(&mut reply, page);
    }
    reply
}

async fn answer(server: &Arc<Server>, connection: Arc<Connection>, request: Request<Incoming>) -> Reply {
    let principal = match admitted(&server.settings, &request) {
        Ok(principal) => principal,
        Err(refusal) => return reply::refused(&refusal, None),
    };
    let method = request.method().clone();
    let answered = match method {
        Method::POST => {
            let proven = !server.settings.tokens.is_empty();
            return posted(server, &Client { principal, proven, connection }, request).await;
        }
        Method::GET => handshake::listened(server, &principal, request.headers()).await,
        Method::DELETE => handshake::deleted(server, &principal, request.headers()).await,
        _ => Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, -32600, "messages are sent with POST")),
    };
    answered.unwrap_or_else(|refusal| reply::refused(&refusal, None))
}

/// Who sent the request, if it may be looked at at all.
fn admitted(settings: &Listen, request: &Request<Incoming>) -> Result<Principal, Refusal> {
    let headers = request.headers();
    settings.access.check(request.uri(), headers)?;
    if request.uri().path() != PATH {
        return Err(Refusal::new(StatusCode::NOT_FOUND, -32600, format!("messages are taken at `{PATH}`")));
    }
    let principal = settings.tokens.principal(headers)?;
    let bodyless = *request.method() != Method::POST;
    if bodyless && (!request.body().is_end_stream() || headers.contains_key(TRANSFER_ENCODING)) {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, -32600, "only POST takes a body"));
    }
    Ok(principal)
}

async fn posted(server: &Arc<Server>, client: &Client, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let bytes = match checked(&head.headers) {
        Ok(()) => read(body, server.settings.request_bytes).await,
        Err(refusal) => Err(refusal),
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(refusal) => return reply::refused(&refusal, None),
    };
    let message = match Message::read(bytes.clone()) {
        Ok(message) => message,
        Err(malformed) if malformed.fault == Fault::Batch && lists::are_spoken(&head.headers) => {
            let answered = lists::posted(server, &client.principal, &head.headers, &bytes).await;
            return answered.unwrap_or_else(|refusal| reply::refused(&refusal, None));
        }
        Err(malformed) => return reply::refused(&Refusal::from(&malformed), malformed.id.as_ref()),
    };
    let id = message.id().cloned();
    let answered = match revision::of(&head.headers, &message) {
        Ok(Revision::Session) => handshake::posted(server, &client.principal, &head.headers, message).await,
        Ok(Revision::Stateless) => stateless::posted(server, client, &head.headers, message).await,
        Err(refusal) => Err(refusal),
    };
    answered.unwrap_or_else(|refusal| reply::refused(&refusal, id.as_ref()))
}

async fn read(mut body: Incoming, limit: usize) -> Result<Bytes, Refusal> {
    let too_large = || {
        let text = format!("a request may have {limit} bytes at most");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, -32600, text)
    };
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if expected > limit {
        return Err(too_large());
    }
    // What was announced is not set aside before it comes.
    let mut bytes = BytesMut::with_capacity(expected.min(64 << 10));
    loop {
        let frame = tokio::time::timeout(BODY_TIMEOUT, body.frame())
            .await
            .map_err(|_| Refusal::new(StatusCode::REQUEST_TIMEOUT, -32600, "the body did not come in time"))?;
        match frame {
            None => return Ok(bytes.freeze()),
            Some(Ok(frame)) => {
                let Some(data) = frame.data_ref() else { continue };
                if bytes.len().saturating_add(data.len()) > limit {
                    return Err(too_large());
                }
                bytes.extend_from_slice(data);
            }
            Some(Err(error)) => {
                let text = format!("the body broke off: {error}");
                return Err(Refusal::new(StatusCode::BAD_REQUEST, -32700, text));
            }
        }
    }
}
