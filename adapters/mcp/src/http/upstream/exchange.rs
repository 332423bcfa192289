//! One request and its answer.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::ACCEPT;
use reqwest::{Method, Response, StatusCode};

use super::driver::Driver;
use super::received::{Ended, Place};
use super::response::{kind, whole};
use crate::http::protocol::versions::SESSION;
use crate::message::id::Id;
use crate::message::{Kind, Message};

/// How many times a stream that broke off is taken up again.
const MAX_RESUME_ATTEMPTS: u32 = 5;

impl Driver {
    /// Sends a request and forwards its result. The request always gets an answer.
    pub(super) async fn asked(self: Arc<Self>, message: Message, stateless: bool) {
        let Some(id) = message.id().cloned() else { return };
        if let Err(text) = self.exchanged(&message, &id, stateless).await {
            self.failed(&id, &text).await;
        }
    }

    async fn exchanged(&self, message: &Message, id: &Id, stateless: bool) -> Result<(), String> {
        let begun = self.handshake().times;
        let mut response = self.posted(message, stateless).await?;
        let forgotten = response.status() == StatusCode::NOT_FOUND && !stateless && self.handshake().id.is_some();
        if forgotten && message.method() != Some("initialize") {
            self.renew(begun).await?;
            response = self.posted(message, stateless).await?;
        }
        if message.method() == Some("initialize") {
            self.opened(message, &response);
        }
        match kind(&response).as_deref() {
            Some("text/event-stream") if response.status().is_success() => {
                self.streamed(response, message, id, stateless).await
            }
            Some("application/json") => {
                let status = response.status();
                let answer = whole(response).await?;
                let answer = self.fitting(answer, id, status)?;
                if stateless && answer.kind() == Kind::Error && self.learnt(message, &answer).await {
                    return self.again(message, id).await;
                }
                self.answered(message, answer, id).await;
                Ok(())
            }
            _ => Err(unfit(&response)),
        }
    }

    /// A call once more, now that it is known which arguments headers repeat.
    async fn again(&self, message: &Message, id: &Id) -> Result<(), String> {
        let response = self.posted(message, true).await?;
        match kind(&response).as_deref() {
            Some("text/event-stream") if response.status().is_success() => {
                self.streamed(response, message, id, true).await
            }
            Some("application/json") => {
                let status = response.status();
                let answer = self.fitting(whole(response).await?, id, status)?;
                self.answered(message, answer, id).await;
                Ok(())
            }
            _ => Err(unfit(&response)),
        }
    }

    async fn streamed(&self, response: Response, message: &Message, id: &Id, stateless: bool) -> Result<(), String> {
        let mut place = Place::default();
        let mut response = response;
        let mut attempts = 0;
        loop {
            match self.received(response, Some((message, id)), &mut place).await {
                Ended::Answered => return Ok(()),
                Ended::Garbage(text) => return Err(text),
                Ended::Broken if stateless || place.last.is_none() || attempts >= MAX_RESUME_ATTEMPTS => {
                    return Err("the server's answer broke off; whether it did what was asked is not known".into());
                }
                Ended::Broken => {}
            }
            loop {
                attempts = attempts.saturating_add(1);
                tokio::time::sleep(place.wait(attempts)).await;
                let resumed = self.request(Method::GET, None).header(ACCEPT, "text/event-stream");
                let resumed = resumed.header("last-event-id", place.last.clone().unwrap_or_default()).send().await;
                match resumed {
                    Ok(again)
                        if again.status().is_success() && kind(&again).as_deref() == Some("text/event-stream") =>
                    {
                        response = again;
                        break;
                    }
                    Err(_) if attempts < MAX_RESUME_ATTEMPTS => {}
                    _ => return Err("the server's answer broke off, and the server does not take it up again".into()),
                }
            }
        }
    }

    /// Notes how a session was begun.
    fn opened(&self, message: &Message, response: &Response) {
        let id = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(ToOwned::to_owned);
        let mut handshake = self.lock();
        handshake.id = id;
        handshake.opened = Some(message.clone());
        handshake.times = handshake.times.saturating_add(1);
    }

    /// An answer that is one object, if it is the answer to this request.
    fn fitting(&self, body: Bytes, id: &Id, status: StatusCode) -> Result<Message, String> {
        let answer = Message::read(body).map_err(|malformed| {
            format!("the server answered (HTTP {}) what is no message: {}", status.as_u16(), malformed.text)
        })?;
        match (answer.kind(), answer.id()) {
            (Kind::Result | Kind::Error, Some(answered)) if answered == id => Ok(answer),
            // A server that did not come to read the id sends its error without one.
            (Kind::Error, None) => Ok(answered_as(&answer, id)),
            _ => Err("the server answered another request than it was asked".into()),
        }
    }
}

/// The error under this id.
fn answered_as(error: &Message, id: &Id) -> Message {
    let content = String::from_utf8_lossy(error.content());
    let text = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{content}}}"#, id.json());
    Message::read(text).unwrap_or_else(|_| error.clone())
}

fn unfit(response: &Response) -> String {
    let status = response.status();
    let code = status.as_u16();
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            format!("the server lets nobody in without other credentials (HTTP {code}); `--header` sends them")
        }
        _ if status.is_redirection() => {
            format!("the server sends on to another address (HTTP {code}), which is not followed; give that address")
        }
        _ if status.is_success() => {
            let kind = kind(response).unwrap_or_else(|| "nothing".into());
            format!("the server answered `{kind}`, neither JSON nor a stream of events (HTTP {code})")
        }
        _ => format!("the server answered HTTP {code} and no message"),
    }
}
