//! An adapter that panics: the guard still answers, in the platform's own form.

use std::io::Cursor;
use std::path::PathBuf;

use crate::support::World;
use phasegate_adapter::{
    Adapter, Address, Capabilities, Change, Decoded, Frame, InstallRequest, Memory, Places, Problem, Reply,
};
use phasegate_core::Outcome;
use phasegate_runtime::Locations;
use phasegate_runtime::deadline::LIMIT;
use phasegate_runtime::hook::Hook;
use serde_json::json;

/// A real adapter, but for one function that panics.
struct Broken {
    inner: &'static dyn Adapter,
    in_address: bool,
}

impl Adapter for Broken {
    fn id(&self) -> &'static str {
        self.inner.id()
    }
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn versions(&self) -> &'static [&'static str] {
        self.inner.versions()
    }
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
    fn address(&self, frame: &Frame) -> Result<Address, Problem> {
        assert!(!self.in_address, "address is broken");
        self.inner.address(frame)
    }
    fn decode(&self, _: &Frame, _: &Memory) -> Result<Decoded, Problem> {
        panic!("decode is broken")
    }
    fn encode(&self, frame: &Frame, steps: &[Outcome]) -> Reply {
        self.inner.encode(frame, steps)
    }
    fn refuse(&self, frame: &Frame, problem: &Problem) -> Reply {
        self.inner.refuse(frame, problem)
    }
    fn warn(&self, frame: &Frame, problem: &Problem) -> Reply {
        self.inner.warn(frame, problem)
    }
    fn places(&self) -> Places {
        self.inner.places()
    }
    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        self.inner.install(request)
    }
    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        self.inner.uninstall(request)
    }
    fn unguarded(&self, request: &InstallRequest) -> Option<String> {
        self.inner.unguarded(request)
    }
}

fn answer(world: &World, in_address: bool) -> Reply {
    let inner = *phasegate_adapters::all().first().unwrap();
    let broken: &'static Broken = Box::leak(Box::new(Broken { inner, in_address }));
    let variables = world.variables();
    let environment = variables.iter().map(|(name, path)| ((*name).to_string(), path.to_str().unwrap().to_string()));
    let locations = Locations {
        state: world.state(),
        user: world.home().join(".config/phasegate"),
        machine: PathBuf::from("/nonexistent"),
        home: world.home(),
    };
    let hook = Hook { locations, environment: environment.collect(), audit_log: None, limit: LIMIT };
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
    receiver.recv().unwrap()
}

#[test]
fn a_panic_denies_in_block_mode_warns_in_warn_mode_and_is_not_told_elsewhere() {
    for in_address in [true, false] {
        let denied = answer(&World::guarded("block"), in_address);
        let text = String::from_utf8(denied.stdout).unwrap();
        assert!(text.contains("\"permissionDecision\":\"deny\"") && text.contains("[internal]"), "{text}");
        let told = answer(&World::guarded("warn"), in_address);
        let text = String::from_utf8(told.stdout).unwrap();
        assert!(told.status == 0 && text.contains("[internal]") && !text.contains("deny"), "{text}");
    }
    assert_eq!(answer(&World::unguarded(), true), Reply::silent());
}
