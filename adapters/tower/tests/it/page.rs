//! The page about the tool lock has the example of the crate, which is compiled.

#[test]
fn the_page_has_the_example_of_the_crate() {
    let (_, example) = include_str!("../../src/tool_lock.md").split_once("```rust").unwrap();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tool-lock.md")).unwrap();
    assert!(example.len() > 1000);
    assert!(page.contains(example), "docs/tool-lock.md has another example");
}
