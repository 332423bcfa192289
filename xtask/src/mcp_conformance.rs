//! `cargo xtask mcp-conformance`: the official MCP conformance suite, against servers alone, behind the proxy, and with the
//! guard inside.
//!
//! Every scenario passes against the test server of `conformance/mcp-server`, and each check comes out the same whether
//! there is a guard or not. What differs on purpose stands in `conformance/official/departures.toml`.

mod departures;
mod place;
mod report;
mod suite;

use clap::ValueEnum;

use self::departures::Departures;
use self::place::Place;
use self::report::{Column, Report};
use self::suite::Suite;
use crate::failure::{Failure, Result};
use crate::npm;

/// How many scenarios for servers the suite has in its version that is locked.
const SCENARIOS: usize = 32;

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

/// A server that the suite is run against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Server {
    /// The project's own; it must pass every scenario.
    Test,
    /// The reference server of the protocol's makers, which was not made for the suite.
    Everything,
}

/// How the suite reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Over the server's own HTTP.
    Alone,
    /// Over the proxy's HTTP, with the server behind it on standard input and output.
    Proxy,
    /// Over the server's own HTTP, with the guard inside of it; the project's own server only.
    Inside,
}

impl Server {
    fn word(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Everything => "everything",
        }
    }
}

impl Way {
    fn word(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Proxy => "proxy",
            Self::Inside => "inside",
        }
    }
}

/// Runs the suite every way that was asked for, prints what came of it, and fails on what must not be.
pub(crate) fn run(args: &Args) -> Result {
    let packages = npm::install("conformance/official")?;
    let suite = Suite::new(&packages)?;
    let place = Place::new(&packages)?;
    let mut columns = Vec::new();
    for server in Server::value_variants().iter().filter(|server| args.server.is_none_or(|only| only == **server)) {
        let ways = Way::value_variants().iter().filter(|way| args.way.is_none_or(|only| only == **way));
        for way in ways.filter(|way| **way != Way::Inside || *server == Server::Test) {
            let running = place.start(*server, *way)?;
            let scenarios = suite.run(running.url(), &format!("{}, {}", server.word(), way.word()))?;
            columns.push(Column { server: *server, way: *way, scenarios });
            if *way != Way::Alone && !place.decided() {
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
