//! Whether what happened is what the story says.

use super::client::Client;
use super::played::{Outcome, Played, Said};
use super::story::{Call, Expect, Story};

/// Everything that is not as the story says; empty when all is.
pub(super) fn problems(story: &Story, played: &Played, client: &dyn Client) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, call) in story.calls() {
        let outcome = played.calls.get(&id).cloned().unwrap_or_default();
        problems.extend(
            of_call(call, &outcome, client.tells_failure(call))
                .into_iter()
                .map(|problem| format!("{id} ({}): {problem}", call.tool)),
        );
    }
    let required = story.requires.iter().filter_map(|event| client.event(event));
    for event in required.filter(|event| !played.events.contains(event)) {
        problems.push(format!("no `{event}` reached the guard"));
    }
    problems
}

fn of_call(call: &Call, outcome: &Outcome, tells_failure: bool) -> Vec<String> {
    let mut problems = Vec::new();
    let told = match (&outcome.said, call.expect) {
        (None, _) => return vec!["never reached the guard".into()],
        (Some(Said::Go(text)), Expect::Allowed) => text,
        (Some(Said::Go(text)), Expect::Warned) if !text.is_empty() => text,
        (Some(Said::Stop(reason)), Expect::Blocked) | (Some(Said::Ask(reason)), Expect::Asked) => reason,
        (Some(said), expected) => return vec![format!("the guard said {said:?}, not {expected:?}")],
    };
    if call.lost {
        // The client may tell the model of an end that it made up.
        let late = (outcome.error == Some(false)).then(|| "its result came after all".to_string());
        // A call that is stopped and whose end is lost ends the turn: the model is not asked again.
        let asked = !call.runs() && call.proof.is_some() && outcome.trace.is_some();
        let asked = asked.then(|| "the model was asked again after it".to_string());
        return late.into_iter().chain(asked).collect();
    }
    // What the user answered yes to, and what they said no to, the model reads in the client's own words.
    let asked = call.expect == Expect::Asked && (call.granted || call.refused);
    if (!call.expect.passes() && !asked) || call.expect == Expect::Warned {
        let missing = told.lines().find(|line| !outcome.read.contains(line.trim()));
        problems.extend(missing.map(|line| format!("the model did not read `{line}`")));
    }
    let failed = (call.fails && tells_failure) || !call.runs();
    if outcome.error != Some(failed) {
        problems.push(format!("the model was told: error {:?}, not {failed}", outcome.error));
    }
    if call.proof.is_some() && outcome.trace != Some(call.runs()) {
        problems.push(format!("its trace: {:?}, not {}", outcome.trace, call.runs()));
    }
    let unread = call.reads.iter().filter(|text| !outcome.read.contains(text.as_str()));
    problems.extend(unread.map(|text| format!("the model did not read `{text}` but `{}`", outcome.read)));
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn call(expect: &str, more: &Value) -> Call {
        let mut call = json!({"tool": "Edit", "input": {}, "expect": expect, "proof": {"file": "a"}, "reads": ["why"]});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(call).unwrap()
    }

    fn stopped() -> Outcome {
        let said = Some(Said::Stop("why".into()));
        Outcome { said, error: Some(true), read: "error: why".into(), trace: Some(false) }
    }

    #[test]
    fn a_blocked_call_must_be_stopped_read_and_without_trace() {
        let blocked = call("blocked", &json!({}));
        assert_eq!(of_call(&blocked, &stopped(), true), Vec::<String>::new());
        for wrong in [
            Outcome { said: Some(Said::Go(String::new())), ..stopped() },
            Outcome { said: None, ..stopped() },
            Outcome { error: Some(false), ..stopped() },
            Outcome { trace: Some(true), ..stopped() },
            Outcome { read: "error".into(), ..stopped() },
        ] {
            assert!(!of_call(&blocked, &wrong, true).is_empty(), "{wrong:?}");
        }
    }

    #[test]
    fn a_warned_call_runs_and_the_warning_is_read() {
        let warned = call("warned", &json!({}));
        let ran = Outcome { said: Some(Said::Go("why".into())), error: Some(false), trace: Some(true), ..stopped() };
        assert_eq!(of_call(&warned, &ran, true), Vec::<String>::new());
        assert!(!of_call(&warned, &Outcome { said: Some(Said::Go(String::new())), ..ran.clone() }, true).is_empty());
        assert!(!of_call(&warned, &Outcome { read: String::new(), ..ran }, true).is_empty());
    }
}
