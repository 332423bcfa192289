//! Matchers that nothing can match: a label that no tool has, a tool or a server that is probably misspelt.

use std::collections::BTreeSet;

use phasegate_core::calls::tool::same_server;
use phasegate_core::policy::matcher::{ServerPattern, ToolPattern};

use super::known::{Known, host_tools, is_host_tool};
use super::uses::{Allowed, Use};
use crate::input::KnownServers;
use crate::read::suggestion::{closest, listed};
use crate::read::typo::{Typo, host_typo, typo};

/// Why a matcher probably matches nothing.
pub(super) struct Doubt {
    /// What is wrong, as a fragment.
    pub(super) message: String,
    /// What was probably meant, as a pattern.
    pub(super) meant: Option<String>,
    /// What to write instead.
    pub(super) suggestion: String,
    /// Whether no call will match, as far as one can know.
    pub(super) sure: bool,
    /// Why, where that is all there is to say.
    pub(super) cause: Option<&'static str>,
    /// The key under which the name makes sense, if it is right.
    pub(super) key: Option<&'static str>,
}

/// What matchers are held against.
pub(super) struct Names<'b> {
    pub(super) known: Known<'b>,
    pub(super) allowed: Allowed<'b>,
    pub(super) servers: &'b [String],
    /// The tools of servers that are known.
    pub(super) tools: &'b KnownServers,
    /// Whether tools that are not seen here may have labels of their own.
    pub(super) open: bool,
}

impl Names<'_> {
    /// Why the matcher probably matches nothing, if so.
    pub(super) fn doubt(&self, used: &Use<'_>) -> Option<Doubt> {
        let by_tool = match &used.matcher.tool {
            ToolPattern::Label(label) => self.label(label),
            ToolPattern::Exact(name) => self.name(name, used),
            ToolPattern::Any | ToolPattern::Prefix(_) => None,
        };
        by_tool.or_else(|| self.server(used))
    }

    fn label(&self, label: &str) -> Option<Doubt> {
        let labels = &self.known.labels;
        if labels.contains(label) {
            return None;
        }
        let meant = closest(label, labels.iter().copied());
        Some(Doubt {
            message: format!("no tool has the label `{label}`"),
            suggestion: meant.map_or_else(
                || format!("the labels are {}; `tools` can give others", listed(labels.iter().copied())),
                |meant| format!("did you mean `{meant}`?"),
            ),
            sure: meant.is_some() || !self.open,
            meant: meant.map(|meant| format!("@{meant}")),
            cause: None,
            key: None,
        })
    }

    fn server(&self, used: &Use<'_>) -> Option<Doubt> {
        let ServerPattern::Named(server) = &used.matcher.server else { return None };
        if self.servers.contains(server) {
            return None;
        }
        let (found, meant) = self.servers.iter().filter_map(|known| typo(server, known).map(|s| (s, known))).max()?;
        Some(Doubt {
            message: format!("server `{server}` is not listed under `servers`"),
            meant: None,
            suggestion: format!("did you mean `{meant}`?"),
            sure: found == Typo::Sure,
            cause: None,
            key: Some("servers"),
        })
    }

    fn name(&self, name: &str, used: &Use<'_>) -> Option<Doubt> {
        let on_host = used.matcher.server == ServerPattern::Bare;
        if self.known.notes(name) || (on_host && is_host_tool(name)) {
            return None;
        }
        if let Some(doubt) = on_host.then(|| as_in_rules(name)).flatten() {
            return Some(doubt);
        }
        match self.listed(used) {
            Some(tools) if tools.contains(name) => return None,
            Some(tools) if !name.starts_with(char::is_uppercase) => return Some(unlisted(name, &tools)),
            _ => {}
        }
        let hosts = host_tools().filter(|_| on_host).filter_map(|host| Some((host_typo(name, host)?, true, host)));
        let noted = self.known.noted.iter().filter_map(|other| Some((typo(name, other)?, true, *other)));
        let others = self.allowed.misspelt(used.matcher, name).into_iter().map(|(found, other)| (found, false, other));
        let all = hosts.chain(noted).chain(others);
        let best = all.max_by_key(|(found, known, other)| (*found, *known, std::cmp::Reverse(*other)));
        let Some((found, _, meant)) = best else { return self.unknown(name, on_host) };
        // Where a list allows it, a server of the skill may have a tool of this name.
        let of_server =
            on_host && !self.servers.is_empty() && name.starts_with(char::is_lowercase) && self.allowed.names(name);
        Some(Doubt {
            message: format!("`{name}` is probably misspelt"),
            meant: Some(meant.to_string()),
            suggestion: format!("did you mean `{meant}`?"),
            sure: found == Typo::Sure && !of_server,
            cause: Some("another tool has nearly the same name"),
            key: Some("tools"),
        })
    }

    /// A name as agent hosts give them, which none is known to have: clients get new tools, and users write their own.
    fn unknown(&self, name: &str, on_host: bool) -> Option<Doubt> {
        let seen = || self.tools.tools.values().any(|tools| tools.contains(name));
        let like_a_host = name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphanumeric);
        (on_host && like_a_host && !seen()).then(|| Doubt {
            message: format!("no tool `{name}` is known here"),
            meant: None,
            suggestion: "if a client has it, list it under `tools` with its label; if a server has it, write `mcp__SERVER__TOOL`"
                .into(),
            sure: false,
            cause: Some("names with a capital letter are those of clients' own tools, and no client is known to have it"),
            key: Some("tools"),
        })
    }

    /// The tools of the servers that a matcher means, if those of each are known.
    fn listed(&self, used: &Use<'_>) -> Option<BTreeSet<&str>> {
        let meant = match &used.matcher.server {
            ServerPattern::Named(server) => std::slice::from_ref(server),
            ServerPattern::Bare => self.servers,
        };
        let of = |server: &String| {
            let mut known = self.tools.tools.iter().filter(|(_, tools)| !tools.is_empty());
            known.find(|(known, _)| same_server(known, server))
        };
        let tools: Vec<_> = meant.iter().map(of).collect::<Option<_>>()?;
        let tools: BTreeSet<&str> = tools.into_iter().flat_map(|(_, tools)| tools).map(String::as_str).collect();
        (!tools.is_empty()).then_some(tools)
    }
}

/// A name that no server of the skill lists.
fn unlisted(name: &str, tools: &BTreeSet<&str>) -> Doubt {
    let meant = closest(name, tools.iter().copied());
    let sure = meant.is_some_and(|meant| typo(name, meant) == Some(Typo::Sure));
    Doubt {
        message: format!("no server that is meant here lists a tool `{name}`"),
        suggestion: meant.map_or_else(
            || format!("the tools are {}", listed(tools.iter().copied())),
            |meant| format!("did you mean `{meant}`?"),
        ),
        meant: meant.map(ToOwned::to_owned),
        sure,
        cause: Some("the relay has seen the list of tools"),
        key: Some("tools"),
    }
}

/// A tool of a server as rules name it, `SERVER/TOOL`.
fn as_in_rules(name: &str) -> Option<Doubt> {
    let (server, tool) = name.split_once('/').filter(|(server, tool)| !server.is_empty() && !tool.is_empty())?;
    let meant = format!("mcp__{server}__{tool}");
    Some(Doubt {
        message: format!("no tool is called `{name}`"),
        suggestion: format!("did you mean `{meant}`?"),
        meant: Some(meant),
        sure: true,
        cause: Some("rules alone name a tool of a server so"),
        key: None,
    })
}
