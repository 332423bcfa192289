//! Writes the schemas.
#![allow(clippy::unwrap_used, reason = "a tool")]
fn main(){ for (n,v) in phasegate_config::schema::all(){ std::fs::write(format!("schemas/{n}"), format!("{}\n", serde_json::to_string_pretty(&v).unwrap())).unwrap(); } }
