//! A Python text: does it only read? A strict subset of the language is parsed, and judged by a list of what is harmless.

mod doubt;
mod tree;
mod token;
mod parse;
mod modules;
mod names;
mod scope;
mod value;
mod judge;
mod guarded;
#[cfg(test)]
mod differential;

pub(crate) use doubt::{Doubt, Reads};

/// What a text reads that does nothing else. `old` says that Python 2 may run it.
pub(crate) fn judge(text: &str, old: bool) -> Result<Reads, Doubt> {
    let odd = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if text.chars().any(odd) {
        return Err(Doubt::new("the Python text has a control character"));
    }
    if text.lines().take(2).any(|line| line.contains('#') && line.contains("coding")) {
        return Err(Doubt::new("the Python text names its encoding"));
    }
    let block = parse::parse(text)?;
    let scope = scope::Scope::of(&block, old).map_err(|doubt| match text.contains("__version__") {
        true => Doubt::new(format!("{}; `importlib.metadata.version` reads a version", doubt.because)),
        false => doubt,
    })?;
    let mut judge = judge::Judge { scope: &scope, reads: Reads::default() };
    judge.block(&block)?;
    Ok(judge.reads)
}
