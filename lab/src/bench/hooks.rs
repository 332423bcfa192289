//! Hooks as whole processes, in turn with processes that do nothing.

use std::collections::BTreeMap;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use owo_colors::OwoColorize as _;

use super::build::{Programs, build};
use super::disk;
use super::process::Program;
use super::project::{Project, Snapshot};
use super::reference::Figures;
use super::samples::{Ratio, percentile, ratio};
use xtask::failure::Result;
use xtask::root::{read, target, write};

/// What is measured.
pub(super) struct Wanted {
    /// How many rounds are timed.
    pub(super) pairs: u64,
    /// How many records the long session has.
    pub(super) records: u64,
    /// Whether the program is linked without `release.toml`.
    pub(super) plain: bool,
    /// Whether the long session is made anew.
    pub(super) fresh: bool,
}

/// Rounds that are run before samples count.
const WARM_UP: u64 = 10;

/// One kind of process that is timed.
struct Case<'a> {
    name: String,
    program: Program,
    input: &'a str,
    /// What is put back before each sample.
    state: Option<&'a Snapshot>,
    /// The place of the case that it is compared with; none for the base itself.
    base: Option<usize>,
    /// Whether its ratio must stay as it is.
    kept: bool,
    /// Whether the input is in the pipe before the process starts; then the most that the p50 ratio should be.
    full_pipe: Option<f64>,
    samples: Vec<u64>,
    peak: u64,
}

/// A line of the table.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) p50: u64,
    pub(super) p95: u64,
    pub(super) p99: u64,
    pub(super) ratio: Option<Ratio>,
    pub(super) peak_mib: f64,
    kept: bool,
    full_pipe: Option<f64>,
}

/// What was measured.
pub(super) struct Measured {
    raw: BTreeMap<String, Vec<u64>>,
    rows: Vec<Row>,
}

/// A session, and what it held before each sample.
struct Staged {
    project: Project,
    /// Before the call.
    called: Snapshot,
    /// Before the call's result.
    open: Snapshot,
}

/// Times every kind of process once in each round, in an order that goes round.
pub(super) fn measure(args: &Wanted) -> Result<Measured> {
    let programs = build(args.plain)?;
    let place = target().join("bench");
    let kind = disk::must_be_real(&place)?;
    let short = Staged::of(Project::stage(&place.join("short"))?, &programs.guard)?;
    let long = Staged::of(long_session(args, &programs.guard, &place.join("long"))?, &programs.guard)?;
    let mut cases = cases(&programs, &short, &long, args.records)?;
    let records = short.project.records()?;
    let what = format!("{} rounds on {kind}, a new session has {records} records", args.pairs);
    anstream::println!("\n{}", what.dimmed());
    rounds(&mut cases, args.pairs)?;
    Ok(Measured::of(cases))
}

impl Staged {
    fn of(project: Project, guard: &Path) -> Result<Self> {
        let called = project.snapshot()?;
        project.program(guard, &["hook", project.adapter.id()]).run(&project.call)?;
        let open = project.snapshot()?;
        called.restore()?;
        Ok(Self { project, called, open })
    }

    /// A program in the guard's place, started without a shell.
    fn bare(&self, program: &Path) -> Program {
        self.project.program(program, &["hook", self.project.adapter.id()])
    }

    /// A program in the guard's place, started with the command that `init` writes.
    fn shell(&self, program: &Path) -> Result<Program> {
        Ok(self.project.program(program, &[]).in_shell(&self.project.command(program)?))
    }
}

/// What is timed. A case is compared with the one at the place it names.
fn cases<'a>(programs: &Programs, short: &'a Staged, long: &'a Staged, records: u64) -> Result<Vec<Case<'a>>> {
    let Programs { guard, nothing, nothing_alike } = programs;
    let call = |name: &str, program| Case::new(name, program, &short.project.call);
    let later = |name: &str, program| {
        let name = format!("{name}, a call, {records} records in the session");
        Case::new(&name, program, &long.project.call).after(&long.called)
    };
    let result = |name: &str, program| Case::new(name, program, &short.project.result).after(&short.open);
    let (bare, shell) = (Some(0), Some(5));
    let (full_bare, full_shell) = (Some(9), Some(11));
    let silent = |program| Program { succeeds: false, ..program };
    Ok(vec![
        call("reads and prints (base)", short.bare(nothing)),
        call("reads and prints, linked as the guard is", short.bare(nothing_alike)).beside(bare).unkept(),
        call("bare, a call, new session", short.bare(guard)).after(&short.called).beside(bare),
        later("bare", long.bare(guard)).beside(bare),
        result("bare, a result that is evidence, synced", short.bare(guard)).beside(bare),
        call("reads and prints, as `init` writes it (base)", silent(short.shell(nothing)?)),
        call("as `init` writes it, a call, new session", short.shell(guard)?).after(&short.called).beside(shell),
        later("as `init` writes it", long.shell(guard)?).beside(shell),
        result("as `init` writes it, a result, synced", short.shell(guard)?).beside(shell),
        call("full pipe: a static program that reads and prints (base)", short.bare(nothing_alike)).on_full_pipe(1.0),
        call("full pipe: bare, a call", short.bare(guard)).after(&short.called).on_full_pipe(2.0).beside(full_bare),
        call("full pipe: the static program, as `init` writes it (base)", silent(short.shell(nothing_alike)?))
            .on_full_pipe(1.0),
        call("full pipe: as `init` writes it, a call", short.shell(guard)?)
            .after(&short.called)
            .on_full_pipe(1.4)
            .beside(full_shell),
    ])
}

fn rounds(cases: &mut [Case<'_>], rounds: u64) -> Result {
    let bar = progress("rounds", rounds + WARM_UP);
    let count = cases.len();
    for round in 0..rounds + WARM_UP {
        for place in 0..count {
            let at = (place + usize::try_from(round).unwrap_or_default()) % count;
            let Some(case) = cases.get_mut(at) else { continue };
            case.state.map_or(Ok(()), Snapshot::restore)?;
            let run = if case.full_pipe.is_some() { Program::run_on_full_pipe } else { Program::run };
            let cost = run(&case.program, case.input)?;
            case.peak = case.peak.max(cost.peak);
            if round >= WARM_UP {
                case.samples.push(cost.micros);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// A session with as many records as are asked for. It takes minutes to make, so it is kept for the next time.
fn long_session(args: &Wanted, guard: &Path, folder: &Path) -> Result<Project> {
    let made = folder.with_extension("made");
    if !args.fresh
        && let Some(project) = made_before(&made, folder, guard, args.records)
    {
        return Ok(project);
    }
    let project = Project::stage(folder)?;
    let program = project.program(guard, &["hook", project.adapter.id()]);
    let bar = progress("records", args.records);
    bar.inc(project.records()?);
    while bar.position() < args.records {
        program.run(&project.call)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    write(
        &made,
        &serde_json::json!({"adapter": project.adapter.id(), "call": project.call, "result": project.result})
            .to_string(),
    )?;
    Ok(project)
}

/// The session that an earlier run made, where it is long enough and the guard of now goes on with it.
fn made_before(made: &Path, folder: &Path, guard: &Path, records: u64) -> Option<Project> {
    let project = Project::told(&read(made).ok()?, folder).ok()?;
    let before = project.snapshot().ok()?;
    let found = project.records().ok()?;
    let goes_on = project.program(guard, &["hook", project.adapter.id()]).run(&project.call).is_ok();
    before.restore().ok()?;
    (goes_on && found >= records && found < records + records / 10 + 16).then_some(project)
}

fn progress(what: &'static str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    let bar = ProgressBar::new(length).with_message(what);
    if let Ok(style) = style { bar.with_style(style) } else { bar }
}

impl<'a> Case<'a> {
    fn new(name: &str, program: Program, input: &'a str) -> Self {
        Self {
            name: name.to_string(),
            program,
            input,
            state: None,
            base: None,
            kept: true,
            full_pipe: None,
            samples: Vec::new(),
            peak: 0,
        }
    }

    fn after(self, state: &'a Snapshot) -> Self {
        Self { state: Some(state), ..self }
    }

    fn beside(self, base: Option<usize>) -> Self {
        Self { base, ..self }
    }

    fn on_full_pipe(self, most: f64) -> Self {
        Self { full_pipe: Some(most), ..self }
    }

    fn unkept(self) -> Self {
        Self { kept: false, ..self }
    }
}

impl Measured {
    fn of(cases: Vec<Case<'_>>) -> Self {
        let base = |case: &Case<'_>| case.base.and_then(|at| cases.get(at));
        let rows = cases
            .iter()
            .map(|case| Row {
                name: case.name.clone(),
                p50: percentile(&case.samples, 50),
                p95: percentile(&case.samples, 95),
                p99: percentile(&case.samples, 99),
                ratio: base(case).map(|base| ratio(&case.samples, &base.samples)),
                peak_mib: mib(case.peak),
                kept: case.kept,
                full_pipe: case.full_pipe,
            })
            .collect();
        Self { rows, raw: cases.into_iter().map(|case| (case.name, case.samples)).collect() }
    }

    /// The table, in the order of the cases.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Every sample, by case.
    pub(super) fn raw(&self) -> &BTreeMap<String, Vec<u64>> {
        &self.raw
    }

    /// The memory at most, by case, in MiB.
    pub(super) fn peaks(&self) -> BTreeMap<&str, f64> {
        self.rows.iter().map(|row| (row.name.as_str(), row.peak_mib)).collect()
    }

    /// Adds the ratios that must stay as they are.
    pub(super) fn add_to(&self, figures: &mut Figures) {
        for row in self.rows.iter().filter(|row| row.kept) {
            if let Some(ratio) = row.ratio {
                figures.add(&format!("{}, p50", row.name), ratio.p50, Some(row.full_pipe.unwrap_or(1.5)));
                if row.full_pipe.is_none() {
                    figures.add(&format!("{}, p95", row.name), ratio.p95, Some(2.0));
                }
            }
        }
        let peak = self.rows.iter().filter(|row| row.ratio.is_some()).map(|row| row.peak_mib).fold(0.0, f64::max);
        figures.add("peak memory of a hook, MiB", peak, Some(15.0));
    }
}

#[expect(clippy::cast_precision_loss, reason = "the memory of a process, shown with one digit")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}
