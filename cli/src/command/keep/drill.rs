//! `phasegate drill`: whether the guard bites in the user's own client, on this machine. The client runs in a copy of the
//! project with a copy of the user's settings, and asks a scripted model on loopback.

mod plan;
mod world;
mod fault;
mod session;
mod table;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use phasegate_adapter::Adapter;
use phasegate_adapters::drive::{Deed, Drive};
use phasegate_adapters::drives::DRIVES;
use phasegate_core::Policy;
use phasegate_core::policy::Mode;
use phasegate_runtime::{Locations, Project, Runtime};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use self::fault::Fault;
use self::plan::{Effect, MARK, OWN, RULES, Trial, touch, trials, write};
use self::session::{Script, Seen, Start, play};
use self::table::{Drilled, Row};
use self::world::{Origin, World};
use super::adapters::signs;
use crate::command::policies::replay::configured;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};
use crate::progress::Progress;

/// How many clients run at the same time.
const AT_ONCE: usize = 3;
/// How long a client takes at most that ends at once.
const AT_ONCE_ENDED: Duration = Duration::from_secs(20);
/// What is wrong where no result of a call that ran arrives.
const NOT_TOLD: &str = "the guard was told of no call how it ended, so no condition on what a call showed can hold; the client's hooks for \
    results are not set";
/// What is tried where no skill is in force.
const PROTECTION: &str = "the guard's own files";

/// The arguments of `phasegate drill`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The client, by its id; default: each that the project is guarded for and that can be drilled
    pub platform: Option<String>,
    /// The client's program; default: the one that `PATH` has
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,
    /// Further arguments of the client, as you start it
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
    /// Print every call
    #[arg(long, short)]
    pub verbose: bool,
}

/// Drills. Exits 1 where a call ran that had to be denied, or one that had to run did not.
///
/// # Errors
///
/// No client can be drilled here, or no copy can be made.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let locations = Locations::from_environment()?;
    // What the configs mean is worked out anew, and nothing of it is kept.
    let state = tempfile::tempdir().map_err(|error| Failure::new(format!("no temporary folder: {error}")))?;
    let aside = Locations { state: state.path().to_path_buf(), ..locations.clone() };
    let runtime = Runtime::new(aside, phasegate_adapters::all());
    let project = context.find_project(&runtime)?;
    let configured = configured(&runtime, &project, None, &[])?;
    if !configured.guarded {
        return Err(Failure::new("nothing guards this project").with_help("run `phasegate init` first"));
    }
    let mode = runtime.mode_without_answer(&project);
    let ended = ended_by_signals().map_err(|error| Failure::new(format!("signals cannot be caught: {error}")))?;
    let mut all = Vec::new();
    for drive in drives(args, &runtime, &project)? {
        let Some(adapter) = phasegate_adapters::find(drive.adapter()) else { continue };
        let program = program(args, drive)?;
        let origin = Origin { root: &project.root, locations: &locations, adapter, drive };
        let start = Start { program: &program, more: &args.arguments, ended: Arc::clone(&ended) };
        let drill = Drill { origin, start, policy: &configured.policy, mode };
        all.push(drill.run(context.out).map_err(|error| Failure::new(format!("{}: {error}", adapter.name())))?);
    }
    table::print(context.out, &all, args.verbose, !args.arguments.is_empty());
    Ok(if all.iter().any(Drilled::is_open) { Exit::No } else { Exit::Done })
}

/// What is set when a person ends the drill: each client is ended then, and the copies are removed.
fn ended_by_signals() -> io::Result<Arc<AtomicBool>> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    Ok(ended)
}

/// The clients that are meant.
fn drives(args: &Args, runtime: &Runtime, project: &Project) -> Result<Vec<&'static dyn Drive>, Failure> {
    let known = || DRIVES.iter().map(|drive| drive.id()).collect::<Vec<_>>().join(", ");
    let used = |drive: &&&'static dyn Drive| {
        let adapter = phasegate_adapters::find(drive.adapter()).filter(|_| drive.id() == drive.adapter());
        let is_here = |adapter: &dyn Adapter| {
            signs(adapter, &project.root, &runtime.locations.home).iter().any(|sign| !sign.starts_with('~'))
        };
        args.platform.as_ref().map_or_else(|| adapter.is_some_and(is_here), |id| drive.id() == id)
    };
    let found: Vec<_> = DRIVES.iter().filter(used).copied().collect();
    if found.is_empty() {
        let what = args.platform.as_ref().map_or("no client is used here", |_| "this client cannot be drilled");
        return Err(Failure::new(what).with_help(format!("name one of these: {}", known())));
    }
    Ok(found)
}

/// The client's program.
fn program(args: &Args, drive: &dyn Drive) -> Result<PathBuf, Failure> {
    let named = args.program.clone().unwrap_or_else(|| PathBuf::from(drive.program()));
    if named.components().count() > 1 {
        return std::path::absolute(&named).map_err(|error| Failure::new(error.to_string()));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(&named)).find(|path| path.is_file());
    found.ok_or_else(|| {
        Failure::new(format!("`{}` is not on the `PATH`", named.display())).with_help("name it with `--program`")
    })
}

/// The drill of one client.
struct Drill<'a> {
    origin: Origin<'a>,
    start: Start<'a>,
    policy: &'a Policy,
    mode: Mode,
}

/// What is played in one session.
enum Job {
    /// Calls, with this skill in force.
    Rules(Vec<Trial>, Option<String>),
    /// Faults, one after another.
    Faults,
}

impl Drill<'_> {
    fn run(&self, out: Output) -> io::Result<Drilled> {
        let began = Instant::now();
        let first = World::new(&self.origin, false)?;
        let version = self.version(&first);
        let (mut rows, mut jobs) = (Vec::new(), vec![Job::Rules(protection(self.mode), None)]);
        let without = self.policy.rules.as_ref().map(|_| (None, Some(Mode::Block)));
        let skills = self.policy.skills.iter().map(|skill| (Some(skill.name.as_str()), skill.mode));
        for (skill, mode) in without.into_iter().chain(skills) {
            let about = skill.unwrap_or(RULES);
            match trials(self.policy, skill, &first.path("project")) {
                Ok(trials) if trials.iter().any(|trial| !trial.runs) => {
                    jobs.push(Job::Rules(trials, skill.map(str::to_owned)));
                }
                Ok(_) if mode != Some(Mode::Block) => {
                    rows.push(Row::told(about, "it is in warn mode: its rules tell, and deny nothing"));
                }
                Ok(_) => rows.push(Row::told(about, "no plain call is denied, so nothing was tried")),
                Err(why) => rows.push(Row::told(about, &format!("not tried: {why}"))),
            }
        }
        drop(first);
        if self.mode == Mode::Warn {
            rows.push(Row::told("faults", "in warn mode calls run where the guard fails"));
        } else {
            jobs.push(Job::Faults);
        }
        let mut progress = Progress::new(out, self.origin.drive.id());
        let [of_rules, mut of_faults] = self.played(jobs, &mut progress);
        progress.clear();
        if self.start.ended.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted; the client was ended, and the copies are removed"));
        }
        if let Some(why) = self.origin.drive.runs_when_hung(&version) {
            of_faults.iter_mut().for_each(|row| row.limited(Fault::Hung.words(), why));
        }
        let bites = of_rules.iter().all(|row| !row.is_open());
        rows.splice(0..0, of_rules.into_iter().chain(of_faults.into_iter().filter(|_| bites)));
        if !bites {
            rows.push(Row::told("faults", "not shown, as the guard does not bite"));
        }
        Ok(Drilled { id: self.origin.drive.id(), version, seconds: began.elapsed().as_secs(), rows })
    }

    /// Plays each, some at the same time; the rows of rules and those of faults, in the order of the jobs.
    fn played(&self, jobs: Vec<Job>, progress: &mut Progress) -> [Vec<Row>; 2] {
        let count = jobs.len();
        progress.set(0, count as u64);
        let progress = Mutex::new(progress);
        let waiting = Mutex::new(jobs.into_iter().enumerate().collect::<VecDeque<_>>());
        let done = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(count) {
                scope.spawn(|| {
                    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    while let Some((at, job)) = next() {
                        let rows = self.tried(&job).unwrap_or_else(|error| vec![Row::broken(&job.about(), &error)]);
                        let is_fault = matches!(job, Job::Faults);
                        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                        done.insert((is_fault, at), rows);
                        progress.lock().unwrap_or_else(PoisonError::into_inner).set(done.len() as u64, count as u64);
                    }
                });
            }
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (of_faults, of_rules): (Vec<_>, Vec<_>) = done.into_iter().partition(|((is_fault, _), _)| *is_fault);
        [of_rules, of_faults].map(|all| all.into_iter().flat_map(|(_, rows)| rows).collect())
    }

    /// Plays; a client that ended at once and made no call is started once more.
    fn tried(&self, job: &Job) -> io::Result<Vec<Row>> {
        let began = Instant::now();
        let mut played = self.play(job)?;
        let silent = played.calls.iter().all(|(_, seen)| seen.read.is_none()) && began.elapsed() < AT_ONCE_ENDED;
        if silent {
            played = self.play(job)?;
        }
        let mut rows = Row::of(played.calls.into_iter());
        if !played.told && rows.iter().all(|row| !row.is_open()) {
            rows.push(Row::broken("results of calls", &NOT_TOLD));
        }
        Ok(rows)
    }

    fn play(&self, job: &Job) -> io::Result<Played> {
        let script = match job {
            Job::Rules(trials, _) => Script { trials: trials.clone(), ..Script::default() },
            Job::Faults => faults(&Fault::all(&self.origin)),
        };
        let world = World::new(&self.origin, !script.faults.is_empty())?;
        if let Job::Rules(_, Some(skill)) = job {
            self.start(&world, skill)?;
        }
        let seen = play(&world, &self.origin, &self.start, &script)?;
        let calls: Vec<_> = script.trials.into_iter().zip(seen).collect();
        let asks = script.faults.is_empty() && calls.iter().any(|(trial, seen)| trial.runs && seen.ran);
        Ok(Played { told: !asks || self.is_told(&world)?, calls })
    }

    /// Whether the guard was told how a call ended, which the evidence of skills rests on.
    fn is_told(&self, world: &World) -> io::Result<bool> {
        let mut audit = world.command(&std::env::current_exe()?, &self.origin);
        let output = audit.args(["audit", "export", "--transcript"]).output()?;
        let mut events =
            output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let is_result = |event: Value| event.get("event").and_then(Value::as_str) == Some("tool_result");
        Ok(events.any(is_result))
    }

    /// Puts a skill in force in the copy.
    fn start(&self, world: &World, skill: &str) -> io::Result<()> {
        let mut start = world.command(&std::env::current_exe()?, &self.origin);
        let output = start.args(["start", skill]).output()?;
        let why = || io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        if output.status.success() { Ok(()) } else { Err(why()) }
    }

    fn version(&self, world: &World) -> String {
        let mut command = world.command(self.start.program, &self.origin);
        let output = command.arg("--version").stderr(Stdio::null()).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        word.map_or("of an unknown version", |word| word.trim_end_matches('.')).to_owned()
    }
}

/// What came of one session.
struct Played {
    calls: Vec<(Trial, Seen)>,
    /// Whether the guard was told of results, where a call ran.
    told: bool,
}

impl Job {
    fn about(&self) -> String {
        match self {
            Self::Rules(_, skill) => skill.clone().unwrap_or_else(|| PROTECTION.to_owned()),
            Self::Faults => "faults".to_owned(),
        }
    }
}

/// What runs in every project, and what is denied where it is in block mode.
fn protection(mode: Mode) -> Vec<Trial> {
    let trial = |pair: (Deed, String), runs| Trial::plain(PROTECTION, pair.0, &pair.1, runs);
    let mut all = vec![trial(touch("phasegate-drill-passes"), true)];
    if mode == Mode::Block {
        all.push(trial(write(".phasegate/skills/phasegate-drill.yaml"), false));
        all.push(trial(touch(".phasegate/phasegate-drill"), false));
        // A client edits only what it has read.
        let about = || PROTECTION.to_owned();
        all.push(Trial { about: about(), deed: Deed::Read(OWN.to_owned()), effect: Effect::Mark, runs: true });
        let deed = Deed::Edit { path: OWN.to_owned(), old: MARK.to_owned(), new: "edited".to_owned() };
        all.push(Trial { about: about(), deed, effect: Effect::NoMark(OWN.to_owned()), runs: false });
    }
    all
}

/// For each fault calls that are denied with the guard and without it, and a call that runs once it is mended: the client may
/// need a second try to find it. A guard that hangs is waited for once.
fn faults(all: &[Fault]) -> Script {
    let mut script = Script::default();
    for fault in all {
        let (name, about) = (format!("phasegate-drill-{}", script.trials.len()), fault.words());
        let trial = |pair: (Deed, String), runs| Trial::plain(about, pair.0, &pair.1, runs);
        script.trials.push(trial(touch(&name), true));
        script.trials.push(trial(touch(&name), true));
        script.faults.insert(script.trials.len(), *fault);
        script.trials.push(trial(touch(&format!(".phasegate/{name}")), false));
        if *fault != Fault::Hung {
            script.trials.push(trial(write(&format!(".phasegate/skills/{name}.yaml")), false));
            script.faults.insert(script.trials.len(), Fault::Mended);
        }
    }
    script
}
