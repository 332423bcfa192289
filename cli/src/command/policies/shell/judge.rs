//! `phasegate shell judge FILE|-`.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::{Path, PathBuf};

use phasegate_core::values::canonical::Sorted;
use phasegate_shell::judge;
use serde_json::{Map, Value, json};

use super::trust::{TrustArgs, knowledge};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate shell judge`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// JSON Lines, each an object with `cmd`; an `id` is copied to the output; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How far repositories are trusted.
    #[command(flatten)]
    pub trust: TrustArgs,
}

/// Judges every line; one that is no object with `cmd` gives an object with `error`.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut input = open(&args.file)?;
    let (table, trust) = knowledge(args.trust, context);
    let mut exit = Exit::Done;
    let mut bytes = Vec::new();
    for number in 1_u64.. {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes).map_err(|error| unreadable(&args.file, &error))?;
        if read == 0 {
            break;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let answer = match command(&bytes) {
            Ok((id, line)) => answer(id, &json!(judge(&line, &table, trust.clone()))),
            Err(error) => {
                exit = Exit::No;
                json!({"line": number, "error": error})
            }
        };
        context.out.line(Sorted(&answer));
    }
    Ok(exit)
}

/// The judgement's fields, after the id that the line had.
fn answer(id: Option<Value>, judgement: &Value) -> Value {
    let mut object = Map::new();
    object.extend(id.map(|id| ("id".to_owned(), id)));
    for (key, value) in judgement.as_object().into_iter().flatten() {
        object.insert(key.clone(), value.clone());
    }
    object.entry("parts").or_insert_with(|| json!([]));
    Value::Object(object)
}

fn command(bytes: &[u8]) -> Result<(Option<Value>, String), String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
    let Value::Object(mut object) = value else { return Err("not an object".to_owned()) };
    match object.remove("cmd") {
        Some(Value::String(line)) => Ok((object.remove("id"), line)),
        Some(_) => Err("`cmd` is not a text".to_owned()),
        None => Err("`cmd` is missing".to_owned()),
    }
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(stdin())));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok(Box::new(BufReader::new(file)))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be read: {error}", path.display()))
        .with_help("name a file of JSON Lines, or `-` for standard input")
}
