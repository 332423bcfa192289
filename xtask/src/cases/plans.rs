//! Cases of plans: a person answers one, or it ends, in the state that the case says.

use serde_json::{Value, json};
use xtask::failure::Result;

use super::case::{Call, Case};
use super::outcome::Outcome;
use super::player::Player;
use super::registry::at;

const SETTINGS: &str = "mode: block\nuse: [plan-mode]\n";
const PLAN: &str = r#"{"steps": [{"id": "a", "command": "touch a.txt"}]}"#;
const APPROVE: &str = "/phasegate approve plan";
const REJECT: &str = "/phasegate approve --reject plan";
const END: &str = "/phasegate end plan-mode";

/// Plays a case of a plan: whether what the call asks is refused.
pub(super) fn play(case: &Case, call: &Call) -> Result<Outcome> {
    let asked = match call.tool.as_str() {
        "plan.approve" => APPROVE,
        "plan.reject" => REJECT,
        "plan.cancel" => END,
        "plan.delete" => return Ok(Outcome::not_supported("a plan is a file, which its owner removes")),
        "plan.preflight" if at(&case.setup, "/plan/version") != at(&case.setup, "/expected_version") => {
            return preflight(case);
        }
        "plan.preflight" => return Ok(Outcome::not_supported("no plan names the tools that it needs")),
        "plan.find_stalled" => return Ok(Outcome::not_supported("what stalls is told by the clock of the machine")),
        "config.load" => return Ok(Outcome::not_supported("the settings are others")),
        _ => return Ok(Outcome::not_supported("what calls come to says how a plan stands: nobody sets it")),
    };
    let Some(mut lines) = until(at(&case.setup, "/plan/status").as_str().unwrap_or_default()) else {
        return Ok(Outcome::not_supported("a plan does not stand so in a transcript"));
    };
    lines.push(prompt(asked));
    let answer = Player::with_settings(SETTINGS)?.answers(&lines)?.pop().unwrap_or_default();
    let refused = at(&answer, "/decision") == "deny" || at(&answer, "/code").is_string();
    Ok(Outcome::of(&case.expect.get("error").is_some(), &refused))
}

/// Whether a plan that changed after its approval is carried out.
fn preflight(case: &Case) -> Result<Outcome> {
    let mut lines = until("proposed").unwrap_or_default();
    lines.push(prompt(APPROVE));
    lines.extend(written("{\"steps\": [{\"id\": \"a\", \"command\": \"touch other.txt\"}]}"));
    lines.push(step("touch other.txt"));
    let answer = Player::with_settings(SETTINGS)?.answers(&lines)?.pop().unwrap_or_default();
    Ok(Outcome::of(at(&case.expect, "/ok"), &(at(&answer, "/decision") == "allow")))
}

/// How a plan comes to stand so.
fn until(status: &str) -> Option<Vec<Value>> {
    let mut lines = vec![json!({"event": "session_start", "source": "startup"}), prompt("/phasegate start plan-mode")];
    lines.extend(written(PLAN));
    let more: &[Value] = match status {
        "proposed" => &[],
        "approved" | "executing" => &[prompt(APPROVE)],
        "rejected" => &[prompt(REJECT)],
        "cancelled" => &[prompt(APPROVE), prompt(END)],
        "completed" => &[prompt(APPROVE), step("touch a.txt"), ended(true)],
        "failed" => &[prompt(APPROVE), step("touch a.txt"), ended(false)],
        _ => return None,
    };
    lines.extend(more.iter().cloned());
    Some(lines)
}

fn written(text: &str) -> [Value; 3] {
    let input = json!({"file_path": "plans/a.json", "content": text});
    [
        json!({"event": "tool_call", "id": "w", "tool": "Write", "input": input}),
        json!({"event": "file", "path": "plans/a.json", "content": text}),
        json!({"event": "tool_result", "id": "w", "ok": true}),
    ]
}

fn prompt(text: &str) -> Value {
    json!({"event": "prompt", "text": text, "interactive": true})
}

fn step(command: &str) -> Value {
    json!({"event": "tool_call", "id": "s", "tool": "Bash", "input": {"command": command}})
}

fn ended(ok: bool) -> Value {
    json!({"event": "tool_result", "id": "s", "ok": ok, "exit_code": i32::from(!ok)})
}
