//! Whether an artifact is what a condition wants it to be (rules 3.3).

use alloc::format;
use alloc::string::String;

use serde_json::{Map, Value};

use super::{UNKNOWN_FILES, World, follows};
use crate::artifact::{ArtifactTest, Marks, Question, fault, new_or_changed};
use crate::fact::FactValue;
use crate::fact_test::Truth;
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
    pub(super) fn found(&mut self, test: &ArtifactTest, files: &Value, run: &Run) -> String {
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

    /// The first file of an artifact that has not its format, with what is wrong with it, where that was asked for.
    pub(super) fn format_fault(&self, artifact: &str, files: &Map<String, Value>, run: &Run) -> Option<String> {
        let answer = self.facts.get(&follows(run).format(artifact, files))?;
        match &answer.value {
            FactValue::Known(answer) => fault(files, answer),
            FactValue::Absent | FactValue::Unknown => None,
        }
    }

    /// Whether no file of the artifact is there.
    pub(super) fn is_absent(&mut self, test: &ArtifactTest, run: &Run) -> bool {
        matches!(self.in_run(&test.content, run), Value::Object(files) if files.is_empty())
    }

    /// What is said of an artifact of which no file counts: there is none, or each is as it was before.
    pub(super) fn absence(&mut self, test: &ArtifactTest) -> String {
        match self.now(&test.content) {
            Value::Object(files) if !files.is_empty() => test.is_as_before(),
            _ => format!("{} not found", test.file_name()),
        }
    }
}
