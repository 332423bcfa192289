//! Access: what calls may do at all, whatever skills and rules allow (rules 4.7).

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// What calls may do at all, from strict to lenient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AccessMode {
    /// Only calls that are known to only read.
    Readonly,
    /// What skills, rules and budgets allow.
    #[default]
    Normal,
    /// As `normal`, and no budget holds. Only a person sets it, for a stated time: `phasegate access admin --for 30m`.
    Admin,
}

impl AccessMode {
    /// Every access with its word.
    pub const ALL: [(&'static str, Self); 3] =
        [("readonly", Self::Readonly), ("normal", Self::Normal), ("admin", Self::Admin)];

    /// The word of configs and commands.
    pub fn word(self) -> &'static str {
        match self {
            Self::Readonly => "readonly",
            Self::Normal => "normal",
            Self::Admin => "admin",
        }
    }

    /// Whether it is what holds where nothing is said.
    pub fn is_normal(&self) -> bool {
        *self == Self::Normal
    }
}

/// The access that a person set for the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    /// The access.
    pub access: AccessMode,
    /// When it ends, in milliseconds since 1970-01-01 UTC; `None`: when a person sets another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

impl Granted {
    /// The access, if it holds at this time. What lets more through does not hold at a time that is not known.
    pub(crate) fn at(self, time: Option<i64>) -> Option<AccessMode> {
        let holds = match (self.until, time) {
            (None, _) => true,
            (Some(until), Some(now)) => now < until,
            (Some(_), None) => self.access == AccessMode::Readonly,
        };
        holds.then_some(self.access)
    }
}

/// What a server that holds the guard states of a call. It can only make the answer stricter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stated {
    /// The access that the call is made with: `readonly` holds, the others say nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<AccessMode>,
    /// The version of the policy that the caller was told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// How long a time is that is written as a whole number and its unit, in milliseconds: `90s`, `30m`, `2h`, `7d`.
pub fn duration_ms(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let number: String = text.strip_suffix(unit)?.into();
    let each = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let count: i64 = number.parse().ok().filter(|count| plain && *count > 0)?;
    count.checked_mul(each)
}

/// Whether two texts are the same, in a time that does not depend on where they differ.
pub fn same_version(one: &str, other: &str) -> bool {
    let longest = one.len().max(other.len());
    let byte = |text: &str, at: usize| text.as_bytes().get(at).copied().unwrap_or_default();
    let differs =
        (0..longest).fold(0_u8, |differs, at| core::hint::black_box(differs | (byte(one, at) ^ byte(other, at))));
    differs == 0 && one.len() == other.len()
}
