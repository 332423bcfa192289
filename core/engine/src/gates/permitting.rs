//! What the access lets calls do, and how a person sets it (rules 4.7).

use serde_json::{Value, json};

use crate::answers::denial::{DenialKind, InvalidCommand, WhyReadonly};
use crate::commands::arguments::Arguments;
use crate::policy::Policy;
use crate::policy::access::{AccessMode, Granted, Stated, duration_ms};
use crate::prelude::*;
use crate::state::State;
use crate::state::change::Change;
use crate::state::draft::Draft;

/// When a call is made, and what is stated of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'a> {
    /// In milliseconds since 1970-01-01 UTC, where known.
    pub(crate) time: Option<i64>,
    pub(crate) stated: Option<&'a Stated>,
}

/// Why a call may only read; `None`: it may do more.
pub(crate) fn readonly(policy: &Policy, state: &State, asked: Asked<'_>) -> Option<WhyReadonly> {
    let granted = state.project.access.and_then(|granted| granted.at(asked.time));
    if asked.stated.and_then(|stated| stated.access) == Some(AccessMode::Readonly) {
        return Some(WhyReadonly::Server);
    }
    match granted {
        Some(AccessMode::Readonly) => Some(WhyReadonly::Person),
        Some(AccessMode::Normal) => None,
        // What skips budgets skips nothing else.
        Some(AccessMode::Admin) | None => (policy.access == AccessMode::Readonly).then_some(WhyReadonly::Config),
    }
}

/// Whether no budget holds: a person said so, for a time that is not over.
pub(crate) fn skips_budgets(state: &State, asked: Asked<'_>) -> bool {
    state.project.access.and_then(|granted| granted.at(asked.time)) == Some(AccessMode::Admin)
}

/// The longest time for which a person gives the access `admin`, in milliseconds: a day.
const MAX_ADMIN_MS: i64 = 24 * 60 * 60 * 1000;

/// Sets the access of the project.
pub(crate) fn set(draft: &mut Draft, args: &Arguments<'_>, at: Option<i64>) -> Result<Value, DenialKind> {
    let word = args.required("access")?;
    let invalid = |why: &'static str| DenialKind::CommandInvalid(InvalidCommand::AccessInvalid { why });
    let named = AccessMode::ALL.iter().find(|(known, _)| *known == word);
    let (_, access) = *named.ok_or_else(|| invalid("an access is `readonly`, `normal` or `admin`"))?;
    let lasts = match args.text("for")? {
        None => None,
        Some(text) => {
            Some(duration_ms(text).ok_or_else(|| invalid("a time is written as `30m`, `90s`, `2h` or `1d`"))?)
        }
    };
    if access == AccessMode::Admin && lasts.is_none_or(|lasts| lasts > MAX_ADMIN_MS) {
        return Err(invalid("`admin` is for a stated time of at most a day: `--for 30m`"));
    }
    let until = match (lasts, at) {
        (None, _) => None,
        (Some(lasts), Some(now)) => Some(now.saturating_add(lasts)),
        (Some(_), None) => return Err(invalid("the time now is not known")),
    };
    // Without a time, `normal` is what holds where no person says anything.
    let granted = Some(Granted { access, until }).filter(|_| access != AccessMode::Normal || until.is_some());
    draft.change(Change::AccessSet { granted });
    let mut answer = json!({"status": "access_set", "access": word});
    if let (Value::Object(fields), Some(until)) = (&mut answer, until) {
        fields.insert("until".to_string(), until.into());
    }
    Ok(answer)
}
