//! `cargo xtask bench mcp`: what the proxy adds to a call, against the same client and server without it, in one run.

mod http;
mod pipe;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use owo_colors::OwoColorize as _;
use serde_json::json;

use self::pipe::Peer;
use super::build;
use super::failed::failed;
use super::reference::Figures;
use super::samples::{percentile, ratio};
use xtask::failure::Result;
use xtask::process::{build_programs, cargo, output};
use xtask::root::{target, write};

/// What is measured, and what is done with it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many calls are timed one by one, with the proxy and without in turn.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(100..))]
    calls: u32,
    /// How many calls are sent without waiting for one another.
    #[arg(long, default_value_t = 20_000)]
    stream: u32,
    /// How many sessions are open at once over HTTP.
    #[arg(long, default_value_t = 1000)]
    sessions: usize,
    /// Use the programs that are built, as they are: what comes out compares nothing.
    #[arg(long, conflicts_with_all = ["check", "bless"])]
    debug: bool,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Fail where a figure is more than 10 % worse than the committed one, or above its target.
    #[arg(long, conflicts_with = "bless")]
    check: bool,
    /// Commit to these figures.
    #[arg(long)]
    bless: bool,
}

/// The answer of the large call, in bytes.
const LARGE: u64 = 10_000_000;

/// A row of the table: what, its value, and its unit.
type Row = (String, f64, &'static str);

/// Measures calls one by one, many at once, a large answer, and sessions over HTTP.
pub(crate) fn run(args: &Args) -> Result {
    let (guard, server) = programs(args.debug)?;
    let folder = target().join("bench/mcp");
    let setting = Setting { guard, server, folder };
    let (mut figures, mut rows) = (Figures::default(), Vec::new());
    setting.calls(args.calls, &mut figures, &mut rows)?;
    setting.stream(args.stream, &mut figures, &mut rows)?;
    setting.large(&mut figures, &mut rows)?;
    setting.sessions(args.sessions, &mut figures, &mut rows)?;
    if args.json {
        let named: Vec<_> =
            rows.iter().map(|(what, value, unit)| json!({"what": what, "value": value, "unit": unit})).collect();
        anstream::println!("{:#}", json!({"rows": named}));
    } else {
        anstream::println!("{:<70} {:>12}", "MCP, over standard input and output unless said".bold(), "");
        rows.iter().for_each(|(what, value, unit)| anstream::println!("{what:<70} {value:>12.1} {unit}"));
        figures.show_targets();
    }
    if args.bless {
        figures.bless()?;
    }
    if args.check { figures.check() } else { Ok(()) }
}

/// The guard as people install it and the test server, released; or both as they are.
fn programs(debug: bool) -> Result<(PathBuf, PathBuf)> {
    if debug {
        build_programs()?;
        let built = |name: &str| target().join("debug").join(name);
        return Ok((built("phasegate"), built("phasegate-test-server")));
    }
    output(&mut cargo(&["build", "--release", "--quiet", "--package", "phasegate-test-server"]))?;
    Ok((build::build(false)?.guard, target().join("release/phasegate-test-server")))
}

struct Setting {
    guard: PathBuf,
    server: PathBuf,
    folder: PathBuf,
}

impl Setting {
    /// A fresh project in block mode, with a state folder of its own.
    fn project(&self) -> Result<PathBuf> {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder).map_err(failed)?;
        }
        for name in ["home", "state", "machine"] {
            std::fs::create_dir_all(self.folder.join(name)).map_err(failed)?;
        }
        let project = self.folder.join("project");
        write(&project.join(".phasegate/config.yaml"), "mode: block\nuse: [lsp-refactor]\n")?;
        Ok(project)
    }

    fn command(&self, program: &Path, project: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(project);
        for (name, folder) in [("HOME", "home"), ("PHASEGATE_STATE_DIR", "state"), ("PHASEGATE_MACHINE_DIR", "machine")]
        {
            command.env(name, self.folder.join(folder));
        }
        command
    }

    /// The server alone and the server behind the proxy, a strict skill being active there.
    fn pair(&self) -> Result<(Peer, Peer)> {
        let project = self.project()?;
        let bare = Peer::start(&mut self.command(&self.server, &project))?;
        let mut proxy = self.command(&self.guard, &project);
        proxy.args(["mcp", "proxy", "--server", "lsp", "--"]).arg(&self.server);
        let mut guarded = Peer::start(&mut proxy)?;
        let activated = guarded.call("activate_skill", r#"{"skill_name":"lsp-refactor","mode":"block"}"#)?;
        if !activated.contains("\"status\"") {
            return Err(failed(format!("the skill is not active: {activated}")));
        }
        let denied = guarded.call("apply_edit", r#"{"old":"hello","new":"x"}"#)?;
        if !denied.contains("phase_violation") {
            return Err(failed(format!("the proxy guards nothing: {denied}")));
        }
        Ok((bare, guarded))
    }

    /// The server behind the proxy, in a folder that has no policy.
    fn without_policy(&self) -> Result<Peer> {
        let folder = self.folder.join("unguarded");
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let mut proxy = self.command(&self.guard, &folder);
        Peer::start(proxy.args(["mcp", "proxy", "--server", "lsp", "--"]).arg(&self.server))
    }

    /// One call after another: without the proxy, with it, and with it where no policy is, in turn.
    fn calls(&self, calls: u32, figures: &mut Figures, rows: &mut Vec<Row>) -> Result {
        let (mut bare, mut guarded) = self.pair()?;
        let mut unguarded = self.without_policy()?;
        let (mut without, mut with, mut no_policy) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..calls + calls / 10 {
            let peers = [(&mut bare, &mut without), (&mut guarded, &mut with), (&mut unguarded, &mut no_policy)];
            for (peer, samples) in peers {
                let begin = Instant::now();
                let answer = peer.call("find_references", r#"{"symbol":"greeting"}"#)?;
                let took = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
                if !answer.contains("greeting()") {
                    return Err(failed(format!("a call did not run: {answer}")));
                }
                // The first tenth warms both up.
                if at >= calls / 10 {
                    samples.push(took);
                }
            }
        }
        for share in [50, 99] {
            let (one, other) = (micros(percentile(&without, share)), micros(percentile(&with, share)));
            rows.push((format!("a call without the proxy, p{share}"), one, "us"));
            rows.push((format!("a call with the proxy, p{share}"), other, "us"));
            let no_policy = micros(percentile(&no_policy, share));
            rows.push((format!("a call with the proxy where no policy is, p{share}"), no_policy, "us"));
            let most = if share == 50 { 100.0 } else { 300.0 };
            figures.add_absolute(&format!("MCP: added to a call by the proxy at p{share}, us"), other - one, most);
        }
        figures.add("mcp call, with the proxy / without, p50", ratio(&with, &without).p50, None);
        let slower = ratio(&no_policy, &with).p50;
        rows.push(("a call with the proxy where no policy is, p50, times one with a policy".into(), slower, ""));
        Ok(())
    }

    /// Calls that do not wait for one another.
    fn stream(&self, calls: u32, figures: &mut Figures, rows: &mut Vec<Row>) -> Result {
        let (bare, guarded) = self.pair()?;
        let mut rate = |name: &str, peer: Peer| -> Result<f64> {
            let per_second = peer.stream("find_references", r#"{"symbol":"greeting"}"#, calls)?;
            rows.push((format!("calls a second, {name}, many at once"), per_second, ""));
            Ok(per_second)
        };
        let _without = rate("without the proxy", bare)?;
        let with = rate("with the proxy, each decided and recorded", guarded)?;
        figures.add_absolute("MCP: microseconds a call, many at once", 1_000_000.0 / with.max(1.0), 200.0);
        Ok(())
    }

    /// One large answer.
    fn large(&self, figures: &mut Figures, rows: &mut Vec<Row>) -> Result {
        // Without an active skill, so that no phase judges the call.
        let project = self.project()?;
        let mut bare = Peer::start(&mut self.command(&self.server, &project))?;
        let mut proxy = self.command(&self.guard, &project);
        let mut guarded = Peer::start(proxy.args(["mcp", "proxy", "--server", "lsp", "--"]).arg(&self.server))?;
        let before = guarded.peak()?;
        let arguments = json!({"bytes": LARGE}).to_string();
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            for (peer, samples) in [(&mut bare, &mut without), (&mut guarded, &mut with)] {
                let begin = Instant::now();
                let answer = peer.call("big", &arguments)?;
                samples.push(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
                if u64::try_from(answer.len()).unwrap_or_default() < LARGE {
                    return Err(failed("the large answer is short"));
                }
            }
        }
        let copies = (guarded.peak()?.saturating_sub(before)) as f64 / LARGE as f64;
        rows.push(("an answer of 10 MB without the proxy, p50".into(), micros(percentile(&without, 50)), "us"));
        rows.push(("an answer of 10 MB with the proxy, p50".into(), micros(percentile(&with, 50)), "us"));
        figures.add_absolute("MCP: an answer of 10 MB in the proxy's memory, times its size", copies, 5.0);
        Ok(())
    }

    /// Many sessions at once over HTTP, each with its stream of messages open, one server behind them.
    fn sessions(&self, sessions: usize, figures: &mut Figures, rows: &mut Vec<Row>) -> Result {
        let project = self.project()?;
        let mut server = self.command(&self.server, &project);
        let server = http::Listening::start(server.args(["--listen", "127.0.0.1:0"]))?;
        let mut proxy = self.command(&self.guard, &project);
        proxy.args(["mcp", "proxy", "--listen", "127.0.0.1:0", "--server", "lsp", "--url", &server.url]);
        let proxy = http::Listening::start(&mut proxy)?;
        let before = proxy.memory()?;
        let begin = Instant::now();
        let open = (0..sessions).map(|_| proxy.session()).collect::<Result<Vec<_>>>()?;
        let took = begin.elapsed();
        let after = proxy.memory()?;
        rows.push((format!("HTTP: {sessions} sessions opened, one after another"), took.as_secs_f64() * 1000.0, "ms"));
        rows.push(("HTTP: the proxy's memory without a session".into(), mebibytes(before), "MiB"));
        rows.push((format!("HTTP: the proxy's memory with {} sessions", open.len()), mebibytes(after), "MiB"));
        figures.add_absolute("MCP over HTTP: memory with that many sessions, MiB", mebibytes(after), 95.4);
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a call fit")]
fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "the memory of a process fits")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}
