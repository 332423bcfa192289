//! The tools that the guard itself offers: the three of the original, with the same arguments and answers, the one by which an
//! agent asks about skills and ends their runs, and the one by which it registers what commands do.

use phasegate_core::events::event::By;
use phasegate_core::shell::safety::{Level, REGISTER};
use phasegate_core::state::pins::{ACTIONS, MANAGE};
use phasegate_core::values::canonical::Sorted;
use phasegate_core::{EventKind, Outcome};
use serde_json::{Map, Value, json};

use crate::denial::Form;
use crate::message::tool_call::Call;

/// The names, in the order in which they are listed.
pub const NAMES: [&str; 5] = ["activate_skill", "deactivate_skill", "get_skill_phase", MANAGE, REGISTER];

/// The key in `_meta` under which a handle is answered, and passed back.
pub const HANDLE_META: &str = "dev.phasegate/session";
/// The argument in which an agent may pass a handle with any tool.
pub const HANDLE_ARGUMENT: &str = "phasegate_session";

/// Lets a tool, as `tools/list` describes it, take a handle as an argument.
pub fn takes_handle(tool: &mut Value) {
    let Some(schema) = tool.get_mut("inputSchema").and_then(Value::as_object_mut) else { return };
    let fields = schema.entry("properties").or_insert_with(|| json!({}));
    let text = "The session of the active skill, as `activate_skill` answered it. Pass it with every call";
    if let Some(fields) = fields.as_object_mut() {
        fields.insert(HANDLE_ARGUMENT.to_owned(), json!({"type": "string", "description": text}));
    }
}

/// Whether a tool of this name is the guard's own.
pub fn is_own(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The tools as `tools/list` describes them.
pub fn tools() -> [Value; 5] {
    let no_arguments = json!({"type": "object", "properties": {}});
    let changes = json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": false});
    let reads = json!({"readOnlyHint": true, "openWorldHint": false});
    [
        json!({
            "name": "activate_skill",
            "title": "Activate a skill",
            "description": "Begin a skill's workflow: from now on each tool call is checked against the phase that the \
                            workflow is in. Answers the first phase with its allowed and forbidden tools.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "skill_name": {"type": "string", "description": "The name of the skill, for example lsp-refactor"},
                    "mode": {
                        "type": "string",
                        "enum": ["warn", "block"],
                        "description": "What a violation leads to; never less strict than the skill's own mode",
                    },
                    "inputs": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "description": "The values of the skill's inputs by name, if it has any",
                    },
                },
                "required": ["skill_name"],
            },
            "annotations": changes,
        }),
        json!({
            "name": "deactivate_skill",
            "title": "Deactivate the skill",
            "description": "End the active skill's workflow. A skill may ask that its last phase is done first, or that a \
                            person ends it.",
            "inputSchema": no_arguments,
            "annotations": changes,
        }),
        json!({
            "name": "get_skill_phase",
            "title": "Show the current phase",
            "description": "Which skill is active, in which phase it is, which tools that phase allows and forbids (also \
                            tools that are not of this server), and what is still missing.",
            "inputSchema": no_arguments,
            "annotations": reads,
        }),
        manage(&changes),
        register(&reads),
    ]
}

fn manage(annotations: &Value) -> Value {
    let actions: Vec<&str> = ACTIONS.iter().map(|(action, _)| *action).collect();
    let each: Vec<String> = ACTIONS.iter().map(|(action, does)| format!("`{action}`: {does}")).collect();
    json!({
        "name": MANAGE,
        "title": "Show, complete or halt skills",
        "description": format!(
            "Ask about skills and their runs, or end a run. {}. `activate_skill` begins a run; a run moves on by the calls \
             that its phases ask for.",
            each.join("; ")
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": actions},
                "skill_name": {"type": "string", "description": "The skill; default: the one whose run began last"},
                "why": {"type": "string", "description": "Why the run is to stand still"},
            },
            "required": ["action"],
        },
        "annotations": annotations,
    })
}

/// It changes nothing but what the guard remembers, and clients whose own plan mode only lets tools run that read need it
/// there most.
fn register(annotations: &Value) -> Value {
    let levels: Vec<&str> = Level::ALL.iter().map(|(word, _)| *word).collect();
    json!({
        "name": REGISTER,
        "title": "Register what commands do",
        "description": "Say which command lines of a program only read and which change things, as the skill that you read \
                        classifies them. Patterns are about the words of one command: `gcloud * list *` is READ, `npx go-gmail \
                        * send *` is DESTRUCTIVE; `*` stands for any words. All levels but READ count as WRITE; if in doubt, \
                        say WRITE. Call it once for each program. A person decides which programs you may classify.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool": {"type": "string", "description": "The name of the program, for example gcloud or go-gmail"},
                "commands": {
                    "type": "object",
                    "additionalProperties": {"type": "string", "enum": levels},
                    "description": "Patterns of command lines, each with its level",
                },
                "default": {
                    "type": "string",
                    "enum": levels,
                    "description": "The level of the program's commands that no pattern selects",
                },
            },
            "required": ["tool", "commands"],
        },
        "annotations": annotations,
    })
}

/// The command that a call of an own tool gives. It always counts as the agent's.
pub fn command(call: &Call) -> EventKind {
    EventKind::Command { by: By::Agent, name: call.name.clone(), args: call.input.clone() }
}

/// The result of a call of an own tool, as JSON text.
pub fn result(step: &Outcome, form: Form) -> String {
    let (result, decision) = (step.result.as_ref(), step.decision.as_ref());
    let answer = result.cloned().unwrap_or(Value::Null);
    let failed = answer.get("is_error").and_then(Value::as_bool) == Some(true)
        || decision.is_some_and(|decision| !decision.lets_through());
    let told = answer.get("text").and_then(Value::as_str).map(ToOwned::to_owned);
    let mut fields = Map::new();
    if failed {
        let reason = || decision.map(|decision| decision.reason.clone()).unwrap_or_default();
        let text = told.unwrap_or_else(reason);
        fields.insert("content".to_owned(), json!([{"type": "text", "text": text}]));
        fields.insert("isError".to_owned(), Value::from(true));
    } else {
        fields.insert("content".to_owned(), json!([{"type": "text", "text": Sorted(&answer).to_string()}]));
        fields.insert("structuredContent".to_owned(), answer);
    }
    if form.modern {
        fields.insert("resultType".to_owned(), Value::from("complete"));
    }
    Sorted(&Value::Object(fields)).to_string()
}
