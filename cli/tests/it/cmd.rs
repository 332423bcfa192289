//! Commands and what they print, one file each in `tests/cmd/`.

#[test]
fn golden_every_command_prints_what_its_case_says() {
    let folder = tempfile::tempdir().map_err(|error| error.to_string());
    let top = folder.as_ref().map(tempfile::TempDir::path).unwrap_or(std::path::Path::new("/nonexistent"));
    let cases = trycmd::TestCases::new();
    for (name, below) in [
        ("HOME", "home"),
        ("PHASEGATE_STATE_DIR", "state"),
        ("PHASEGATE_CONFIG_DIR", "config"),
        ("PHASEGATE_MACHINE_DIR", "machine"),
    ] {
        cases.env(name, top.join(below).to_string_lossy());
    }
    cases.env("COLUMNS", "100").case("tests/cmd/*.trycmd");
}
