//! `cargo xtask gen`: files made from the code, written or compared.

mod generated;
mod codes;
mod attacks;
mod cli;
mod config;
mod crates;
mod faults;
mod harmless;
mod outcomes;
mod platforms;
mod programs;
mod schemas;
mod seeds;
pub(crate) mod shims;

use generated::Generated;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root, write};

/// Whether files are written or compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Stale files are written anew.
    Write,
    /// Stale files are reported.
    Check,
}

/// What `gen` is asked to do.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Report stale files instead of writing them.
    #[arg(long)]
    check: bool,
}

/// Makes every file, and writes or compares it.
pub(crate) fn run(args: &Args) -> Result {
    let mode = if args.check { Mode::Check } else { Mode::Write };
    settle(&all()?, mode)
}

fn all() -> Result<Vec<Generated>> {
    let programs = programs::text()?;
    let mut files = vec![codes::page(), cli::page(), platforms::page(), faults::page()?, config::page()?];
    files.extend([attacks::page()?, harmless::page()?, outcomes::page()?, seeds::page()?, programs]);
    files.extend(crates::pages()?);
    files.extend(schemas::files());
    files.extend(shims::files()?);
    Ok(files)
}

fn settle(files: &[Generated], mode: Mode) -> Result {
    let mut stale = Vec::new();
    for file in files {
        let path = root().join(&file.path);
        let present = read(&path).ok();
        if present.as_deref() == Some(file.text.as_str()) {
            continue;
        }
        match mode {
            Mode::Write => {
                write(&path, &file.text)?;
                anstream::println!("wrote {}", file.path);
            }
            Mode::Check => stale.push(file.path.as_str()),
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("stale: {}; run `cargo xtask gen` and commit the result", stale.join(", "))))
}
