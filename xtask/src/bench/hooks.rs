//! Hooks as whole processes, in turn with processes that do nothing.

use std::collections::BTreeMap;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use owo_colors::OwoColorize as _;

use super::build::{Programs, build};
use super::process::Program;
use super::project::{Project, Snapshot};
use super::reference::Figures;
use super::samples::{Ratio, percentile, ratio};
use super::{Args, disk};
use crate::failure::Result;
use crate::root::{read, target, write};

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
}

/// What was measured.
pub(super) struct Measured {
    raw: BTreeMap<String, Vec<u64>>,
    rows: Vec<Row>,
}

/// Times every kind of process once in each round, in an order that goes round.
pub(super) fn measure(args: &Args) -> Result<Measured> {
    let programs = build(args.plain)?;
    let place = target().join("bench");
    let kind = disk::must_be_real(&place)?;
    let short = Project::stage(&place.join("short"))?;
    let called = short.snapshot()?;
    short.program(&programs.guard, &["hook", short.adapter.id()]).run(&short.call)?;
    let (records, open) = (short.records()?, short.snapshot()?);
    called.restore()?;
    let long = long_session(args, &programs.guard, &place.join("long"))?;
    let many = long.snapshot()?;
    let long_records = long.records()?;
    let mut cases = cases(&programs, &short, (&called, &open))?;
    for at in [2, 5] {
        let (first, rest) = (cases.get(at), format!("{long_records} records in the session"));
        let Some(first) = first else { continue };
        let program = if at == 2 {
            long.program(&programs.guard, &["hook", long.adapter.id()])
        } else {
            shell(&long, &programs.guard)?
        };
        let name = first.name.replace(NEW, &rest);
        cases.push(Case::new(name, program, &long.call).after(&many).beside(first.base));
    }
    let what = format!("{} rounds on {kind}, a new session has {records} records", args.pairs);
    anstream::println!("\n{}", what.dimmed());
    rounds(&mut cases, args.pairs)?;
    Ok(Measured::of(cases))
}

/// How the table calls a session that has just begun.
const NEW: &str = "new session";

fn shell(project: &Project, guard: &Path) -> Result<Program> {
    Ok(project.program(guard, &[]).in_shell(&project.command(guard)?))
}

/// What is timed; the long session comes besides.
fn cases<'a>(
    programs: &Programs,
    project: &'a Project,
    (called, open): (&'a Snapshot, &'a Snapshot),
) -> Result<Vec<Case<'a>>> {
    let Programs { guard, nothing, nothing_alike } = programs;
    let bare = |program: &Path| project.program(program, &["hook", project.adapter.id()]);
    let case = |name: &str, program: Program| Case::new(name.to_string(), program, &project.call);
    let result = |name: &str, program: Program| Case::new(name.to_string(), program, &project.result);
    Ok(vec![
        case("reads and prints (base)", bare(nothing)),
        case("reads and prints, linked as the guard is", bare(nothing_alike)).beside(Some(0)).unkept(),
        case("bare, a call, new session", bare(guard)).after(called).beside(Some(0)),
        result("bare, a result that is evidence, synced", bare(guard)).after(open).beside(Some(0)),
        case("reads and prints, as `init` writes it (base)", Program { succeeds: false, ..shell(project, nothing)? }),
        case("as `init` writes it, a call, new session", shell(project, guard)?).after(called).beside(Some(4)),
        result("as `init` writes it, a result, synced", shell(project, guard)?).after(open).beside(Some(4)),
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
            let cost = case.program.run(case.input)?;
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
fn long_session(args: &Args, guard: &Path, folder: &Path) -> Result<Project> {
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
    fn new(name: String, program: Program, input: &'a str) -> Self {
        Self { name, program, input, state: None, base: None, kept: true, samples: Vec::new(), peak: 0 }
    }

    fn after(self, state: &'a Snapshot) -> Self {
        Self { state: Some(state), ..self }
    }

    fn beside(self, base: Option<usize>) -> Self {
        Self { base, ..self }
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
                figures.add(&format!("{}, p50", row.name), ratio.p50, Some(1.5));
                figures.add(&format!("{}, p95", row.name), ratio.p95, Some(2.0));
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
