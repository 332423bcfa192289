//! `cargo xtask bench confine`: what confinement adds to a command, at each level that works here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use owo_colors::OwoColorize as _;

use super::build;
use super::failed::failed;
use xtask::failure::{Failure, Result};
use xtask::process::{build_programs, program};
use xtask::root::target;

/// What is measured.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many rounds are timed; each runs every command once.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..))]
    rounds: u32,
    /// How many commands run in turn before what they leave is looked for.
    #[arg(long, default_value_t = 1000)]
    lines: u32,
    /// How many commands are killed, each at another point.
    #[arg(long, default_value_t = 100)]
    killed: u32,
    /// Use the program that is built, as it is: what comes out compares nothing.
    #[arg(long)]
    debug: bool,
}

/// The levels, as `phasegate confine` names them.
const LEVELS: [&str; 4] = ["overlay", "binds", "landlock", "protect"];
/// How often the long commands are timed.
const LONG_ROUNDS: u32 = 5;
/// What `npm ci` does to a disk: 200 folders of 25 small files.
const UNPACK: &str = "rm -rf node_modules; for p in {1..200}; do mkdir -p node_modules/p$p/lib; \
                      for f in {1..25}; do echo \"module.exports = $f\" > node_modules/p$p/lib/$f.js; done; done";
/// A build that finds nothing of an earlier one.
const BUILD: &str = "rm -rf target; cargo build --quiet --offline";
/// The name of a process that must not stay.
const MARK: &str = "phasegate-bench-mark";

/// Measures, and fails where something is left behind.
pub(crate) fn run(args: &Args) -> Result {
    let guard = if args.debug {
        build_programs()?;
        program("phasegate").get_program().into()
    } else {
        build::guard(false)?
    };
    let bench = Bench { guard, folder: target().join("bench/confine") };
    bench.prepare()?;
    let levels: Vec<&str> = LEVELS.into_iter().filter(|level| bench.works(level)).collect();
    anstream::println!("{}", "milliseconds: median, and what it is more than without".bold());
    for (what, line, rounds) in
        [("true", "true", args.rounds), ("cargo build", BUILD, LONG_ROUNDS), ("5,000 files", UNPACK, LONG_ROUNDS)]
    {
        bench.compare(what, line, rounds, &levels)?;
    }
    for level in levels.iter().filter(|level| **level != "protect") {
        bench.leaves_nothing(level, args)?;
    }
    Ok(())
}

/// The program that is measured, and a folder with a small crate in it.
struct Bench {
    guard: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn prepare(&self) -> Result {
        let source = self.folder.join("src");
        fs::create_dir_all(&source).map_err(|error| Failure::file(&source, error))?;
        let manifest = "[package]\nname = \"bench\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        for (path, text) in [
            (self.folder.join("Cargo.toml"), manifest),
            (source.join("main.rs"), "fn main() {\n    println!(\"{:?}\", std::env::args().collect::<Vec<_>>());\n}\n"),
        ] {
            fs::write(&path, text).map_err(|error| Failure::file(&path, error))?;
        }
        Ok(())
    }

    /// A line of the shell, without confinement where there is no level.
    fn command(&self, level: Option<&str>, line: &str) -> Command {
        let mut command = match level {
            None => Command::new("bash"),
            Some(level) => {
                let mut command = Command::new(&self.guard);
                match level {
                    "protect" => command.args(["confine", "protect", "--folder", "src"]),
                    level => command.args(["confine", "read-only", "--level", level]),
                };
                command.args(["--", "bash"]);
                command
            }
        };
        command.args(["-c", line]).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn works(&self, level: &str) -> bool {
        let works = self.command(Some(level), "true").status().is_ok_and(|status| status.success());
        if !works {
            anstream::println!("{} {level} does not work here", "not measured:".yellow());
        }
        works
    }

    fn compare(&self, what: &str, line: &str, rounds: u32, levels: &[&str]) -> Result {
        let ways: Vec<Option<&str>> = [None].into_iter().chain(levels.iter().copied().map(Some)).collect();
        let mut times = vec![Vec::new(); ways.len()];
        for _ in 0..rounds {
            for (way, times) in ways.iter().zip(&mut times) {
                let begun = Instant::now();
                self.command(*way, line).status().map_err(|error| Failure::file(&self.guard, error))?;
                times.push(begun.elapsed());
            }
        }
        let medians: Vec<f64> = times.into_iter().map(median).collect();
        let without = medians.first().copied().unwrap_or_default();
        for (way, median) in ways.iter().zip(medians) {
            let name = way.unwrap_or("without");
            let percent = (median / without - 1.0) * 100.0;
            anstream::println!("{what:<12} {name:<9} {median:>9.2} {:>+8.2} {percent:>+7.0} %", median - without);
        }
        Ok(())
    }

    /// Runs many commands, kills others, and looks for mounts, processes and folders.
    fn leaves_nothing(&self, level: &str, args: &Args) -> Result {
        let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap_or_default().lines().count();
        let before = mounts();
        for _ in 0..args.lines {
            let _ = self.command(Some(level), "echo x > src/new").status();
        }
        for at in 0..args.killed {
            let line = format!("echo x > src/new; exec -a {MARK} sleep 300");
            let mut child =
                self.command(Some(level), &line).spawn().map_err(|error| Failure::file(&self.guard, error))?;
            std::thread::sleep(Duration::from_micros(u64::from(at) * 150));
            let _ = child.kill();
            let _ = child.wait();
        }
        // The processes end when the kernel has told them, and the next command sweeps the folders.
        std::thread::sleep(Duration::from_secs(1));
        let _ = self.command(Some(level), "true").status();
        let (folders, processes) = (work_folders(), processes());
        let left = format!("{} mounts, {folders} folders, {processes} processes", mounts().saturating_sub(before));
        anstream::println!("{level:<9} {} commands, {} killed: left {left}", args.lines, args.killed);
        let clean = mounts() <= before && folders == 0 && processes == 0;
        if clean { Ok(()) } else { Err(failed(format!("`{level}` leaves something behind: {left}"))) }
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// The work folders of all users, of which a quiet machine has none.
fn work_folders() -> usize {
    let bases = fs::read_dir("/var/tmp").into_iter().flatten().flatten();
    let bases = bases.filter(|entry| entry.file_name().to_string_lossy().starts_with("phasegate-"));
    bases.map(|base| fs::read_dir(base.path()).into_iter().flatten().count()).sum()
}

fn processes() -> usize {
    let marked = |path: &Path| fs::read(path.join("cmdline")).is_ok_and(|line| line.starts_with(MARK.as_bytes()));
    fs::read_dir("/proc").into_iter().flatten().flatten().filter(|entry| marked(&entry.path())).count()
}
