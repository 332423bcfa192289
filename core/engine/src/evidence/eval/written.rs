//! Whether files are as calls wrote them (rules 3.3): another program may have changed them since.

use serde_json::Value;

use super::{World, newest_of, since};
use crate::calls::analysis::Access;
use crate::calls::tool::Call;
use crate::evidence::condition::CallTest;
use crate::evidence::content::Content;
use crate::evidence::fact_test::Truth;
use crate::prelude::*;
use crate::state::Run;

/// What the files are to be that a call writes, and those that calls of this visit wrote before it: the digest of each by its
/// path. `null`, which no file is: it was made from something that no call of the visit wrote, or nobody knows what was made.
pub(crate) fn wrote(call: &Call, test: &CallTest, run: &Run) -> Option<Value> {
    let before =
        newest_of(run, test.atom, |one| one.visit == run.visit).and_then(|one| one.as_of.as_ref()?.as_object());
    let mut files = before.cloned().unwrap_or_default();
    for written in call.analysis.paths.iter().filter(|path| path.access != Access::Read) {
        let path = written.resolved.as_ref().unwrap_or(&written.written);
        let Some(new) = &written.becomes else {
            files.remove(path);
            continue;
        };
        let is_base = |from: &String| files.get(path).is_some_and(|known| known == from);
        let known = new.made_from.as_ref().is_none_or(is_base) && !new.sha256.is_empty();
        files.insert(path.clone(), if known { Value::from(new.sha256.as_str()) } else { Value::Null });
    }
    (!files.is_empty()).then_some(Value::Object(files))
}

impl World<'_> {
    /// Whether what calls wrote stands in the files. Where nobody knows what they wrote, nothing else is known of it either.
    pub(super) fn as_written(&mut self, content: &Content, wrote: Option<&Value>) -> Truth {
        let Some(Value::Object(wrote)) = wrote else { return Truth::Yes };
        // Of two calls that write it, nobody knows which is the last.
        if self.is_written(content) {
            return Truth::Unknown;
        }
        match self.now(content) {
            Value::Object(now) => Truth::of(wrote.values().all(|digest| now.values().any(|found| found == digest))),
            _ => Truth::Unknown,
        }
    }

    /// What a proof lacks whose file something else changed, or may have changed.
    pub(super) fn not_as_written(&mut self, content: &Content, wrote: &Value) -> String {
        if self.is_written(content) {
            return format!(", as another call goes on that writes `{}`", content.text);
        }
        let truth = self.as_written(content, Some(wrote));
        let again = if truth == Truth::No { ", by something else: write it whole once more" } else { "" };
        [since(&content.text, truth).as_str(), again].concat()
    }
}
