//! The samples as written. Unknown keys are refused, so that no expectation goes unread.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One sample.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The sample's name, which its trial has too.
    pub name: String,
    /// How its expectation is known: asserted by the original's tests, seen when running it, read from its text.
    pub origin: String,
    /// The test, run or passage of the original that shows it.
    pub source: String,
    /// The skills that the original had loaded.
    pub setup: Setup,
    /// The calls, in order.
    pub calls: Vec<SampleCall>,
    /// The results of the calls.
    pub expect: SampleExpect,
    /// What is wrong with the original here.
    #[serde(default)]
    pub upstream_quirk: Option<String>,
    /// A note for the reader; the suite does not compare it.
    #[serde(default)]
    pub note: Option<String>,
}

/// The skills of a sample.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The `skill_name`s of the fixtures that are loaded.
    #[serde(default)]
    pub configs: Vec<String>,
    /// The file that holds them.
    #[serde(default)]
    pub configs_file: Option<String>,
    /// Patterns of a skill that forbids nothing else.
    #[serde(default)]
    pub patterns: Vec<String>,
}

/// A call of a sample.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleCall {
    /// The tool, or one of the three commands.
    pub tool: String,
    /// The arguments of the call or command.
    pub args: Value,
}

/// The result of a sample.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleExpect {
    /// One for each call.
    #[serde(default)]
    pub results: Vec<CallExpect>,
    /// What `get_skill_phase` says at the end.
    #[serde(default)]
    pub status_after: Option<Map<String, Value>>,
    /// What the audit log holds.
    #[serde(default)]
    pub audit_events: Option<Vec<AuditEvent>>,
    /// Whether the pattern matches the tool.
    #[serde(default)]
    pub matches: Option<bool>,
}

/// The result of one call or command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallExpect {
    /// `allow`, `warn` or `deny`.
    #[serde(default)]
    pub decision: Option<String>,
    /// Which of the original's rules decided, by its name there.
    #[serde(default)]
    pub rule: Option<String>,
    /// The name of the phase after the call.
    #[serde(default)]
    pub phase_after: Option<String>,
    /// The move, if there was one.
    #[serde(default)]
    pub advanced: Option<Value>,
    /// The violation, if it was one.
    #[serde(default)]
    pub violation: Option<Violation>,
    /// What the agent gets instead of the tool's result.
    #[serde(default)]
    pub response: Option<Response>,
    /// Whether a command was refused.
    #[serde(default)]
    pub is_error: Option<bool>,
    /// The object that a command answers.
    #[serde(default)]
    pub json: Option<Map<String, Value>>,
    /// A refusal's whole text.
    #[serde(default)]
    pub text: Option<String>,
    /// How a refusal's text begins.
    #[serde(default)]
    pub text_prefix: Option<String>,
    /// What a refusal's text contains.
    #[serde(default)]
    pub text_contains: Vec<String>,
}

/// A violation, as the original reports it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The name of the tool that was called.
    pub tool: String,
    /// The name of the active skill.
    pub skill: String,
    /// The name of the phase that it was in.
    pub current_phase: String,
    /// Why the call is a violation, as the agent reads it.
    pub reason: String,
    /// What to do instead, as the agent reads it.
    pub recovery: String,
    /// Whether the call was denied.
    pub blocked: bool,
}

/// The result an agent gets for a denied call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Always true.
    pub is_error: bool,
    /// The whole text of the result.
    pub text: String,
}

/// A line of the original's audit log.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditEvent {
    /// Always empty in the original.
    pub timestamp: String,
    /// The name of the event; the original keeps it in the field of the tool.
    pub tool: String,
    /// Always null in the original.
    pub files: Value,
    /// The message of the event, in the field of an edit's summary.
    pub edit_summary: AuditSummary,
    /// False for a violation.
    pub success: bool,
    /// Always 0 in the original.
    pub duration_ms: u64,
}

/// The text of an audit event.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditSummary {
    /// Always `phase_enforcement`.
    pub mode: String,
    /// The event, its skill, its phase and a detail, as one text.
    pub target: String,
}

impl AuditEvent {
    /// The message of the event; the rest is the same in every event.
    #[must_use]
    pub fn told(&self) -> Value {
        json!({"tool": self.tool, "target": self.edit_summary.target, "success": self.success})
    }
}

/// A skill of the samples.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    /// The skill's name.
    pub skill_name: String,
    /// Its phases, in order.
    pub phases: Vec<FixturePhase>,
    /// What is forbidden in all of them.
    #[serde(default)]
    pub global_forbidden: Vec<String>,
}

/// A phase of such a skill.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixturePhase {
    /// The phase's name.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// The patterns of the tools that may be called.
    pub allowed: Vec<String>,
    /// The patterns of the tools that may not.
    pub forbidden: Vec<String>,
}

impl Fixture {
    /// A skill with one phase that forbids what the patterns match.
    #[must_use]
    pub fn of_patterns(patterns: &[String]) -> Self {
        let phase = FixturePhase {
            name: "only".into(),
            description: String::new(),
            allowed: vec!["no_such_tool".into()],
            forbidden: patterns.to_vec(),
        };
        Self { skill_name: "patterns".into(), phases: vec![phase], global_forbidden: Vec::new() }
    }

    /// The skill as the front matter of a `SKILL.md`. The order of the phases is kept.
    #[must_use]
    pub fn skill_md(&self) -> String {
        let phases: Vec<String> = self
            .phases
            .iter()
            .map(|phase| {
                let body = json!({
                    "description": phase.description,
                    "allowed": phase.allowed,
                    "forbidden": phase.forbidden,
                });
                format!("    {}: {body}\n", json!(phase.name))
            })
            .collect();
        format!(
            "---\nname: {}\ndescription: a sample\ntool_permissions:\n  phases:\n{}  global_forbidden: {}\n---\n\nText.\n",
            self.skill_name,
            phases.concat(),
            json!(self.global_forbidden)
        )
    }
}
