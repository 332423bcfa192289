//! Who may speak to a listening address at all: the names it is called by, and the web pages that call it.
//!
//! A page of another site can make a browser on this machine send requests to a loopback address, and can have its own
//! name point there. The browser says so itself, in `Origin` and `Host`; programs send no `Origin`.

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};

use crate::http::protocol::refusal::Refusal;

/// By which names the address may be called, and by which web pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Further host names beside those of loopback, without a port.
    pub hosts: Vec<String>,
    /// Web pages that may call, as browsers name them: `https://example.org`.
    pub origins: Vec<String>,
    /// Whether the address is reached from this machine only. If not, any host name is accepted unless some are listed:
    /// the token protects the address.
    pub loopback: bool,
}

impl Access {
    /// Refuses what was sent to another name, or by a foreign page.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let refused = |text: String| Err(Refusal::new(StatusCode::FORBIDDEN, -32600, text));
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|value| value.to_str().ok()).and_then(|text| text.parse::<Authority>().ok());
        let Some(host) = host.filter(|_| hosts.next().is_none()) else {
            return refused("the request must name one host in `Host`".into());
        };
        for name in [Some(host.host()), uri.host()].into_iter().flatten() {
            if !self.host_is_ours(name) {
                return refused(format!("`{name}` is no name of this address; `--allow-host` adds one"));
            }
        }
        for origin in headers.get_all(ORIGIN) {
            let ours = origin.to_str().is_ok_and(|origin| self.origin_is_ours(origin));
            if !ours {
                let origin = String::from_utf8_lossy(origin.as_bytes()).into_owned();
                return refused(format!("pages of `{origin}` may not call this address; `--allow-origin` lets one"));
            }
        }
        Ok(())
    }

    /// The page that sent a request, if it is one of those that are let in by name.
    pub(super) fn page<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        let text = origin.to_str().ok()?;
        let is_listed = self.origins.iter().any(|known| known.trim_end_matches('/').eq_ignore_ascii_case(text));
        is_listed.then_some(origin)
    }

    fn host_is_ours(&self, host: &str) -> bool {
        let listed = self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
        listed || is_loopback(host) || (!self.loopback && self.hosts.is_empty())
    }

    fn origin_is_ours(&self, origin: &str) -> bool {
        if self.origins.iter().any(|known| known.trim_end_matches('/').eq_ignore_ascii_case(origin)) {
            return true;
        }
        let uri: Option<Uri> = origin.parse().ok();
        let host = uri.as_ref().filter(|uri| matches!(uri.scheme_str(), Some("http" | "https"))).and_then(Uri::host);
        self.loopback && host.is_some_and(is_loopback)
    }
}

/// Whether a host name means this machine and no other.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(access: &Access, host: Option<&str>, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        if let Some(host) = host {
            headers.insert(HOST, host.parse().unwrap());
        }
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        access.check(&Uri::from_static("/mcp"), &headers).is_ok()
    }

    #[test]
    fn loopback_is_called_by_its_names_and_its_pages() {
        let access = Access { loopback: true, ..Access::default() };
        for host in ["localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1:9", "[::1]:80", "127.9.9.9"] {
            assert!(asked(&access, Some(host), None), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.example:80", "10.0.0.1", "", "a b"] {
            assert!(!asked(&access, Some(host), None), "{host}");
        }
        assert!(!asked(&access, None, None));
        for origin in ["http://localhost", "http://localhost:6274", "https://127.0.0.1:1", "http://[::1]:5"] {
            assert!(asked(&access, Some("localhost"), Some(origin)), "{origin}");
        }
        for origin in
            ["null", "http://evil.example", "file://", "http://localhost.evil.example", "chrome-extension://x"]
        {
            assert!(!asked(&access, Some("localhost"), Some(origin)), "{origin}");
        }
    }

    #[test]
    fn two_hosts_or_a_foreign_one_in_the_target_are_refused() {
        let access = Access { loopback: true, ..Access::default() };
        let mut headers = HeaderMap::new();
        headers.append(HOST, "localhost".parse().unwrap());
        assert!(access.check(&Uri::from_static("http://evil.example/mcp"), &headers).is_err());
        assert!(access.check(&Uri::from_static("http://localhost/mcp"), &headers).is_ok());
        headers.append(HOST, "evil.example".parse().unwrap());
        assert!(access.check(&Uri::from_static("/mcp"), &headers).is_err());
    }

    #[test]
    fn names_and_pages_can_be_added() {
        let access =
            Access { hosts: vec!["tools.example".into()], origins: vec!["https://app.example".into()], loopback: true };
        assert!(asked(&access, Some("Tools.example:8443"), Some("https://app.example")));
        assert!(!asked(&access, Some("tools.example"), Some("https://app.example:444")));
        let open = Access { loopback: false, ..Access::default() };
        assert!(asked(&open, Some("anything.example"), None));
        assert!(!asked(&open, Some("anything.example"), Some("http://localhost")));
    }
}
