//! The least a hook can be: reads all of its input, prints a line. Compiled by `cargo xtask bench` alone.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    writeln!(std::io::stdout(), "{}", input.len())
}
