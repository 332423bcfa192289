//! A server that is reached by an address.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::{Action, Attempt, Policy};

/// A server that is reached by an address. Copies share their connections.
#[derive(Clone)]
pub struct Remote {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) client: reqwest::Client,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Remote").field("url", &self.url.as_str()).field("headers", &headers).finish_non_exhaustive()
    }
}

/// Why a server cannot be reached at all: a fragment that names the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRemote(pub String);

impl fmt::Display for BadRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRemote {}

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How many connections without a request are kept for the next ones, of all sessions together.
const MAX_IDLE_CONNECTIONS: usize = 32;
/// How many times a server may send on to another address of its own.
const MAX_REDIRECTS: usize = 5;
/// Headers that the protocol or the connection sets.
const SET_HERE: [&str; 11] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

impl Remote {
    /// A server at an address, with headers for every request.
    ///
    /// # Errors
    ///
    /// The address is none of `http` or `https`, or holds a password; a header is no header, or one that is set here.
    pub fn new<'a>(url: &str, headers: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, BadRemote> {
        let url: Url = url.parse().map_err(|error| BadRemote(format!("`{url}` is no address: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(BadRemote(format!("`{url}` does not begin with `http://` or `https://`")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            let text = "the address holds a name or password; put it into a header, from a variable";
            return Err(BadRemote(text.into()));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let bad = |what: &str| BadRemote(format!("the {what} of the header `{name}` cannot be sent"));
            let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("name"))?;
            if SET_HERE.contains(&known.as_str()) {
                return Err(BadRemote(format!("the header `{name}` is set by the protocol")));
            }
            let mut value = HeaderValue::from_str(value).map_err(|_| bad("value"))?;
            value.set_sensitive(true);
            map.append(known, value);
        }
        let client = client(&url).map_err(|error| BadRemote(format!("no connection can be prepared: {error}")))?;
        Ok(Self { url, headers: map, client })
    }

    /// The host in the address.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}

fn client(url: &Url) -> reqwest::Result<reqwest::Client> {
    // Another thread may have chosen one before; either is correct.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(Duration::from_secs(60))
        .pool_idle_timeout(Duration::from_secs(60))
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .tcp_nodelay(true)
        .redirect(Policy::custom(followed))
        .user_agent(concat!("phasegate/", env!("CARGO_PKG_VERSION")));
    let local = url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    });
    if local {
        builder = builder.no_proxy();
    }
    builder.build()
}

/// A server may send on to another address of its own, where the message is sent as it is. What goes to another host
/// would take our headers there; what is sent on in another way loses the message.
fn followed(attempt: Attempt<'_>) -> Action {
    let own = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    let whole = matches!(attempt.status().as_u16(), 307 | 308);
    if own && whole && attempt.previous().len() <= MAX_REDIRECTS { attempt.follow() } else { attempt.stop() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(url: &str, headers: &[(&str, &str)]) -> Result<Remote, BadRemote> {
        Remote::new(url, headers.iter().copied())
    }

    #[test]
    fn headers_are_sent_as_they_are_and_shown_to_nobody() {
        let remote = made("https://x.example/mcp", &[("Authorization", "Bearer secret"), ("x-a", "${TOKEN}")]).unwrap();
        assert_eq!(remote.headers["authorization"], "Bearer secret");
        assert_eq!(remote.headers["x-a"], "${TOKEN}");
        assert!(!format!("{remote:?}").contains("secret"));
    }

    #[test]
    fn what_cannot_be_reached_is_told() {
        for (url, headers) in [
            ("ftp://x.example", vec![]),
            ("x.example/mcp", vec![]),
            ("http://", vec![]),
            ("http://me:word@x.example/mcp", vec![]),
            ("http://x.example/mcp", vec![("Mcp-Session-Id", "1")]),
            ("http://x.example/mcp", vec![("a b", "1")]),
            ("http://x.example/mcp", vec![("a", "1\n2")]),
        ] {
            assert!(made(url, &headers).is_err(), "{url} {headers:?}");
        }
    }
}
