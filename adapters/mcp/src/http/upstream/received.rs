//! A stream of events from the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::ACCEPT;
use reqwest::{Method, Response, StatusCode};
use sse_stream::SseByteStream;

use super::driver::Driver;
use super::response::{MAX_MESSAGE_BYTES, RETRY_AFTER, kind};
use crate::message::id::Id;
use crate::message::{Kind, Message};

/// The longest time between two attempts to listen again.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// How far a stream was read.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The id of the last event that had one.
    pub(super) last: Option<String>,
    /// How long the server wants to be left alone before the stream is asked for again.
    pub(super) retry: Option<Duration>,
}

impl Place {
    /// How long to wait before this attempt, counted from 1.
    pub(super) fn wait(&self, attempt: u32) -> Duration {
        let doubled = RETRY_AFTER.saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
        self.retry.unwrap_or(doubled).min(MAX_RETRY_WAIT)
    }
}

/// How a stream ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// With the answer.
    Answered,
    /// Without.
    Broken,
    /// With what is no stream of messages.
    Garbage(String),
}

impl Driver {
    /// Hands on what a stream brings, up to the answer of the request that it belongs to.
    pub(super) async fn received(&self, response: Response, of: Option<(&Message, &Id)>, place: &mut Place) -> Ended {
        let since = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&since);
        let bytes = response.bytes_stream().map(move |piece| {
            let piece = piece.map_err(io::Error::other)?;
            let whole = counted.fetch_add(piece.len(), Ordering::Relaxed).saturating_add(piece.len());
            if whole > MAX_MESSAGE_BYTES { Err(io::Error::from(io::ErrorKind::FileTooLarge)) } else { Ok(piece) }
        });
        let mut events = SseByteStream::new(bytes);
        while let Some(event) = events.next().await {
            since.store(0, Ordering::Relaxed);
            let event = match event {
                Ok(event) => event,
                Err(sse_stream::Error::Body(error)) => {
                    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
                    if kind != Some(io::ErrorKind::FileTooLarge) {
                        return Ended::Broken;
                    }
                    return Ended::Garbage(format!("the server's message is larger than {MAX_MESSAGE_BYTES} bytes"));
                }
                Err(error) => return Ended::Garbage(format!("the server's stream cannot be read: {error}")),
            };
            if event.id.is_some() {
                place.last = event.id;
            }
            place.retry = event.retry.map(Duration::from_millis).or(place.retry);
            let Some(data) = event.data.filter(|data| !data.is_empty()) else { continue };
            match Message::read(data) {
                Ok(message) => {
                    if Box::pin(self.handed(message, of)).await {
                        return Ended::Answered;
                    }
                }
                Err(malformed) => tracing::warn!(malformed = malformed.text, "the server sent what is no message"),
            }
        }
        Ended::Broken
    }

    /// Hands a message on; whether it was the answer.
    async fn handed(&self, message: Message, of: Option<(&Message, &Id)>) -> bool {
        match (message.kind(), of) {
            (Kind::Result | Kind::Error, Some((asked, id))) if message.id() == Some(id) => {
                self.answered(asked, message, id).await;
                true
            }
            (Kind::Result | Kind::Error, _) => {
                tracing::warn!(id = ?message.id(), "the server answered on a stream where nobody had asked");
                false
            }
            (Kind::Request | Kind::Notification, _) => {
                self.arrived(message, of.map(|(_, id)| id)).await;
                false
            }
        }
    }

    /// Hands on what the server sends by itself, as long as it offers such a stream.
    pub(super) async fn listening(self: Arc<Self>) {
        let mut place = Place::default();
        let mut attempt: u32 = 0;
        loop {
            let mut request = self.request(Method::GET, None).header(ACCEPT, "text/event-stream");
            if let Some(last) = &place.last {
                request = request.header("last-event-id", last);
            }
            match request.send().await {
                Ok(response)
                    if response.status().is_success() && kind(&response).as_deref() == Some("text/event-stream") =>
                {
                    attempt = 0;
                    if let Ended::Garbage(text) = self.received(response, None, &mut place).await {
                        tracing::warn!(text, "the server's own stream is given up");
                        return;
                    }
                }
                // The session is forgotten; there may be another soon.
                Ok(response) if response.status() == StatusCode::NOT_FOUND => self.renewals.notified().await,
                // It offers none.
                Ok(_) => return,
                Err(_) => {}
            }
            attempt = u32::min(attempt.saturating_add(1), 6);
            tokio::time::sleep(place.wait(attempt)).await;
        }
    }
}
