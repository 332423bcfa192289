//! What ties a server's notification to a request: a progress token, or the id of a subscription.

use crate::http::handle::object;
use crate::message::Message;
use crate::message::id::Id;
use crate::message::object::Object;

const TOKEN: &str = "progressToken";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A progress token in two spellings, both as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProgressToken {
    /// As the relay knows it.
    pub(super) relay: String,
    /// As the client knows it.
    pub(super) client: String,
}

/// The token under which a request wants its progress told.
pub(super) fn progress_token(message: &Message) -> Option<ProgressToken> {
    let token =
        Object::read(Object::read(message.content()).ok()?.get("_meta")?.as_bytes()).ok()?.get(TOKEN)?.to_owned();
    let token = normal(&token)?;
    Some(ProgressToken { relay: token.clone(), client: token })
}

/// The request with another token.
pub(super) fn with_progress_token(message: &Message, token: &str) -> Message {
    replaced(message, &["_meta", TOKEN], token)
}

/// The token that a notification tells progress under.
pub(super) fn told_token(message: &Message) -> Option<String> {
    if message.method() != Some("notifications/progress") {
        return None;
    }
    normal(Object::read(message.content()).ok()?.get(TOKEN)?)
}

/// The notification with another token.
pub(super) fn with_told_token(message: &Message, token: &str) -> Message {
    replaced(message, &[TOKEN], token)
}

/// The subscription that a notification was sent for.
pub(super) fn subscription(message: &Message) -> Option<Id> {
    let content = Object::read(message.content()).ok()?;
    let meta = Object::read(content.get("_meta")?.as_bytes()).ok()?;
    Id::read(meta.get(SUBSCRIPTION)?.as_bytes())
}

/// The message with another subscription, where it names one.
pub(super) fn with_subscription(message: &Message, id: &Id) -> Message {
    if subscription(message).is_none() {
        return message.clone();
    }
    replaced(message, &["_meta", SUBSCRIPTION], &id.json())
}

/// The message with the value at this path of its content replaced; nothing else in it changes.
fn replaced(message: &Message, path: &[&str], json: &str) -> Message {
    let Ok(content) = std::str::from_utf8(message.content()) else { return message.clone() };
    match put(content, path, json) {
        Some(content) => message.with_content(content.as_bytes()),
        None => message.clone(),
    }
}

fn put(whole: &str, path: &[&str], json: &str) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let read = Object::read(whole.as_bytes()).ok()?;
    let inner = if rest.is_empty() { json.to_owned() } else { put(read.get(first)?, rest, json)? };
    Some(object(read.iter().map(|(key, value)| (key, if key == *first { inner.as_str() } else { value }))))
}

/// A token always spelt in the same way.
fn normal(json: &str) -> Option<String> {
    Id::read(json.as_bytes()).map(|id| id.json())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(content: &str) -> Message {
        Message::read(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"notifications/progress","params":{content}}}"#))
            .unwrap()
    }

    #[test]
    fn tokens_and_subscriptions_are_replaced_and_nothing_else() {
        let asked = message(r#"{"x":1.50,"_meta":{"progressToken":7,"y":1e400}}"#);
        assert_eq!(progress_token(&asked).unwrap().relay, "7");
        let other = with_progress_token(&asked, "\"t\"");
        assert_eq!(other.content(), br#"{"x":1.50,"_meta":{"progressToken":"t","y":1e400}}"#);
        let told = message(r#"{"progressToken":"\u0074","progress":0.10}"#);
        assert_eq!(told_token(&told).as_deref(), Some("\"t\""));
        assert_eq!(with_told_token(&told, "7").content(), br#"{"progressToken":7,"progress":0.10}"#);
        let changed = message(r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":"a"}}"#);
        assert_eq!(subscription(&changed), Some(Id::Text("a".into())));
        assert_eq!(subscription(&with_subscription(&changed, &Id::Number(3))), Some(Id::Number(3)));
        assert_eq!(with_subscription(&told, &Id::Number(3)).bytes(), told.bytes());
    }
}
