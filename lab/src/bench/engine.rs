//! Decisions in process: the benchmarks of the engine's crate, read from what they print.

use super::failed::failed;
use super::reference::Figures;
use xtask::failure::Result;
use xtask::process::{cargo, output};

/// The benchmark that others are compared with, so that a faster machine is no progress.
const YARDSTICK: &str = "yardstick";
/// How often each benchmark is timed. The first hundred decisions find a cold processor, and differ by half.
const SAMPLES: &str = "3000";
/// The most that a decision may take, in microseconds, by what the size is called.
const TARGETS: [(&str, f64); 2] = [("Size(4, 5, 4)", 2.0), ("Size(100, 10, 20)", 10.0)];

/// One benchmark's times, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
struct Timed {
    name: String,
    fastest: f64,
    median: f64,
}

/// Runs the benchmarks, shows them and adds their figures.
pub(super) fn measure(figures: &mut Figures) -> Result {
    let bench =
        ["bench", "--quiet", "--package", "phasegate-core", "--bench", "decide", "--", "--sample-count", SAMPLES];
    let table = output(&mut cargo(&bench))?;
    anstream::print!("{table}");
    let timed = read(&table);
    let find = |name: &str| timed.iter().find(|timed| timed.name == name);
    let yardstick = find(YARDSTICK).map(|timed| timed.fastest).filter(|fastest| *fastest > 0.0);
    let yardstick = yardstick.ok_or_else(|| failed(format!("the engine's benchmarks have no `{YARDSTICK}`")))?;
    for Timed { name, fastest, median } in timed.iter().filter(|timed| timed.name != YARDSTICK) {
        figures.add(&format!("engine: {name}, times the yardstick"), fastest / yardstick, None);
        if let Some((_, most)) = TARGETS.iter().find(|(size, _)| name.ends_with(size)) {
            figures.add_absolute(&format!("engine: {name}, microseconds"), median / 1000.0, *most);
        }
    }
    Ok(())
}

/// The rows of the table: a name in a tree, then columns that begin with the fastest time and have the median third.
fn read(table: &str) -> Vec<Timed> {
    let mut group = String::new();
    let mut found = Vec::new();
    for line in table.lines() {
        let depth = line.chars().take_while(|letter| " │├╰─".contains(*letter)).count();
        let mut columns = line.split('│').skip(line.chars().take(depth).filter(|letter| *letter == '│').count());
        let first = columns.next().unwrap_or_default().trim_matches([' ', '├', '╰', '─']);
        let (name, fastest) = first.split_once("  ").map_or((first, ""), |(name, time)| (name, time.trim()));
        let top = depth < 4;
        if top {
            group = name.to_string();
        }
        let median = columns.nth(1).unwrap_or_default().trim();
        if let (Some(fastest), Some(median)) = (nanoseconds(fastest), nanoseconds(median)) {
            let name = if top { name.to_string() } else { format!("{group} {name}") };
            found.push(Timed { name, fastest, median });
        }
    }
    found
}

fn nanoseconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let factor = match unit {
        "ps" => 0.001,
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_table_is_read() {
        let table = "\
Timer precision: 10 ns
decide                    fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ allowed                              │               │               │               │         │
│  ├─ Size(4, 5, 4)       660.7 ns      │ 1.371 µs      │ 690.7 ns      │ 703.8 ns      │ 100     │ 100
│  ╰─ Size(100, 10, 20)   1.942 µs      │ 5.317 µs      │ 2.078 µs      │ 2.162 µs      │ 100     │ 100
├─ last                                 │               │               │               │         │
│  ╰─ 0                   1 µs          │ 2 µs          │ 1.5 µs        │ 2 µs          │ 100     │ 100
╰─ yardstick              2 µs          │ 5.317 µs      │ 3 µs          │ 2.162 µs      │ 100     │ 100
";
        let timed = |name: &str, fastest, median| Timed { name: name.into(), fastest, median };
        assert_eq!(
            read(table),
            [
                timed("allowed Size(4, 5, 4)", 660.7, 690.7),
                timed("allowed Size(100, 10, 20)", 1942.0, 2078.0),
                timed("last 0", 1000.0, 1500.0),
                timed("yardstick", 2000.0, 3000.0),
            ]
        );
    }
}
