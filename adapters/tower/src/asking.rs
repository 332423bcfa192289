//! The guard of a project, asked: for the layer, and as the admission of the stage.

use async_trait::async_trait;
use phasegate_adapter::guarded::{Denial, GuardedCalls, GuardedSession, Proposed, Ruling, caught, every_call};
use phasegate_adapter::{Problem, Standing, text};
use phasegate_core::calls::tool::READ;
use phasegate_core::events::event::{CallOutcome, SessionSource};
use phasegate_core::policy::access::{AccessMode, Stated};
use phasegate_core::{Code, Decision, DenialReason, Event, EventKind};

use crate::admission::{Admission, Admitted, Refusal, Request, Verdict};
use crate::call::Call;

/// The name of the rule of a denial that the stage makes because nothing could be decided.
pub(crate) const ADAPTER: &str = "<adapter>";

/// Decides a call, of which the server may state something.
pub(crate) async fn decide(calls: &GuardedCalls, call: &Call, stated: Option<Stated>) -> Result<Admitted, Denial> {
    let session = GuardedSession::new(&call.session).of_principal(call.principal.clone());
    // A server that states something of a call relies on a guard that holds it.
    let relies =
        stated.as_ref().is_some_and(|stated| stated.access == Some(AccessMode::Readonly) || stated.version.is_some());
    let proposed = Proposed { stated: stated.map(Box::new), ..Proposed::from(call.event(&calls.fresh_id())) };
    match calls.decide(&session, proposed).await.ruling {
        Ruling::Runs { call, warning } => {
            let warning = warning.map(|decision| text::warning(&decision));
            Ok(Admitted { warning, call: Some(call) })
        }
        Ruling::Unguarded if relies => {
            let why = "nothing guards the project, so nobody holds the access or the version that the server states";
            Err(Denial::Problem(Problem::new(Code::PolicyMissing, why)))
        }
        Ruling::Unguarded | Ruling::DecidedByHost => Ok(Admitted::default()),
        Ruling::Denied(denied) => Err(denied),
    }
}

/// The guard compares the version with that of the session's policy, in the same step in which it decides.
#[async_trait]
impl Admission for GuardedCalls {
    async fn version(&self, _request: &Request) -> Result<Option<String>, String> {
        Ok(None)
    }

    /// Asks without a record how a call would be decided that states no version which can be in force.
    async fn in_force(&self, session: &str) -> Result<Option<String>, String> {
        let stated = Stated { access: None, version: Some(String::new()) };
        let call = every_call(ADAPTER, None, Some([READ.to_owned()].into()));
        let call = Event { stated: Some(Box::new(stated)), ..Event::new(session, call) };
        // One that goes on has the rules that it began with.
        let begins = EventKind::SessionStart { source: SessionSource::Startup, parent: None };
        let begins = (self.guard().standing(session) != Standing::Open).then(|| Event::new(session, begins));
        let events = begins.into_iter().chain([call]).collect();
        let answers = caught(self.guard().probe(session, events)).await?.map_err(|problem| problem.text())?;
        Ok(answers.into_iter().find_map(|decision| match decision.admission.as_deref() {
            Some(DenialReason::RuleVersionMismatch { actual, .. }) => Some(actual.clone()),
            _ => None,
        }))
    }

    async fn guards(&self) -> bool {
        !self.unguarded().await
    }

    async fn session_ended(&self, session: &str) {
        self.end(&GuardedSession::new(session)).await;
    }

    async fn evaluate(&self, request: &Request) -> Result<Verdict, String> {
        let stated = Stated { access: request.access, version: request.version.clone() };
        match decide(self, &request.call, Some(stated)).await {
            Ok(admitted) => Ok(admitted.into()),
            Err(Denial::Decision(decision)) => Ok(refusal(*decision).into()),
            Err(Denial::Problem(problem)) => Err(problem.text()),
        }
    }

    async fn ended(&self, admitted: Admitted, outcome: CallOutcome) {
        if let Some(call) = admitted.call {
            // An outcome that cannot be recorded proves nothing; the answer itself goes out.
            drop(GuardedCalls::ended(self, call, outcome).await);
        }
    }
}

/// A denial of the guard as the stage gives it. Where no rule or budget denies, the code of the denial is the policy.
fn refusal(mut decision: Decision) -> Refusal {
    let advice = text::denial(&decision);
    let reason = match decision.admission.take() {
        Some(reason) => *reason,
        None => DenialReason::policy(decision.code.map_or("denied", |code| code.id()), decision.reason),
    };
    Refusal { reason, advice, approval: decision.question }
}
