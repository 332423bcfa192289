//! x
use std::process::ExitCode;
fn main() -> ExitCode {
    if let Some(code) = phasegate_confine::stage() { return code }
    let mut args = std::env::args_os().skip(1);
    let Some(first) = args.next() else { return ExitCode::SUCCESS };
    if first == "confine" {
        let request = phasegate_confine::Request::from_args(args).unwrap();
        match phasegate_confine::run(&request) {
            Ok(r) => { eprintln!("{}", serde_json::to_string(&r).unwrap()); return ExitCode::from(r.status) }
            Err(e) => { eprintln!("ERR {e}"); return ExitCode::from(125) }
        }
    }
    if first == "probe" {
        let request = phasegate_confine::Request::from_args(args).unwrap();
        for p in phasegate_confine::probe(&phasegate_confine::Level::ALL, &request) { eprintln!("{p:?}"); }
    }
    ExitCode::SUCCESS
}
