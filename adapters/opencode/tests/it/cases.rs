//! Where the cases are, and how expectations are compared and written anew.

use std::fs;
use std::path::{Path, PathBuf};

use phasegate_adapter::{
    Adapter, Decoded, Frame, InstallRequest, InstallScope, Memory, Message, Output, Problem, Received, Registered,
    SessionView,
};

/// Set to 1, expectations are written from what the adapter does instead of being compared.
const BLESS: &str = "PHASEGATE_BLESS";

/// The adapter, as others get it.
pub(crate) fn adapter() -> &'static dyn Adapter {
    let _ = phasegate_opencode::OpenCode;
    inventory::iter::<Registered>().map(|registered| registered.0).find(|adapter| adapter.id() == "opencode").unwrap()
}

/// The message of a frame.
pub(crate) fn open(frame: &Frame) -> Result<Message, Problem> {
    adapter().codec().open(frame)
}

/// What a frame stands for in a session of which the adapter remembers this.
pub(crate) fn decode(frame: &Frame, memory: &Memory) -> Result<Decoded, Problem> {
    adapter().codec().decode(&open(frame)?, &SessionView::new(memory, None))
}

/// The reply to a frame that is refused for this problem.
pub(crate) fn refuse(frame: &Frame, problem: &Problem) -> Output {
    let opened = open(frame).ok();
    let received = opened.as_ref().map_or(Received::Unread(frame), Received::Message);
    adapter().codec().refuse(received, problem).into_output()
}

/// The reply to a frame that passes in spite of this problem.
pub(crate) fn warn(frame: &Frame, problem: &Problem) -> Output {
    let opened = open(frame).ok();
    let received = opened.as_ref().map_or(Received::Unread(frame), Received::Message);
    adapter().codec().warn(received, problem).into_output()
}

/// A file or folder among this platform's conformance cases.
pub(crate) fn case(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases/opencode").join(path)
}

/// A file or folder among this crate's own cases.
pub(crate) fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// The entries of a folder, sorted.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

/// What an installation is asked for, where these files exist.
pub(crate) fn request<'a>(
    scope: InstallScope,
    existing: impl IntoIterator<Item = (&'a str, String)>,
) -> InstallRequest {
    InstallRequest {
        project: "/project".into(),
        home: "/home".into(),
        command: "phasegate".into(),
        mode: phasegate_core::policy::Mode::Block,
        scope,
        shell: None,
        existing: existing.into_iter().map(|(path, text)| (path.into(), text)).collect(),
    }
}

/// Compares with an expectation, or writes it, if that was asked for.
pub(crate) fn golden(path: &Path, text: &str) {
    if std::env::var_os(BLESS).is_some_and(|value| value == "1") {
        fs::write(path, text).unwrap();
    }
    let wanted = fs::read_to_string(path).unwrap_or_default();
    let how = format!("If that is right: {BLESS}=1 cargo test -p phasegate-opencode");
    assert!(text == wanted, "{} differs; it is now:\n{text}\n{how}", path.display());
}
