//! `cargo xtask counts`: what a hook and a decision do, in counts that do not hang on the machine's mood, compared with
//! those that are committed.
//!
//! Instructions and allocations come from `valgrind --tool=callgrind`, system calls, bytes and opened files from `strace`.
//! They are of the debug build that the tests have made already. `--release` counts what only the installed program shows.

mod callgrind;
mod order;
mod hooks;
mod decisions;
mod reference;
mod release;
pub(crate) mod session;
mod trace;

use std::process::Command;

use reference::{Counts, Reference};
use xtask::failure::{Failure, Result};
use xtask::process::output;

/// What is counted, and what is done with it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Count the program as people install it: page faults and size. It is built first.
    #[arg(long)]
    release: bool,
    /// Commit to these counts.
    #[arg(long)]
    bless: bool,
}

/// Counts and compares, where the programs that count are there.
pub(crate) fn run(args: &Args) -> Result {
    if let Some(reason) = hindrance(if args.release { &[] } else { &["valgrind", "strace"] }) {
        anstream::println!("skipped: {reason}");
        return Ok(());
    }
    let mut counts = Counts::default();
    if args.release {
        release::count(&mut counts)?;
    } else {
        hooks::count(&mut counts)?;
        decisions::count(&mut counts)?;
    }
    anstream::print!("{}", counts.table());
    let compiler = compiler()?;
    let reference = Reference::read()?;
    if args.bless {
        return reference.with(counts, compiler).write();
    }
    let wrong = reference.differences(&counts, &compiler);
    if wrong.is_empty() {
        return Ok(());
    }
    let way = if args.release { "counts --release --bless" } else { "counts --bless" };
    Err(Failure::new(format!("{}\n`cargo xtask {way}` commits to what is", wrong.join("\n"))))
}

/// What made the instructions: the compiler, and whether it builds incrementally, which makes some 3 % more of them.
fn compiler() -> Result<String> {
    let version = output(Command::new("rustc").arg("--version"))?;
    let whole = std::env::var_os("CARGO_INCREMENTAL").is_some_and(|set| set == "0");
    Ok(format!("{}{}", version.trim(), if whole { ", CARGO_INCREMENTAL=0" } else { "" }))
}

/// Why nothing can be counted here.
fn hindrance(programs: &[&str]) -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("the committed counts are of x86-64 Linux".to_owned());
    }
    let there = |name: &&&str| output(Command::new(name).arg("--version")).is_ok();
    let missing: Vec<&str> = programs.iter().filter(|name| !there(name)).copied().collect();
    let names = missing.join(" ");
    (!missing.is_empty()).then(|| format!("not installed: {names} (Debian: `apt-get install {names}`)"))
}
