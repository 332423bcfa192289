//! A stock of goods behind a protocol of its own: a line of JSON is a call, a line of JSON is its answer. The guard of the
//! project admits each call or denies it with a reason.
//!
//! Its argument is the name of the user that it serves. Its first line says the version of the rules.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use phasegate_guard::tower::{
    AdmissionEvent, Call, CallOutcome, DenialReason, Request, StageError, ToolLock, ToolLockOptions,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// A line of the client.
#[derive(Deserialize)]
struct Line {
    tool: String,
    #[serde(default)]
    input: Value,
    /// The version of the rules that the client was told of.
    version: Option<String>,
}

/// The goods, by name, and how many there are of each.
#[derive(Default)]
struct Stock(BTreeMap<String, u64>);

impl Stock {
    /// Runs a tool.
    fn run(&mut self, tool: &str, input: &Value) -> Result<Value, String> {
        let name = || input.get("name").and_then(Value::as_str).ok_or("`name` says of which goods");
        match tool {
            "list_goods" => Ok(json!(self.0)),
            "add_goods" => {
                let count = input.get("count").and_then(Value::as_u64).ok_or("`count` says how many")?;
                let there = self.0.entry(name()?.to_owned()).or_default();
                *there = there.saturating_add(count);
                Ok(json!(*there))
            }
            "drop_goods" => self.0.remove(name()?).map(|count| json!(count)).ok_or("there are none".to_owned()),
            _ => Err(format!("there is no tool `{tool}`")),
        }
    }
}

/// Writes each denial into a file, a line each.
fn into_file(path: &str) -> std::io::Result<impl Fn(&AdmissionEvent) + Send + Sync + 'static> {
    let file = Mutex::new(File::options().create(true).append(true).open(path)?);
    Ok(move |event: &AdmissionEvent| {
        let written = file.lock().map_or(Ok(()), |mut file| writeln!(file, "{}", event.canonical()));
        if let Err(error) = written {
            // The denial stands, whatever becomes of its event.
            drop(writeln!(std::io::stderr(), "the event is lost: {error}"));
        }
    })
}

/// How a call ended, by its answer. It is no closure, so that a struct can name the type of its lock.
type Ended = fn(&Value) -> CallOutcome;

/// The lock, and whose calls it admits. The server says that, never the client's line: one process is one session.
struct Gate {
    lock: ToolLock<Ended>,
    session: String,
    user: Option<String>,
}

impl Gate {
    async fn of_project(folder: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let guard = phasegate_guard::project(folder)?;
        let options = ToolLockOptions::default().on_event(into_file("denials.jsonl")?);
        let lock: ToolLock<Ended> = ToolLock::new(guard, options, |_| CallOutcome::Ok);
        // Without configs every call would run.
        lock.require_guarded().await?;
        Ok(Self { lock, session: format!("stock-{}", std::process::id()), user: std::env::args().nth(1) })
    }

    async fn answer(&self, stock: &mut Stock, line: Line) -> Value {
        let Line { tool, input, version } = line;
        let call = Call { principal: self.user.clone(), ..Call::new(&self.session, &tool).of_server("stock") };
        let request = Request { version, ..Request::new(call.with_input(input.clone())) };
        match self.lock.run(request, || async { stock.run(&tool, &input) }).await {
            Ok(value) => json!({"answer": value}),
            Err(StageError::Next(error)) => json!({"error": error}),
            Err(StageError::Denied(denied)) => match denied.reason() {
                // The client asks again by the version that is in force.
                DenialReason::RuleVersionMismatch { actual, .. } => {
                    json!({"denied": denied.reason(), "version": actual})
                }
                reason => json!({"denied": reason, "text": denied.advice, "approval": denied.approval}),
            },
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gate = Gate::of_project(&std::env::current_dir()?).await?;
    writeln!(std::io::stdout(), "{}", json!({"version": gate.lock.version(&gate.session).await?}))?;
    let mut stock = Stock::default();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(text) = lines.next_line().await? {
        let answer = match serde_json::from_str::<Line>(&text) {
            Err(error) => json!({"error": error.to_string()}),
            Ok(line) => gate.answer(&mut stock, line).await,
        };
        writeln!(std::io::stdout(), "{answer}")?;
    }
    gate.lock.end(&gate.session).await;
    Ok(())
}
