//! Whether an artifact is what a condition wants it to be (rules 3.3).

use alloc::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Missing, UNKNOWN_FILES, World, follows};
use crate::answers::phrase;
use crate::evidence::artifact::{ArtifactTest, Marks, Question, faults, first_fault, new_or_changed};
use crate::evidence::condition::Condition;
use crate::evidence::fact::FactValue;
use crate::evidence::fact_test::Truth;
use crate::prelude::*;
use crate::state::Run;

impl World<'_> {
    pub(super) fn artifact(&mut self, test: &ArtifactTest, run: &Run) -> Truth {
        let Value::Object(files) = self.in_run(&test.content, run) else { return Truth::Unknown };
        if !test.is_there(&files) {
            return Truth::No;
        }
        // What stands in files is asked for only where it decides.
        let mut questions = test.questions(&files, follows(run));
        let short = questions.find_map(|question| {
            let all = matches!(question, Question::Marks(marks) if marks.at_most.is_some())
                .then(|| self.since_first(test, run));
            let asked = all.flatten().unwrap_or_else(|| files.clone());
            let truth = match self.fact(question.fact()) {
                Some(FactValue::Known(answer)) => question.truth(&asked, &answer),
                None | Some(FactValue::Absent | FactValue::Unknown) => Truth::Unknown,
            };
            (truth != Truth::Yes).then_some(truth)
        });
        short.unwrap_or(Truth::Yes)
    }

    /// The files of an artifact in which a text may not stand too often: those of every phase that produced it, so that none
    /// of them is passed over where a later phase writes another one. `None`: it is not known.
    pub(super) fn since_first(&mut self, test: &ArtifactTest, run: &Run) -> Option<Map<String, Value>> {
        let now = self.now(&test.content);
        let Some(atom) = test.content.since else { return now.as_object().cloned() };
        let entered = run.evidence.iter().filter(|one| one.atom == atom).min_by_key(|one| one.visit);
        let before = entered.map(|entered| entered.as_of.as_ref().unwrap_or(&Value::Null));
        new_or_changed(now, before).as_object().cloned()
    }

    /// What is said of the files of an artifact of which none has a fault in its format.
    fn found(&mut self, test: &ArtifactTest, files: &Value, run: &Run) -> String {
        if files.is_object() { self.places(test, run) } else { UNKNOWN_FILES.into() }
    }

    /// Where the text stands that an artifact has too often.
    fn places(&mut self, test: &ArtifactTest, run: &Run) -> String {
        let Some(files) = &self.since_first(test, run) else { return UNKNOWN_FILES.into() };
        let counts = |marks: &Marks| match &self.facts.get(&marks.fact)?.value {
            FactValue::Known(counts) => marks.too_often(files, counts),
            FactValue::Absent | FactValue::Unknown => None,
        };
        test.marks.as_ref().and_then(counts).map(|places| format!(" ({places})")).unwrap_or_default()
    }

    /// The files of an artifact that have not its format, with what is wrong with each, where that was asked for.
    fn format_faults(&self, artifact: &str, files: &Map<String, Value>, run: &Run) -> BTreeMap<String, String> {
        match self.facts.get(&follows(run).format(artifact, files)).map(|answer| &answer.value) {
            Some(FactValue::Known(answer)) => faults(files, answer),
            None | Some(FactValue::Absent | FactValue::Unknown) => BTreeMap::new(),
        }
    }

    /// Whether no file of the artifact is there.
    fn is_absent(&mut self, test: &ArtifactTest, run: &Run) -> bool {
        matches!(self.in_run(&test.content, run), Value::Object(files) if files.is_empty())
    }

    /// What is said of an artifact of which no file counts: there is none, or each is as it was before.
    fn absence(&mut self, test: &ArtifactTest, run: &Run) -> String {
        if let Some(path) = self.rewritten(&test.content, run) {
            return format!("another session rewrote `{path}`: write it once more, or another file");
        }
        match self.now(&test.content) {
            Value::Object(files) if !files.is_empty() && test.content.by.is_some() => {
                format!("no call of this run wrote a file of the artifact `{}`", test.name)
            }
            Value::Object(files) if !files.is_empty() => test.is_as_before(),
            _ => format!("{} not found", test.file_name()),
        }
    }

    /// Adds what is said of an artifact that is not as a condition wants it.
    pub(super) fn missing_artifact(
        &mut self,
        condition: &Condition,
        test: &ArtifactTest,
        run: &Run,
        out: &mut Missing<'_>,
    ) {
        out.more = true;
        if self.is_absent(test, run) {
            let absence = self.absence(test, run);
            out.words.push(format!("{absence}: {condition}"));
            out.phrases.push(format!("{absence}: {}", phrase::wanted(condition)));
            return;
        }
        let files = self.in_run(&test.content, run);
        let faults = match &files {
            Value::Object(files) if test.format.is_some() => self.format_faults(&test.name, files, run),
            _ => BTreeMap::new(),
        };
        let fault = first_fault(&faults);
        out.format_faults.extend(faults);
        let found = if fault.is_some() { String::new() } else { self.found(test, &files, run) };
        let words = fault.as_ref().map(|fault| format!(" in its format: {fault}")).unwrap_or_default();
        out.words.push(format!("{condition}{words}{found}"));
        let wanted = fault.map_or_else(|| phrase::wanted(condition), |fault| phrase::faulty(test, &fault));
        out.phrases.push(format!("{wanted}{found}"));
    }
}
