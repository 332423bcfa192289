//! What plays a story: the driver behind `phasegate replay`, seen through a small trait.

use phasegate_config::{Kind, Level, Severity, SourceFile};
use phasegate_core::policy::Mode;
use phasegate_runtime::operate::replay::{Options, Replay};
use serde_json::Value;

/// Steps the lines of a neutral transcript.
pub trait Driver {
    /// Steps one line and returns its output object.
    ///
    /// # Errors
    ///
    /// The line is refused; nothing of it was applied.
    fn line(&mut self, text: &str) -> Result<Value, String>;
}

/// What a story is played with.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// The configs of the project, in the order of discovery.
    pub files: Vec<SourceFile>,
    /// The skill that is active from the start.
    pub skill: Option<String>,
    /// The mode it is activated with, `warn` or `block`.
    pub mode: Option<String>,
    /// Whether the client's shell can hold lines.
    pub confine: bool,
}

impl Stage {
    /// Adds a config of the project.
    pub fn file(&mut self, path: impl Into<String>, kind: Kind, text: impl Into<String>) {
        self.files.push(SourceFile { path: path.into(), text: text.into(), level: Level::Project, kind });
    }
}

/// Compiles the configs of a stage and begins a transcript.
///
/// # Errors
///
/// A config has errors, the skill or the mode is not known. The text names each mistake with its place.
pub fn open(stage: &Stage) -> Result<Box<dyn Driver>, String> {
    let compiled = phasegate_config::compile(&stage.files);
    let errors: Vec<String> = compiled
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| format!("{}:{}:{}: {} [{}]", found.path, found.line, found.column, found.message, found.code))
        .collect();
    if !errors.is_empty() {
        return Err(errors.join("\n"));
    }
    let mode = match stage.mode.as_deref() {
        None => None,
        Some("warn") => Some(Mode::Warn),
        Some("block") => Some(Mode::Block),
        Some(other) => return Err(format!("no mode `{other}`")),
    };
    let options =
        Options { skill: stage.skill.clone(), mode, other_skills: true, confine: stage.confine, ..Options::default() };
    let replay = Replay::new(compiled.policy, options).map_err(|error| error.to_string())?;
    Ok(Box::new(Transcript(replay)))
}

struct Transcript(Replay);

impl Driver for Transcript {
    fn line(&mut self, text: &str) -> Result<Value, String> {
        self.0.line(text).map_err(|error| error.to_string())
    }
}
