//! What came of it: a table for people, an object for programs, and what must not be.

use std::collections::BTreeSet;

use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::departures::Departures;
use super::subject::{Server, Way};
use super::suite::{Check, Scenarios};
use xtask::failure::Result;

/// One run of the whole suite.
pub(super) struct Column {
    pub(super) server: Server,
    pub(super) way: Way,
    pub(super) scenarios: Scenarios,
}

/// Everything that was found.
pub(super) struct Report {
    scenarios: Vec<String>,
    columns: Vec<Column>,
    problems: Vec<String>,
    departed: Vec<String>,
}

/// A check that came out otherwise behind a guard.
struct Difference {
    server: &'static str,
    way: Way,
    scenario: String,
    check: String,
    alone: String,
    guarded: String,
}

impl Report {
    /// Judges the columns. Departures that did not show are problems only where everything was run.
    pub(super) fn new(scenarios: &[String], columns: Vec<Column>, departures: &Departures, whole: bool) -> Self {
        let mut problems = Vec::new();
        for column in columns.iter().filter(|column| column.server == Server::Test) {
            for (scenario, checks) in &column.scenarios {
                problems.extend(failures(column, scenario, checks));
            }
        }
        let differences = differences(&columns);
        let mut departed = Vec::new();
        let mut used = BTreeSet::new();
        for found in differences {
            let expected = departures.departure.iter().position(|entry| {
                found.way == Way::Proxy
                    && (entry.server.as_str(), &entry.scenario, &entry.check, &entry.alone, &entry.proxy)
                        == (found.server, &found.scenario, &found.check, &found.alone, &found.guarded)
            });
            let text = format!(
                "{}: {}, check `{}`: {} alone, {} by way of `{}`",
                found.server,
                found.scenario,
                found.check,
                found.alone,
                found.guarded,
                found.way.word()
            );
            match expected.and_then(|at| Some((at, departures.departure.get(at)?))) {
                Some((at, entry)) => {
                    used.insert(at);
                    departed.push(format!("{text}: {}", entry.reason));
                }
                None => problems.push(text),
            }
        }
        let unused = departures.departure.iter().enumerate().filter(|(at, _)| whole && !used.contains(at));
        problems.extend(unused.map(|(_, entry)| {
            format!(
                "`departures.toml` names {}: {}, check `{}`, which did not come out so",
                entry.server, entry.scenario, entry.check
            )
        }));
        Self { scenarios: scenarios.to_vec(), columns, problems, departed }
    }

    /// How many things are not as they must be.
    pub(super) fn problems(&self) -> usize {
        self.problems.len()
    }

    /// Prints the table, or the object.
    pub(super) fn print(&self, json: bool) -> Result {
        if json {
            anstream::println!("{}", self.object());
            return Ok(());
        }
        let heads: Vec<String> =
            self.columns.iter().map(|column| format!("{}, {}", column.server.word(), column.way.word())).collect();
        anstream::println!("{:<32}{}", "scenario", heads.iter().map(|head| format!("{head:<26}")).collect::<String>());
        for scenario in &self.scenarios {
            let cells = self.columns.iter().map(|column| cell(column.scenarios.get(scenario)));
            anstream::println!("{scenario:<32}{}", cells.collect::<String>());
        }
        for text in &self.departed {
            anstream::println!("{} {text}", "differs:".yellow());
        }
        for text in &self.problems {
            anstream::println!("{} {text}", "problem:".red().bold());
        }
        for column in &self.columns {
            let passed = column.scenarios.values().filter(|checks| passes(checks)).count();
            anstream::println!(
                "{}, {}: {passed} of {} scenarios pass",
                column.server.word(),
                column.way.word(),
                column.scenarios.len()
            );
        }
        Ok(())
    }

    fn object(&self) -> Value {
        let columns = self.columns.iter().map(
            |column| json!({"server": column.server.word(), "way": column.way.word(), "scenarios": column.scenarios}),
        );
        json!({"runs": columns.collect::<Vec<_>>(), "departures": self.departed, "problems": self.problems})
    }
}

fn passes(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.status != "FAILURE") && !checks.is_empty()
}

/// One cell of the table, 26 letters wide.
fn cell(checks: Option<&Vec<Check>>) -> String {
    let checks = checks.map_or(&[][..], Vec::as_slice);
    let count = |status: &str| checks.iter().filter(|check| check.status == status).count();
    let (failed, warned) = (count("FAILURE"), count("WARNING"));
    let warned = if warned == 0 { String::new() } else { format!(", {warned} warned") };
    if passes(checks) {
        return format!("{}", format!("ok {}{warned}", count("SUCCESS")).pad().green());
    }
    format!("{}", format!("{failed} of {} failed{warned}", checks.len()).pad().red())
}

/// Padding before colour, whose codes would count as letters.
trait Pad {
    fn pad(&self) -> String;
}

impl Pad for String {
    fn pad(&self) -> String {
        format!("{self:<26}")
    }
}

fn failures(column: &Column, scenario: &str, checks: &[Check]) -> Vec<String> {
    let head = format!("{}, {}: {scenario}", column.server.word(), column.way.word());
    if checks.is_empty() {
        return vec![format!("{head} checked nothing")];
    }
    let failed = checks.iter().filter(|check| check.status == "FAILURE");
    failed
        .map(|check| format!("{head}, check `{}`: {}", check.id, check.problem.as_deref().unwrap_or("failed")))
        .collect()
}

/// The checks that came out otherwise behind a guard. What is only said for information is not compared.
fn differences(columns: &[Column]) -> Vec<Difference> {
    let mut found = Vec::new();
    for alone in columns.iter().filter(|column| column.way == Way::Direct) {
        let others = columns.iter().filter(|other| other.server == alone.server && other.way != Way::Direct);
        for (other, (scenario, checks)) in others.flat_map(|other| alone.scenarios.iter().map(move |one| (other, one)))
        {
            let guarded = other.scenarios.get(scenario).map_or(&[][..], Vec::as_slice);
            let ids: BTreeSet<&str> = checks.iter().chain(guarded).map(|check| check.id.as_str()).collect();
            let differ = ids.into_iter().filter(|id| statuses(checks, id) != statuses(guarded, id));
            found.extend(differ.map(|id| Difference {
                server: alone.server.word(),
                way: other.way,
                scenario: scenario.clone(),
                check: id.to_string(),
                alone: statuses(checks, id),
                guarded: statuses(guarded, id),
            }));
        }
    }
    found
}

/// The statuses of the checks with this id, `-` where there is none.
fn statuses(checks: &[Check], id: &str) -> String {
    let of = checks.iter().filter(|check| check.id == id && check.status != "INFO");
    let all: Vec<&str> = of.map(|check| check.status.as_str()).collect();
    if all.is_empty() { "-".into() } else { all.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::super::departures::Departure;
    use super::*;

    fn column(way: Way, status: &str) -> Column {
        let check = Check { id: "c".into(), status: status.into(), problem: None };
        Column { server: Server::Test, way, scenarios: Scenarios::from([("s".to_string(), vec![check])]) }
    }

    fn problems(alone: &str, proxy: &str, departures: Vec<Departure>) -> Vec<String> {
        let columns = vec![column(Way::Direct, alone), column(Way::Proxy, proxy)];
        Report::new(&["s".to_string()], columns, &Departures { departure: departures }, true).problems
    }

    fn departure() -> Departure {
        let [server, scenario, check, alone, proxy, reason] =
            ["test", "s", "c", "WARNING", "SUCCESS", "because"].map(String::from);
        Departure { server, scenario, check, alone, proxy, reason }
    }

    #[test]
    fn failures_and_differences_are_problems() {
        assert_eq!(problems("SUCCESS", "SUCCESS", vec![]), Vec::<String>::new());
        assert_eq!(problems("FAILURE", "FAILURE", vec![]).len(), 2);
        assert_eq!(problems("WARNING", "SUCCESS", vec![]).len(), 1);
    }

    #[test]
    fn a_departure_is_expected_and_must_show() {
        assert_eq!(problems("WARNING", "SUCCESS", vec![departure()]), Vec::<String>::new());
        assert_eq!(problems("SUCCESS", "SUCCESS", vec![departure()]).len(), 1);
        assert_eq!(problems("WARNING", "WARNING", vec![departure()]).len(), 1);
    }
}
