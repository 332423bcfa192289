//! The page about the tool lock has the example that is compiled.

#[test]
fn the_page_has_the_example_of_the_module() {
    let module = include_str!("../../src/tool_lock.rs");
    let lines = module.lines().skip_while(|line| *line != "//! ```").skip(1).take_while(|line| *line != "//! ```");
    let example: String =
        lines.map(|line| format!("{}\n", line.trim_start_matches("//!").trim_start_matches(' '))).collect();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tool-lock.md")).unwrap();
    let of_page: String = page.lines().map(|line| format!("{}\n", line.trim_start_matches(' '))).collect();
    assert!(example.len() > 1000);
    let example: String = example.lines().map(|line| format!("{}\n", line.trim_start_matches(' '))).collect();
    assert!(of_page.contains(&example), "docs/tool-lock.md has another example");
}
