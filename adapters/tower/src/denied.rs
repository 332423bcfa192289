//! What the stage says of a call that it denies.

use std::fmt;
use std::sync::Arc;

use phasegate_core::DenialReason;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// A call that was not admitted. Its message is the rendered reason.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAdmissionDenied {
    /// Why: the same value that the listeners get.
    pub reason: Arc<DenialReason>,
    /// Who called.
    pub caller: String,
    /// The tool that was called.
    pub tool: String,
    /// The status of an answer over HTTP: 403.
    pub http_status: u16,
    /// The text for the agent: why, how to get on, and what it may call now.
    pub advice: String,
    /// The name under which a person lets the same call run, where it needs one: `phasegate approve NAME`.
    pub approval: Option<String>,
}

impl ToolAdmissionDenied {
    /// The name of the error in logs and answers.
    pub const NAME: &'static str = "ToolAdmissionDeniedError";
    /// The status of an answer over HTTP.
    pub const HTTP_STATUS: u16 = 403;

    /// Why.
    #[must_use]
    pub fn reason(&self) -> &DenialReason {
        &self.reason
    }
}

/// For the answer of a server: the fields, and beside them the name of the error and its message.
impl Serialize for ToolAdmissionDenied {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct(Self::NAME, 7 + usize::from(self.approval.is_some()))?;
        fields.serialize_field("name", Self::NAME)?;
        fields.serialize_field("message", &self.to_string())?;
        fields.serialize_field("reason", self.reason())?;
        fields.serialize_field("caller", &self.caller)?;
        fields.serialize_field("tool", &self.tool)?;
        fields.serialize_field("http_status", &self.http_status)?;
        fields.serialize_field("advice", &self.advice)?;
        match &self.approval {
            Some(name) => fields.serialize_field("approval", name)?,
            None => fields.skip_field("approval")?,
        }
        fields.end()
    }
}

impl fmt::Display for ToolAdmissionDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl std::error::Error for ToolAdmissionDenied {}

/// A denial, for whoever listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionEvent {
    /// Who called.
    pub caller: String,
    /// The tool that was called.
    pub tool: String,
    /// Why it was denied.
    pub reason: Arc<DenialReason>,
    /// Which denial of this stage it is, counted from 1: no time, so that the same calls give the same events.
    pub at: u64,
}

impl AdmissionEvent {
    /// The type of the event.
    pub const TYPE: &'static str = "admission_deny";

    /// Why it was denied.
    #[must_use]
    pub fn reason(&self) -> &DenialReason {
        &self.reason
    }

    /// The event as canonical JSON: keys sorted, no spaces, the count as decimal text.
    #[must_use]
    pub fn canonical(&self) -> String {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        format!(
            r#"{{"at":"{}","caller":{},"reason":{},"tool":{},"type":"{}"}}"#,
            self.at,
            text(&self.caller),
            self.reason.canonical(),
            text(&self.tool),
            Self::TYPE
        )
    }
}

/// The data of [`AdmissionEvent::canonical`].
impl Serialize for AdmissionEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("AdmissionEvent", 5)?;
        fields.serialize_field("at", &self.at.to_string())?;
        fields.serialize_field("caller", &self.caller)?;
        fields.serialize_field("reason", self.reason())?;
        fields.serialize_field("tool", &self.tool)?;
        fields.serialize_field("type", Self::TYPE)?;
        fields.end()
    }
}

/// How a call through the stage fails.
#[derive(Clone, Debug, PartialEq)]
pub enum StageError<E> {
    /// It was not admitted, and nothing ran.
    Denied(Box<ToolAdmissionDenied>),
    /// It ran, and failed so.
    Next(E),
}

impl<E> StageError<E> {
    /// The denial, if it is one.
    #[must_use]
    pub fn denied(&self) -> Option<&ToolAdmissionDenied> {
        match self {
            Self::Denied(denied) => Some(denied),
            Self::Next(_) => None,
        }
    }
}

impl<E: fmt::Display> fmt::Display for StageError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(denied) => denied.fmt(f),
            Self::Next(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for StageError<E> {}
