//! `cargo xtask mcp-conformance`: the official MCP conformance suite, against servers alone, behind the proxy, and with the
//! guard inside.
//!
//! Every scenario passes against the test server of `conformance/mcp-server`, and each check comes out the same whether
//! there is a guard or not. What differs on purpose stands in `conformance/official/departures.toml`.

mod subject;
mod departures;
mod servers;
mod report;
mod suite;

use clap::ValueEnum;

use self::departures::Departures;
use self::report::{Column, Report};
use self::servers::Servers;
use self::subject::{Server, Way};
use self::suite::Suite;
use crate::npm;
use xtask::failure::{Failure, Result};

/// What is run, and what is printed.
#[derive(Default, clap::Args)]
pub(crate) struct Args {
    /// Only this server; without it, all.
    #[arg(long)]
    server: Option<Server>,
    /// Only this way to the server; without it, all.
    #[arg(long)]
    way: Option<Way>,
    /// Print one JSON object in place of the table.
    #[arg(long)]
    json: bool,
}

/// Runs the suite every way that was asked for, prints what came of it, and fails on what must not be.
pub(crate) fn run(args: &Args) -> Result {
    let packages = npm::install("conformance/official")?;
    let suite = Suite::new(&packages)?;
    let servers = Servers::new(&packages)?;
    let mut columns = Vec::new();
    for server in Server::value_variants().iter().filter(|server| args.server.is_none_or(|only| only == **server)) {
        let ways = Way::value_variants().iter().filter(|way| args.way.is_none_or(|only| only == **way));
        for way in ways.filter(|way| **way != Way::Inside || *server == Server::Test) {
            let running = servers.start(*server, *way)?;
            let scenarios = suite.run(running.url(), &format!("{}, {}", server.word(), way.word()))?;
            columns.push(Column { server: *server, way: *way, scenarios });
            if *way != Way::Direct && !servers.decided() {
                return Err(Failure::new(format!("by way of `{}` nothing was decided", way.word())));
            }
        }
    }
    let departures = Departures::load()?;
    let whole = args.server.is_none() && args.way.is_none();
    let report = Report::new(suite.scenarios(), columns, &departures, whole);
    report.print(args.json)?;
    match report.problems() {
        0 => Ok(()),
        count => Err(Failure::new(format!("{count} problems with the official suite"))),
    }
}
