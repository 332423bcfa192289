//! Artifacts and conditions on files in the words of a config.

use phasegate_core::artifact::{Artifact, ArtifactTest};
use phasegate_core::format::{Markdown, Rules, TextTest};
use phasegate_core::matcher::{ArgIs, ArgTest};
use serde_json::{Map, Value, json};

/// The name of an artifact, and what it is.
pub(super) fn artifact(artifact: &Artifact) -> (String, Value) {
    let path = |path: &String| match artifact.deprecated.contains(path) {
        true => json!({"glob": path, "deprecated": true}),
        false => json!(path),
    };
    let mut fields = json!({"path": artifact.paths.iter().map(path).collect::<Vec<_>>()});
    if let (Some(format), Some(fields)) = (&artifact.format, fields.as_object_mut()) {
        let rules = match &format.rules {
            Rules::Schema(schema) => json!({"schema": schema.file}),
            Rules::Markdown(rules) => markdown(rules),
        };
        fields.insert("format".into(), rules);
    }
    if let (Some(_), Some(fields)) = (artifact.content.by, fields.as_object_mut()) {
        fields.insert("own".into(), json!(true));
    }
    (artifact.name.clone(), fields)
}

fn markdown(rules: &Markdown) -> Value {
    let line = |test: &TextTest| match test {
        TextTest::Is(text) => json!(text),
        TextTest::Matches(pattern) => json!({"matches": pattern}),
    };
    let sections: Vec<Value> = rules.sections.iter().map(line).collect();
    let lines: Vec<Value> = rules.lines.iter().map(line).collect();
    let keys = [
        rules.title.as_ref().map(|title| ("title", line(title))),
        (!sections.is_empty()).then(|| ("sections", json!(sections))),
        rules.min_words.map(|least| ("min_words", json!(least))),
        (!lines.is_empty()).then(|| ("lines", json!(lines))),
        rules.last_line.as_ref().map(|last| ("last_line", line(last))),
        (!rules.front_matter.is_empty()).then(|| ("front_matter", arguments(&rules.front_matter))),
    ];
    keys.into_iter().flatten().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// What values have to be, by the paths to them.
pub(super) fn arguments(tests: &[ArgTest]) -> Value {
    let test = |is: &ArgIs| match is {
        ArgIs::Equal(value) => value.clone(),
        ArgIs::OneOf(values) => json!({"one_of": values}),
        ArgIs::Begins(start) => json!({"begins": start}),
        ArgIs::Contains(part) => json!({"contains": part}),
        ArgIs::Present(present) => json!({"present": present}),
    };
    let each: Map<String, Value> = tests.iter().map(|one| (one.path.clone(), test(&one.is))).collect();
    Value::Object(each)
}

/// A condition on an artifact, or on the files that a path selects.
pub(super) fn condition(test: &ArtifactTest) -> Value {
    let mut fields = match test.name.as_str() {
        "" => Map::from_iter([("file".to_string(), json!(test.content.text))]),
        name => Map::from_iter([("artifact".to_string(), json!(name))]),
    };
    fields.extend(test.sha256.as_ref().map(|digest| ("sha256".to_string(), json!(digest))));
    if let Some(marks) = &test.marks {
        fields.insert("contains".into(), json!(marks.text));
        fields.insert("at_least".into(), json!(marks.at_least));
        fields.extend(marks.at_most.map(|most| ("at_most".to_string(), json!(most))));
    }
    let Some(pointer) = &test.pointer else { return Value::Object(fields) };
    let (key, wanted) = match &pointer.is {
        ArgIs::Equal(value) => ("value", value.clone()),
        ArgIs::OneOf(values) => ("one_of", json!(values)),
        ArgIs::Begins(start) => ("begins", json!(start)),
        ArgIs::Contains(part) => ("contains", json!(part)),
        ArgIs::Present(present) => ("present", json!(present)),
    };
    fields.extend([("pointer".to_string(), json!(pointer.at)), (key.to_string(), wanted)]);
    Value::Object(fields)
}
