//! What `phasegate status` has to show.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use phasegate_adapter::Problem;
use phasegate_core::policy::Mode;
use phasegate_core::policy::access::{AccessMode, Granted};
use phasegate_runtime::Project;
use phasegate_runtime::clients::alarm::Alarm;
use phasegate_runtime::policies::accepted_configs::Offer;
use phasegate_runtime::policies::reload::Reload;
use phasegate_runtime::sessions::SessionInfo;
use phasegate_runtime::sessions::snapshot::Violation;
use serde_json::{Value, json};

use super::budgets::Budgets;
use crate::command::runs::live::found::list;

/// What there is to show.
pub(super) struct Found {
    pub(super) project: Project,
    pub(super) guarded: Guarded,
    /// Those that go on first.
    pub(super) shown: Vec<Shown>,
    pub(super) shared: Shared,
    /// The answer of `get_skill_phase` in a session that is still to begin.
    pub(super) fresh: Value,
    pub(super) damaged: Vec<(PathBuf, Problem)>,
    /// How many messages could not be read and named no session.
    pub(super) unread: u64,
    /// The files that calls changed although they might not, so that no call passes that does more than read.
    pub(super) violations: Vec<Violation>,
    /// The names with which a person accepts tools that servers describe otherwise than before.
    pub(super) changed_tools: Vec<String>,
}

/// A session and where it stands.
pub(super) struct Shown {
    pub(super) session: SessionInfo,
    /// The answer of `get_skill_phase`.
    pub(super) status: Value,
    /// Every run that judges its calls.
    pub(super) runs: Vec<Value>,
    /// What waits for a person, and what is approved.
    pub(super) approvals: Value,
    /// What a reload would change, and the skills whose runs keep an older version; `None` for a session that ended.
    pub(super) reload: Option<Reload>,
}

/// The runs of the project, which each of its sessions has, and what a person is waited for in them.
pub(super) struct Shared {
    pub(super) runs: Vec<Value>,
    pub(super) approvals: Value,
    /// The skills whose runs keep an older version.
    pub(super) kept: Vec<String>,
}

impl Shared {
    /// Of all that a session has.
    pub(super) fn of(runs: &[Value], approvals: &Value, reload: Option<&Reload>) -> Self {
        let shared = |key: &str| -> Vec<Value> { list(approvals, key).filter(|one| is_shared(one)).cloned().collect() };
        Self {
            runs: runs.iter().filter(|run| is_shared(run)).cloned().collect(),
            approvals: json!({"waiting": shared("waiting"), "approved": shared("approved")}),
            kept: reload.map(|reload| reload.kept.clone()).unwrap_or_default(),
        }
    }
}

/// Whether a run, or an approval of one, belongs to the project.
pub(super) fn is_shared(one: &Value) -> bool {
    one.get("scope").and_then(Value::as_str) == Some("project")
}

/// What guards the project.
pub(super) struct Guarded {
    /// The word of a state.
    pub(super) state: &'static str,
    pub(super) text: String,
    /// The access that the config says.
    pub(super) access: AccessMode,
    /// The access that a person set, if it holds now.
    pub(super) granted: Option<Granted>,
    /// The budgets of the config.
    pub(super) budgets: Budgets,
    /// How much is used up of those that count for the project.
    pub(super) spent: Vec<Value>,
    /// The skills that are in force for every session, and in which mode.
    pub(super) in_force: BTreeMap<String, Mode>,
    /// The values of the inputs of those that have some.
    pub(super) inputs: Value,
    /// The skills that only begin by themselves: nobody starts them by their names.
    pub(super) by_itself: Vec<String>,
    /// What a person types to start a skill.
    pub(super) invocation: String,
    /// The configs that wait for a person.
    pub(super) offer: Option<Offer>,
    /// What went past the guard, and no person has accepted.
    pub(super) alarms: Vec<Alarm>,
    /// What clients start and no person accepted, each as a fragment.
    pub(super) unaccepted: Vec<String>,
    /// The platforms that have the guard and do not start it now, each with the reason.
    pub(super) off: Vec<(String, String)>,
}

/// The values of inputs, in brackets; nothing where there are none.
pub(crate) fn given(values: Option<&Value>) -> String {
    let values = values.and_then(Value::as_object).into_iter().flatten();
    let each: Vec<String> =
        values.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
    if each.is_empty() { String::new() } else { format!(" ({})", each.join(" ")) }
}

impl Found {
    /// The original's fields for the addressed session at the top level, and then every session.
    pub(super) fn as_json(&self) -> Value {
        let mut top = self.shown.first().map_or(&self.fresh, |shown| &shown.status).clone();
        let damaged = self.damaged.iter().map(|(path, problem)| {
            json!({"journal": path.display().to_string(), "code": problem.code, "message": problem.message})
        });
        let more = json!({
            "project": self.project.root.display().to_string(),
            "guard": {"state": self.guarded.state, "text": self.guarded.text},
            "budgets": self.guarded.spent,
            "access": {"config": self.guarded.access, "set": self.guarded.granted},
            "in_force": self.guarded.in_force,
            "session": self.shown.first().map(|shown| &shown.session.id),
            "project_runs": self.shared.runs,
            "project_waiting": self.shared.approvals.get("waiting"),
            "sessions": self.shown.iter().map(|shown| shown.as_json(&self.guarded.budgets)).collect::<Vec<_>>(),
            "changed_tools": self.changed_tools,
            "violations": self.violations.iter().map(|one| &one.change).collect::<Vec<_>>(),
            "damaged": damaged.collect::<Vec<_>>(),
            "unread": self.unread,
        });
        if let (Value::Object(fields), Value::Object(more)) = (&mut top, more) {
            fields.extend(more);
            fields.extend(
                self.guarded.offer.as_ref().map(|offer| {
                    ("offer".to_string(), json!({"difference": offer.difference, "digest": offer.digest}))
                }),
            );
            let unaccepted = Some(&self.guarded.unaccepted).filter(|others| !others.is_empty());
            fields.extend(unaccepted.map(|others| ("unaccepted".to_string(), json!(others))));
            let off = self.guarded.off.iter().map(|(platform, why)| json!({"platform": platform, "why": why}));
            let off = Some(off.collect::<Vec<_>>()).filter(|off| !off.is_empty());
            fields.extend(off.map(|off| ("off".to_string(), json!(off))));
            let alarms = Some(&self.guarded.alarms).filter(|alarms| !alarms.is_empty());
            fields.extend(alarms.map(|alarms| ("alarms".to_string(), json!(alarms))));
            let given = self.guarded.inputs.as_object().is_some_and(|values| !values.is_empty());
            fields.extend(given.then(|| ("in_force_inputs".to_string(), self.guarded.inputs.clone())));
        }
        top
    }
}

impl Shown {
    fn as_json(&self, budgets: &Budgets) -> Value {
        let active = self.session.active.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        json!({
            "session": self.session.id,
            "records": self.session.records,
            "ended": self.session.state.session.ended,
            "active_at": active.as_millis(),
            "status": self.status,
            "runs": self.runs,
            "budgets": budgets.of_session(&self.session.state),
            "not_kept": self.session.not_kept,
            "denied": self.session.state.session.denied.iter().map(|denied| json!({"tool": denied.tool, "times": denied.times})).collect::<Vec<_>>(),
            "older_policy": self.reload.as_ref().is_some_and(Reload::changes_configs),
            "older_skills": self.reload.as_ref().map(|reload| &reload.kept),
            "waiting": self.approvals.get("waiting"),
            "approved": self.approvals.get("approved"),
        })
    }
}

/// The texts of a JSON list.
pub(crate) fn words(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
