//! The codec of a platform without hooks: MCP messages reach the guard through the relay, or inside a server.

use phasegate_adapter::{Codec, Decoded, Frame, Message, Output, Problem, Received, Reply, SessionView, Verdict};
use phasegate_core::Code;

/// Refuses every frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoHooks;

fn problem() -> Problem {
    Problem::new(Code::BadInput, "MCP has no hooks; `phasegate mcp proxy` guards its servers")
}

fn told(problem: &Problem, status: u8) -> Reply {
    Reply::Output(Output { stderr: format!("{}\n", problem.text()).into_bytes(), status, ..Output::default() })
}

impl Codec for NoHooks {
    fn open(&self, _frame: &Frame) -> Result<Message, Problem> {
        Err(problem())
    }

    fn decode(&self, _message: &Message, _session: &SessionView<'_>) -> Result<Decoded, Problem> {
        Err(problem())
    }

    fn reply(&self, _message: &Message, _verdict: &Verdict) -> Reply {
        told(&problem(), 2)
    }

    fn refuse(&self, _received: Received<'_>, problem: &Problem) -> Reply {
        told(problem, 2)
    }

    fn warn(&self, _received: Received<'_>, problem: &Problem) -> Reply {
        told(problem, 0)
    }
}
