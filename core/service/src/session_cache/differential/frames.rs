//! The same frames through the router of a bridge, and through a process for each: the same replies, and the same files to
//! the byte. What a frame stands for hangs on what was remembered before, some cannot be read, and one session is in a
//! folder that nothing guards.

use phasegate_adapter::{
    Ability, Adapter, Capabilities, Change, Codec, Decoded, Diagnostics, ExamineRequest, Examined, Frame,
    InstallRequest, Installer, Message, Places, Received, Reply, SessionView, Verdict,
};
use phasegate_core::Code;
use serde::{Deserialize, Serialize};

use super::*;
use crate::batch::BatchProcessor as _;
use crate::dispatcher::Dispatcher;
use crate::project_router::ProjectRouter;
use phasegate_runtime::driver::frames::{FrameOutcomes, Framed};

/// The variable in which a frame bears its session.
const SESSION: &str = "PHASEGATE_TEST_FRAME_SESSION";
/// The session whose folder nothing guards.
const OUTSIDE: usize = 3;

/// A platform whose frames say everything themselves.
struct Plain;

/// A frame of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Native {
    session: String,
    cwd: PathBuf,
    events: Vec<Value>,
    /// The number to be remembered.
    remember: Option<u8>,
    /// The events count only where this number is remembered.
    after: Option<u8>,
    /// What is wrong with it.
    wrong: Option<Wrong>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Wrong {
    Unreadable,
    Panics,
    NoAddress,
}

fn native(body: &Value) -> Native {
    Native::deserialize(body).unwrap()
}

fn said(what: &str, text: &str) -> Reply {
    Reply::Json { text: format!("{what}: {text}"), denies: false }
}

impl Adapter for Plain {
    fn id(&self) -> &str {
        "plain"
    }

    fn name(&self) -> &str {
        "Plain"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            deny: Ability::Yes,
            ask: Ability::Yes,
            rewrite: Ability::Yes,
            inject_context: Ability::Yes,
            hide_tools: Ability::Yes,
            see_builtin_tools: Ability::Yes,
            see_subagents: Ability::Yes,
            fail_closed: Ability::Yes,
        }
    }

    fn codec(&self) -> &dyn Codec {
        self
    }

    fn installer(&self) -> &dyn Installer {
        self
    }

    fn diagnostics(&self) -> &dyn Diagnostics {
        self
    }
}

impl Codec for Plain {
    fn open(&self, frame: &Frame) -> Result<Message, Problem> {
        let body = serde_json::from_slice(&frame.bytes).unwrap();
        let Native { session, cwd, wrong, .. } = native(&body);
        if wrong == Some(Wrong::NoAddress) {
            return Err(Problem::new(Code::BadInput, "it names no session"));
        }
        Ok(Message { session, cwd: Some(cwd), event: "frame".into(), body, ..Message::default() })
    }

    fn decode(&self, message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
        let Native { events, remember, after, wrong, .. } = native(&message.body);
        let memory = session.memory();
        assert_ne!(wrong, Some(Wrong::Panics), "the adapter is broken");
        if wrong.is_some() {
            return Err(Problem::new(Code::BadInput, "it cannot be read"));
        }
        let fits = after.is_none_or(|number| memory == &json!(number));
        let events = events.into_iter().filter(|_| fits).map(|event| Event::from_value(event).unwrap());
        Ok(Decoded { events: events.collect(), memory: remember.map_or_else(|| memory.clone(), Value::from) })
    }

    fn reply(&self, _: &Message, verdict: &Verdict) -> Reply {
        said("verdict", &serde_json::to_string(verdict).unwrap())
    }

    fn refuse(&self, _: Received<'_>, problem: &Problem) -> Reply {
        said("refused", &problem.text())
    }

    fn warn(&self, _: Received<'_>, problem: &Problem) -> Reply {
        said("warned", &problem.text())
    }
}

impl Installer for Plain {
    fn places(&self) -> Places {
        Places { session_variables: vec![SESSION.to_owned()], ..Places::default() }
    }

    fn install(&self, _: &InstallRequest) -> Result<Vec<Change>, Problem> {
        Ok(Vec::new())
    }

    fn uninstall(&self, _: &InstallRequest) -> Result<Vec<Change>, Problem> {
        Ok(Vec::new())
    }

    fn unguarded(&self, _: &InstallRequest) -> Option<String> {
        None
    }
}

impl Diagnostics for Plain {
    fn versions(&self) -> Vec<String> {
        Vec::new()
    }

    fn examine(&self, _: &ExamineRequest) -> Examined {
        Examined::default()
    }
}

/// What is done, one after the other.
#[derive(Clone, Debug)]
enum Deed {
    Frame(usize, Native),
    Harm(Harm),
}

fn framed(world: &World, session: usize, native: &Native) -> Framed {
    let folder = if session == OUTSIDE { "outside" } else { "project" };
    let native = Native { session: id(session), cwd: world.top.join(folder), ..native.clone() };
    Framed::new(&Plain, Frame::new(serde_json::to_vec(&native).unwrap()), SESSION)
}

/// As a process that is started for this frame would answer it.
fn alone(world: &World, framed: &Framed) -> Reply {
    let work = || world.runtime.handle_frame(&Plain, &framed.opened, &Deadline::new(LIMIT));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let failure_mode = world.runtime.failure_mode_of(&Plain, &framed.opened);
        framed.refuse(&Refusal { problem: broken(panic.as_ref()), failure_mode })
    })
}

fn one_by_one(world: &World, deeds: &[Deed]) -> Vec<Reply> {
    let mut replies = Vec::new();
    for deed in deeds {
        match deed {
            Deed::Frame(session, native) => replies.push(alone(world, &framed(world, *session, native))),
            Deed::Harm(harm) => world.harm(*harm),
        }
    }
    replies
}

/// Gives the frames to the router of a bridge, in batches, but for those that another process answers.
fn bridged(world: &World, deeds: &[Deed], ways: &[(bool, bool)]) -> Vec<Reply> {
    let mut router = ProjectRouter::new(Arc::clone(&world.runtime));
    let mut replies: Vec<Arc<Mutex<Option<Reply>>>> = Vec::new();
    for (at, deed) in deeds.iter().enumerate() {
        let (other, ends) = ways[at % ways.len()];
        let Deed::Frame(session, native) = deed else {
            router.finish();
            let Deed::Harm(harm) = deed else { continue };
            world.harm(*harm);
            continue;
        };
        let framed = Arc::new(framed(world, *session, native));
        let place = Arc::new(Mutex::new(None));
        replies.push(Arc::clone(&place));
        if other {
            router.finish();
            *place.lock().unwrap() = Some(alone(world, &framed));
            continue;
        }
        let slot = {
            let (framed, runtime) = (Arc::clone(&framed), Arc::clone(&world.runtime));
            Oneshot::calling(move |outcome: FrameOutcomes| {
                *place.lock().unwrap() = Some(framed.reply(&runtime, outcome))
            })
        };
        let (session, input) = (framed.session().to_string(), Input::Frame(framed));
        router.take(Request { session, input, deadline: Deadline::new(LIMIT), answer: Sender(slot) }, true).unwrap();
        if ends {
            router.finish();
        }
    }
    router.finish();
    replies.iter().map(|place| place.lock().unwrap().take().unwrap()).collect()
}

fn deeds(with_harm: bool) -> impl Strategy<Value = Vec<Deed>> {
    let wrong = prop_oneof![Just(Wrong::Unreadable), Just(Wrong::Panics), Just(Wrong::NoAddress)];
    let number = || prop::option::weighted(0.3, 0..3_u8);
    let meddles =
        json!({"event": "tool_call", "tool": "Edit", "input": {"file_path": "../project/.phasegate/config.yaml"}});
    let event = prop_oneof![12 => event(), 1 => Just(meddles)];
    let native = (prop::collection::vec(event, 0..3), number(), number(), prop::option::weighted(0.08, wrong));
    let native = native.prop_map(|(events, remember, after, wrong)| Native {
        events,
        remember,
        after,
        wrong,
        ..Native::default()
    });
    let frames = (0..=OUTSIDE, native).prop_map(|(session, native)| Deed::Frame(session, native));
    let deed =
        if with_harm { prop_oneof![12 => frames, 1 => harm().prop_map(Deed::Harm)].boxed() } else { frames.boxed() };
    let begins = |session| {
        let start = json!({"event": "session_start", "source": "startup"});
        let events = vec![start, json!({"event": "skill", "name": "work", "by": "human"})];
        Deed::Frame(session, Native { events, ..Native::default() })
    };
    prop::collection::vec(deed, 1..40).prop_map(move |deeds| [vec![begins(0), begins(1)], deeds].concat())
}

fn compare(deeds: &[Deed], ways: &[(bool, bool)]) {
    let folder = folder();
    let top = folder.path().canonicalize().unwrap();
    fs::create_dir_all(top.join("outside")).unwrap();
    let world = World::of(&top, &[&Plain]);
    let (wanted, files) = at(soon(), || (one_by_one(&world, deeds), world.files()));
    let world = World::of(&top, &[&Plain]);
    let found = at(soon(), || bridged(&world, deeds, ways));
    for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
        let text = |reply: &Reply| String::from_utf8(reply.clone().into_output().stdout).unwrap();
        assert_eq!(text(found), text(wanted), "reply {at}");
    }
    same_files(&world, &files);
}

#[test]
fn a_frame_that_is_answered_late_is_decided_all_the_same() {
    let folder = folder();
    let world = World::of(&folder.path().canonicalize().unwrap(), &[&Plain]);
    let dispatcher = Dispatcher::new(ProjectRouter::new(Arc::clone(&world.runtime)), Duration::ZERO);
    let start = json!({"event": "session_start", "source": "startup"});
    let framed = Arc::new(framed(&world, 0, &Native { events: vec![start], ..Native::default() }));
    let (sender, receiver) = std::sync::mpsc::channel();
    let slot = Oneshot::calling(move |outcome: FrameOutcomes| sender.send(outcome).unwrap());
    dispatcher.spawn(framed.session(), Input::Frame(Arc::clone(&framed)), &slot);
    assert_eq!(receiver.recv().unwrap().unwrap_err().problem.code, Code::Deadline);
    while !slot.is_finished() {
        std::thread::yield_now();
    }
    assert_eq!(
        phasegate_store::journal::read_last::<phasegate_runtime::sessions::snapshot::SessionSnapshot>(
            &phasegate_store::file_store::FileStore,
            &world.project.session_journal(&id(0))
        )
        .unwrap()
        .unwrap()
        .seq,
        1
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn a_bridge_decides_and_records_as_a_hook_for_each_frame(
        deeds in deeds(false), ways in prop::collection::vec((prop::bool::weighted(0.25), prop::bool::weighted(0.3)), 1..20),
    ) {
        compare(&deeds, &ways);
    }

    #[test]
    fn what_is_done_to_the_state_of_a_running_bridge_is_noticed_as_a_hook_would(
        deeds in deeds(true), ways in prop::collection::vec((prop::bool::weighted(0.25), prop::bool::weighted(0.3)), 1..20),
    ) {
        compare(&deeds, &ways);
    }
}
