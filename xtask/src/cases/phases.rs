//! Cases of the phases of skills: the conformance suite plays them in the compat form.

use std::path::Path;

use serde_json::Value;
use xtask::failure::{Failure, Result};
use xtask::process::{output, program};

use super::case::Case;
use super::outcome::Outcome;

/// Plays a case of a file.
pub(super) fn play(path: &Path, case: &Case) -> Result<Outcome> {
    let mut command = program("phasegate-conformance");
    command.arg("samples").arg(path).args(["--only", &case.name]);
    let line = output(&mut command)?;
    let told: Value = serde_json::from_str(line.trim()).map_err(|error| Failure::new(format!("{line}: {error}")))?;
    let mismatches = told.get("mismatches").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |mismatch: &Value, key: &str| mismatch.get(key).and_then(Value::as_str).map(str::to_owned);
    // One without a known reason is the one to show.
    let without = mismatches.iter().find(|mismatch| text(mismatch, "reason").is_none());
    let Some(shown) = without.or(mismatches.first()) else { return Ok(Outcome::Agrees) };
    let side = |key: &str| {
        let value = shown.get(key).map(Value::to_string).unwrap_or_default();
        format!("{} {value}", text(shown, "field").unwrap_or_default())
    };
    Ok(Outcome::Differs { expected: side("expected"), got: side("got"), why: text(shown, "reason") })
}
