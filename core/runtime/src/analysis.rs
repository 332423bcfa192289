//! The reading of a call (rules 3.3): what its arguments mean on this machine, found before the decision.

mod paths;
mod line;
mod tests;
mod git;
mod own;
mod tools;
pub(crate) mod new_content;
pub(crate) mod added_code;

use std::collections::BTreeSet;
use std::io::ErrorKind::NotFound;
use std::path::Path;
use std::time::SystemTime;

use phasegate_config::outline::words_below;
use phasegate_core::calls::analysis::{Access, Invocation, UNKNOWN, Verdict};
use phasegate_core::calls::tool::{BASH, EXECUTE, READ, SHELL, only_reads};
use phasegate_core::{Event, EventKind, Policy, is_secret_path};
use phasegate_shell::Readers;
use serde_json::Value;

use self::paths::read_folders;
use self::paths::read_folders::Listing;
use crate::facts::is_ignored;
use crate::project::paths::{resolve, shown};
use crate::protected::Protected;

pub(crate) use line::{Shell, read_line};
pub(crate) use own::client_files::on_path;
pub(crate) use paths::read_folders as reads_of_folders;

/// Marks a call without arguments, where nothing is decided, as standing for every call of its tool.
pub(crate) fn open(event: &mut Event) {
    let EventKind::ToolCall { tool, server, input: Value::Null, labels, analysis, .. } = &mut event.kind else {
        return;
    };
    analysis.open = true;
    if tool == BASH && server.is_none() && labels.is_none() {
        *labels = Some([READ, SHELL].map(str::to_string).into());
    }
}

/// Notes which arguments name paths of the project, where the tool does more than read and says nothing of paths.
pub(crate) fn name_paths(event: &mut Event, root: &Path, home: &str) {
    let reads = event.labels().is_none_or(|labels| only_reads(&labels));
    let EventKind::ToolCall { tool, input, analysis, .. } = &mut event.kind else { return };
    if !reads && tool != BASH && analysis.paths.is_empty() && !analysis.open {
        // A record keeps what was found, and not always the arguments.
        analysis.in_project.extend(paths::in_project::paths(input, root, home));
    }
}

/// The files of the project on this machine.
struct OnDisk<'r> {
    root: &'r Path,
}

impl Listing for OnDisk<'_> {
    fn below(&self, folder: &str) -> Vec<String> {
        let at = self.root.join(folder);
        let files = read_folders::files_of(&at).into_iter();
        files.filter_map(|file| shown(self.root, Some(at.join(".").join(file).components().collect()))).collect()
    }

    fn is_ignored(&self, path: &str) -> bool {
        is_ignored(self.root, Path::new(path))
    }
}

/// Notes which files a call reads with their folder, of those that some of the patterns select.
pub(crate) fn name_read(event: &mut Event, root: &Path, policy: &Policy) {
    let cwd = event.cwd.clone();
    let place = || {
        let place = cwd.as_deref().map(|cwd| root.join(cwd)).and_then(|cwd| resolve(root, &cwd));
        place.and_then(|place| shown(root, Some(place))).unwrap_or_else(|| ".".to_owned())
    };
    read_folders::note(event, policy, &place, &OnDisk { root });
}

/// Counts the words below those headings of a call's arguments that the policy asks about, where a subagent is started.
pub(crate) fn count_words(event: &mut Event, policy: &Policy) {
    let EventKind::ToolCall { input, analysis, .. } = &mut event.kind else { return };
    if !matches!(analysis.invokes, Some(Invocation::Agent(_))) {
        return;
    }
    for (path, headings) in policy.asked_sections() {
        let value = path.split('.').try_fold(&*input, |value, key| value.get(key));
        let Some(text) = value.and_then(Value::as_str) else { continue };
        let found = words_below(text, &headings.into_iter().collect::<Vec<_>>());
        let found = found.into_iter().map(|(heading, words)| (heading.to_owned(), words));
        analysis.sections.insert(path.to_owned(), found.collect());
    }
}

/// Notes what stands in the file that a file tool writes, once it is done: if that is asked for, as a condition holds files
/// against what calls wrote.
pub(crate) fn tell_content(event: &mut Event, root: &Path, is_asked: &dyn Fn() -> bool) {
    let EventKind::ToolCall { input, analysis, .. } = &mut event.kind else { return };
    if let ([path], true) = (analysis.paths.as_mut_slice(), analysis.commands.is_empty())
        && path.access == Access::Write
        && is_asked()
    {
        let file = path.resolved.as_ref().map(|resolved| root.join(resolved));
        path.becomes = new_content::of(&path.written, input, || new_content::text(&file?)).map(Box::new);
    }
}

/// Whether a file has more than one name, so that what is written to it is written elsewhere too.
#[cfg(unix)]
fn has_another_name(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    path.symlink_metadata().is_ok_and(|data| data.is_file() && data.nlink() > 1)
}

/// Whether a file has more than one name: not known here.
#[cfg(not(unix))]
fn has_another_name(_: &Path) -> bool {
    false
}

/// Resolves the paths that the adapter found in a call, relative to the event's folder, else to the project's root; reads
/// the line of a shell call; and notes what of the guard's own the call would change. The commands of which the call would
/// change what they obey.
pub(crate) fn complete<'a>(
    event: &mut Event,
    root: &Path,
    shell: &Shell,
    protected: &dyn Fn() -> Protected<'a>,
    began: &dyn Fn() -> Option<SystemTime>,
) -> BTreeSet<Readers> {
    tools::shorten(&mut event.kind);
    let base = event.cwd.as_deref().map_or_else(|| root.to_path_buf(), |cwd| root.join(cwd));
    let judged = read_line(event, shell, root, began);
    let none = BTreeSet::new;
    let Some(labels) = event.labels() else { return none() };
    let EventKind::ToolCall { tool, input, analysis, labels: given, .. } = &mut event.kind else { return none() };
    if analysis.open {
        return none();
    }
    let writes = |access| matches!(access, Access::Write | Access::Remove);
    // What is read at a path that is made at run time may be anything.
    for path in analysis.paths.iter_mut().filter(|path| path.written != UNKNOWN || path.access != Access::Read) {
        let found = resolve(&base, Path::new(&path.written));
        path.linked = path.access == Access::Write && found.as_deref().is_some_and(has_another_name);
        let folder = writes(path.access) && judged.is_none() && !path.folder;
        if folder && found.as_deref().is_some_and(|found| found != root && found.is_dir()) {
            path.below = vec![String::new()];
        }
        let is_new = |found: &Path| {
            found.to_str().is_some_and(is_secret_path)
                && matches!(found.symlink_metadata(), Err(why) if why.kind() == NotFound)
        };
        path.new = shell.in_part && writes(path.access) && found.as_deref().is_some_and(is_new);
        path.resolved = shown(root, found);
    }
    let may_change = match &judged {
        Some(judged) => judged.verdict != Verdict::Read,
        None if analysis.paths.is_empty() => !only_reads(&labels),
        None => analysis.paths.iter().any(|path| writes(path.access)),
    };
    if !may_change {
        return none();
    }
    let place = own::guard_files::Place { base: &base, protected: protected() };
    analysis.guarded = match &judged {
        Some(judged) => {
            place.by_shell_line(judged, input.get("command").and_then(Value::as_str).unwrap_or_default(), shell)
        }
        None if analysis.paths.is_empty() => place.by_arguments(tool, input, shell),
        None => place.by_paths(&analysis.paths),
    };
    analysis.of_strict_others = !analysis.guarded.is_empty() && place.protected.is_of_strict_others();
    let changed = match &judged {
        Some(judged) => place.obeyed_by_line(judged, &mut analysis.commands, &shell.table),
        None if analysis.paths.is_empty() => place.obeyed_by_arguments(input, &shell.table),
        None => place.obeyed_by_paths(&analysis.paths, input, &shell.table),
    };
    // What a line changes its own commands may obey.
    let runs = |readers: &Readers| judged.is_some() || *readers != Readers::Packages;
    if changed.iter().any(runs) && !labels.is_empty() {
        given.get_or_insert(labels).insert(EXECUTE.to_string());
    }
    changed
}
