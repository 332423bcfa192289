//! A Python text: does it only read? A strict subset of the language is parsed, and judged by a list of what is harmless.

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

/// Why a text is in doubt, as a lower-case fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) because: String,
}

impl Doubt {
    fn new(because: impl Into<String>) -> Self {
        Self { because: because.into() }
    }
}

/// The paths that a text reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// Those that it names.
    pub(crate) paths: Vec<String>,
    /// Whether it may read any other.
    pub(crate) anything: bool,
}

impl Reads {
    fn add(&mut self, paths: Option<Vec<String>>) {
        match paths {
            Some(paths) => self.paths.extend(paths),
            None => self.anything = true,
        }
    }
}

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
