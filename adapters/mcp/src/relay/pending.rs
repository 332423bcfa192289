//! What is open between the client and the servers.

use std::collections::{BTreeMap, HashMap, HashSet};

use phasegate_adapter::guarded::GuardedCall;
use tokio::sync::oneshot;

use crate::message::Message;
use crate::message::id::Id;

/// What all servers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// What each can do, with a handshake.
    Initialize,
    /// What each can do, without one.
    Discover,
    /// The list under this key.
    List(&'static str),
    /// That each takes note.
    Nothing,
    /// What one of them has, which none has listed; servers without this capability have none.
    Unlisted(&'static str),
}

impl Question {
    /// The capability without which a server need not be asked.
    pub(super) fn capability(self) -> Option<&'static str> {
        match self {
            Self::Initialize | Self::Discover => None,
            Self::List("resourceTemplates") => Some("resources"),
            Self::List(key) => Some(key),
            Self::Nothing => Some("logging"),
            Self::Unlisted(capability) => Some(capability),
        }
    }
}

/// Which page of a list a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListPage {
    /// It is the first.
    pub(super) first: bool,
    /// The client's revision (2026-07-28 or later) keeps a list for as long as the list says.
    pub(super) modern: bool,
}

/// A request that waits for the answers of several servers.
#[derive(Debug)]
pub(super) struct FanOut {
    pub(super) id: Id,
    pub(super) question: Question,
    /// Which page of a list it asks for.
    pub(super) page: ListPage,
    /// How many answers are still to come.
    pub(super) waiting: usize,
    /// The answers, by server.
    pub(super) answers: BTreeMap<usize, Message>,
}

impl FanOut {
    pub(super) fn new(id: Id, question: Question, page: ListPage) -> Self {
        Self { id, question, page, waiting: 0, answers: BTreeMap::new() }
    }
}

/// What the answer to a forwarded request means.
#[derive(Debug)]
pub(super) enum Pending {
    /// Nothing: it is passed on.
    Plain,
    /// It ends a call.
    Call(Box<OpenCall>),
    /// It lists tools.
    Tools(ListPage),
    /// It says what the server can do.
    Initialize,
    /// It may end the call that goes on as this task.
    Task(String),
    /// It is a part of this answer of several servers.
    Part(u64),
}

/// A call that was forwarded.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    /// The call, whose outcome is recorded; `None` where the host's own guard records it, or nothing guards the project.
    pub(super) guarded: Option<GuardedCall>,
    /// The warning that the agent reads beside the answer.
    pub(super) warning: Option<String>,
}

/// What is open.
#[derive(Default)]
pub(super) struct Table {
    /// The client's requests that were not answered; at which server, once forwarded.
    pub(super) open: HashMap<Id, Option<usize>>,
    /// Those of them that the client gave up.
    pub(super) given_up: HashSet<Id>,
    /// What answers mean, by server and id.
    pub(super) pending: HashMap<(usize, Id), Pending>,
    /// Calls that go on as tasks, by server and task.
    pub(super) tasks: HashMap<(usize, String), OpenCall>,
    /// Open subscriptions of the client that ask for changed lists of tools (revision 2026-07-28).
    pub(super) listening: Vec<Id>,
    /// Whether the client knows our capabilities, so that it may get notifications of changes.
    pub(super) initialized: bool,
    /// Requests that several servers answer, by number, and how many there were.
    pub(super) fan_outs: HashMap<u64, FanOut>,
    pub(super) fan_outs_begun: u64,
    /// Requests of several servers that the client has not answered: whose, and under which id.
    pub(super) asked: HashMap<Id, (usize, Id)>,
    /// Under which token the client tells of progress to which of several servers.
    pub(super) tokens: HashMap<String, usize>,
    /// Which of several servers a resource belongs to.
    pub(super) resources: HashMap<String, usize>,
    /// Templates of resources, and whose they are.
    pub(super) templates: Vec<(String, usize)>,
    /// Whether the client puts questions to its user.
    pub(super) elicits: bool,
    /// Questions to the client's user that wait for an answer.
    pub(super) questions: HashMap<Id, oneshot::Sender<bool>>,
    /// The calls that they are about, by the ids of their requests.
    pub(super) questioned: HashMap<Id, Id>,
    /// Tools of which it was said that their description changed, by server and name.
    pub(super) told_changed: HashSet<(String, String)>,
    /// Where the runs stood after the last event.
    pub(super) phases: Vec<(String, String)>,
}
