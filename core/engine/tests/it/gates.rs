//! The list of gates in ARCHITECTURE.md, against the code.
#![allow(clippy::indexing_slicing, reason = "tests")]

use phasegate_core::gates;

const ARCHITECTURE: &str = include_str!("../../../../ARCHITECTURE.md");

#[test]
fn the_gates_stand_in_the_order_that_the_page_prints() {
    let table = ARCHITECTURE.lines().skip_while(|line| !line.starts_with("| gate | file |")).skip(2);
    let printed: Vec<Vec<&str>> = table
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let names: Vec<&str> = printed.iter().map(|row| row[0]).collect();
    assert_eq!(names, gates().map(|gate| gate.word()).collect::<Vec<_>>());
    for row in &printed {
        assert_eq!(row[1], format!("`core/engine/src/gates/{}.rs`", row[0]), "each gate has its file");
    }
}
