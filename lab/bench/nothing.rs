//! The least a hook can be: reads all of its input, prints a line, and confirms its answer where it is asked to, as the
//! guard does; else the shell line that `init` writes would go on to what it does without the guard. Compiled by
//! `cargo xtask bench` alone.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    writeln!(std::io::stdout(), "{}", input.len())?;
    let confirms = std::env::args().any(|arg| arg == "--confirm");
    std::process::exit(if confirms { 10 } else { 0 })
}
