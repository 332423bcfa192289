//! An adapter that panics: the guard still answers, in the platform's own form.

use std::io::Cursor;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::World;
use phasegate_adapter::{
    Adapter, Capabilities, Codec, Decoded, Diagnostics, Frame, Installer, Message, Output, Problem, Received, Reply,
    SessionView, Verdict,
};
use phasegate_runtime::Locations;
use phasegate_runtime::driver::hook::Hook;
use serde_json::json;

/// A real adapter, but for one function that panics.
struct Broken {
    inner: &'static dyn Adapter,
    in_open: bool,
}

impl Adapter for Broken {
    fn id(&self) -> &str {
        self.inner.id()
    }
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
    fn codec(&self) -> &dyn Codec {
        self
    }
    fn installer(&self) -> &dyn Installer {
        self.inner.installer()
    }
    fn diagnostics(&self) -> &dyn Diagnostics {
        self.inner.diagnostics()
    }
}

impl Codec for Broken {
    fn open(&self, frame: &Frame) -> Result<Message, Problem> {
        assert!(!self.in_open, "open is broken");
        self.inner.codec().open(frame)
    }
    fn decode(&self, _: &Message, _: &SessionView<'_>) -> Result<Decoded, Problem> {
        panic!("decode is broken")
    }
    fn reply(&self, message: &Message, verdict: &Verdict) -> Reply {
        self.inner.codec().reply(message, verdict)
    }
    fn refuse(&self, received: Received<'_>, problem: &Problem) -> Reply {
        self.inner.codec().refuse(received, problem)
    }
    fn warn(&self, received: Received<'_>, problem: &Problem) -> Reply {
        self.inner.codec().warn(received, problem)
    }
}

fn answer(world: &World, in_open: bool) -> Output {
    let inner = *phasegate_adapters::all().first().unwrap();
    let broken: &'static Broken = Box::leak(Box::new(Broken { inner, in_open }));
    let variables = world.variables();
    let environment = variables.iter().map(|(name, path)| ((*name).to_string(), path.to_str().unwrap().to_string()));
    let locations = Locations {
        state: world.state(),
        user: world.home().join(".config/phasegate"),
        machine: PathBuf::from("/nonexistent"),
        home: world.home(),
    };
    // On a busy machine the trace of the panic alone takes seconds.
    let limit = Duration::from_secs(120);
    let hook =
        Hook { locations, environment: environment.collect(), audit_log: None, shell_probe: None, limit, ends: false };
    let frame = json!({
        "session_id": "s",
        "cwd": world.root(),
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {},
        "tool_use_id": "t",
    });
    let (sender, receiver) = std::sync::mpsc::channel();
    hook.answer(broken, vec![inner], Cursor::new(frame.to_string()), move |reply| sender.send(reply).unwrap());
    receiver.recv().unwrap().into_output()
}

#[test]
fn a_panic_denies_in_block_mode_warns_in_warn_mode_and_is_not_told_elsewhere() {
    for in_open in [true, false] {
        let denied = answer(&World::guarded("block"), in_open);
        let text = String::from_utf8(denied.stdout).unwrap();
        assert!(text.contains("\"permissionDecision\":\"deny\"") && text.contains("[internal]"), "{text}");
        let told = answer(&World::guarded("warn"), in_open);
        let text = String::from_utf8(told.stdout).unwrap();
        assert!(told.status == 0 && text.contains("[internal]") && !text.contains("deny"), "{text}");
    }
    assert_eq!(answer(&World::unguarded(), true), Output::default());
}
