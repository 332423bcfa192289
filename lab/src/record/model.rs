//! The scripted model: answers with the story's turns and records every request.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::scratch::Scratch;
use super::story::{MAIN, Story, Turn, call_id};
use phasegate::scripted::http::{Request, Response};
use phasegate::scripted::messages::{self, Block};
use phasegate::scripted::responses;

/// A model that plays a story.
pub(super) struct Model {
    story: Story,
    scratch: Scratch,
    marker: String,
    /// The calls as the client's model makes them, by id.
    calls: BTreeMap<String, (String, Value)>,
    state: Mutex<State>,
}

/// What has happened so far.
#[derive(Default)]
pub(super) struct State {
    /// The requests of every conversation, in order of arrival, with the turn each was answered with.
    pub(super) asked: Vec<Asked>,
    /// Whether the trace of a call was there when the model read its result, by call id.
    pub(super) traces: BTreeMap<String, bool>,
    /// Requests that belong to no conversation of the story: titles, summaries, probes.
    pub(super) aside: usize,
    /// Commands of the outside program that failed.
    pub(super) failed: Option<String>,
}

/// One request of a conversation.
pub(crate) struct Asked {
    /// Whose conversation.
    pub(super) conversation: String,
    /// The turn that answers it.
    pub(super) turn: usize,
    /// The messages, as sent.
    pub(super) messages: Value,
}

impl Model {
    /// A model for a story in a scratch folder. `marker` is what the first message of the main conversation holds, `calls`
    /// are the story's under the client's names, by id.
    pub(super) fn new(
        story: Story,
        scratch: Scratch,
        marker: String,
        calls: BTreeMap<String, (String, Value)>,
    ) -> Self {
        Self { story, scratch, marker, calls, state: Mutex::default() }
    }

    /// Answers one request of the client.
    pub(super) fn answer(&self, request: &Request) -> Response {
        let json = |value: Value| Response { media_type: "application/json", body: value.to_string() };
        let other = request.path.ends_with("/responses");
        if !other && !request.path.ends_with("/messages") {
            return json(if request.path.ends_with("/count_tokens") {
                json!({"input_tokens": 1000})
            } else {
                json!({})
            });
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let asked = if other { responses::request(&body) } else { body.clone() };
        let (conversation, turn) = self.turn(&asked);
        if let Err(failure) = self.scratch.hand(&turn.1.hand) {
            self.state().failed = Some(failure.to_string());
        }
        std::thread::sleep(Duration::from_millis(turn.1.after_ms));
        let blocks = self.blocks(&conversation, turn.0, &turn.1);
        if other { responses::reply(&body, &blocks) } else { messages::reply(&body, &blocks) }
    }

    /// What happened.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose conversation a request belongs to, and which turn answers it.
    fn turn(&self, body: &Value) -> (String, (usize, Turn)) {
        let said = |text: &str| Turn { text: text.into(), ..Turn::default() };
        let Some((conversation, turns)) = self.conversation(body) else {
            self.state().aside += 1;
            return (String::new(), (0, said("ok")));
        };
        let messages = body.get("messages").cloned().unwrap_or_default();
        let mut state = self.state();
        let own: Vec<&Asked> = state.asked.iter().filter(|asked| asked.conversation == conversation).collect();
        // The client may ask the same again after an error; that moves nothing.
        let again = own.iter().find(|asked| asked.messages == messages).map(|asked| asked.turn);
        let at = again.unwrap_or(own.len());
        if again.is_none() {
            self.note_traces(&mut state, &conversation, turns, at);
            state.asked.push(Asked { conversation: conversation.clone(), turn: at, messages });
        }
        let mut turn = turns.get(at).cloned().unwrap_or_else(|| said("done"));
        if again.is_some() {
            turn.hand.clear();
        }
        (conversation, (at, turn))
    }

    /// Looks for the traces of the calls whose results are read with this request.
    fn note_traces(&self, state: &mut State, conversation: &str, turns: &[Turn], at: usize) {
        let Some((before, turn)) = at.checked_sub(1).and_then(|before| Some((before, turns.get(before)?))) else {
            return;
        };
        for (position, call) in turn.calls.iter().enumerate() {
            if let Some(proof) = &call.proof {
                state
                    .traces
                    .insert(call_id(conversation, before, position), proof.holds(&self.scratch.path("project")));
            }
        }
    }

    fn blocks(&self, conversation: &str, at: usize, turn: &Turn) -> Vec<Block> {
        let text = (!turn.text.is_empty() || turn.calls.is_empty()).then(|| Block::Text(turn.text.clone()));
        let calls = turn.calls.iter().enumerate().map(|(position, call)| {
            let id = call_id(conversation, at, position);
            let own = || (call.tool.clone(), Value::Object(call.input.clone()));
            let (name, input) = self.calls.get(&id).cloned().unwrap_or_else(own);
            Block::Call { id, name, input }
        });
        text.into_iter().chain(calls).collect()
    }

    /// A request without tools asks for a title or the like, and belongs to none.
    fn conversation(&self, body: &Value) -> Option<(String, &[Turn])> {
        body.get("tools").and_then(Value::as_array).filter(|tools| !tools.is_empty())?;
        let named = |text: &str| {
            let mut agents = self.story.agents.iter();
            agents
                .find(|(marker, _)| text.contains(marker.as_str()))
                .map(|(name, turns)| (name.clone(), turns.as_slice()))
        };
        let first = messages::opening(body);
        let main = || first.contains(&self.marker).then(|| (MAIN.to_string(), self.story.turns.as_slice()));
        // What was compacted opens with something else; there the user's later words tell.
        named(&first).or_else(main).or_else(|| named(&messages::said_by_user(body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        let story = r#"{"title": "t", "prompt": "GO", "skill": "s", "mode": "block",
            "turns": [{"calls": [{"tool": "T", "input": {}, "expect": "allowed", "proof": {"file": "no"}}]}, {"text": "end"}],
            "agents": {"HELPER": [{"text": "helped"}]}}"#;
        Model::new(Story::parse("s", story).unwrap(), Scratch { base: "/nowhere".into() }, "GO".into(), BTreeMap::new())
    }

    fn ask(model: &Model, messages: &Value) -> String {
        let body = json!({"messages": messages, "tools": [{"name": "T"}]}).to_string();
        model.answer(&Request { method: "POST".into(), path: "/v1/messages".into(), body: body.into_bytes() }).body
    }

    #[test]
    fn conversations_move_apart_and_a_repeated_question_moves_nothing() {
        let (model, go) = (model(), json!([{"role": "user", "content": "GO"}]));
        assert!(ask(&model, &go).contains("toolu_main_t0_0"));
        assert!(ask(&model, &go).contains("toolu_main_t0_0"));
        assert!(ask(&model, &json!([{"role": "user", "content": "a title, please"}])).contains("ok"));
        assert!(ask(&model, &json!([{"role": "user", "content": "HELPER: GO"}])).contains("helped"));
        let more = json!([{"role": "user", "content": "GO"}, {"role": "user", "content": "result"}]);
        assert!(ask(&model, &more).contains("end"));
        assert_eq!(model.state().aside, 1);
        assert_eq!(model.state().traces.get("toolu_main_t0_0"), Some(&false));
    }
}
