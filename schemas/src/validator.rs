//! Validates a document against a schema, keyword by keyword.

use serde_json::{Map, Value};

use crate::alternatives;
use crate::problem::{Problem, ProblemKind};
use crate::rule;

/// Keywords that say nothing about a value's validity.
const ANNOTATIONS: [&str; 7] = ["$defs", "$id", "$schema", "default", "description", "format", "title"];

/// Every problem of the document.
pub(crate) fn problems(schema: &Value, document: &Value) -> Vec<Problem> {
    let mut walk = Walk { root: schema, here: Vec::new(), found: Vec::new() };
    walk.check(schema, document);
    walk.found
}

/// Goes through a document beside its schema.
struct Walk<'a> {
    /// The whole schema, for `$ref`.
    root: &'a Value,
    /// The place in the document: keys and list positions from the root.
    here: Vec<String>,
    found: Vec<Problem>,
}

impl<'a> Walk<'a> {
    fn check(&mut self, schema: &'a Value, value: &Value) {
        let Value::Object(keywords) = schema else {
            if schema == &Value::Bool(false) {
                self.report(ProblemKind::Other("is not allowed".into()));
            }
            return;
        };
        for (keyword, rule) in keywords {
            self.keyword(keywords, keyword, rule, value);
        }
    }

    fn keyword(&mut self, keywords: &'a Map<String, Value>, keyword: &str, rule: &'a Value, value: &Value) {
        match keyword {
            "$ref" => self.reference(rule, value),
            "additionalProperties" => self.additional(keywords, rule, value),
            "anyOf" | "oneOf" => self.alternatives(rule, value),
            "items" => {
                let first = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                for (at, item) in value.as_array().into_iter().flatten().enumerate().skip(first) {
                    self.at(at.to_string(), rule, item);
                }
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                for (schema, (at, item)) in rule.as_array().into_iter().flatten().zip(items) {
                    self.at(at.to_string(), schema, item);
                }
            }
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = rule.get(key) {
                        self.at(key.clone(), schema, inner);
                    }
                }
            }
            "required" => {
                let Some(object) = value.as_object() else { return };
                for key in rule.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if !object.contains_key(key) {
                        self.report(ProblemKind::MissingKey(key.to_string()));
                    }
                }
            }
            annotation if ANNOTATIONS.contains(&annotation) => {}
            other => match rule::apply(other, rule, value) {
                Some(Some(kind)) => self.report(kind),
                Some(None) => {}
                None => self.report(ProblemKind::Other(format!("has a schema with the unknown keyword `{other}`"))),
            },
        }
    }

    fn reference(&mut self, target: &Value, value: &Value) {
        let found = target.as_str().and_then(|target| self.root.pointer(target.strip_prefix('#')?));
        match found {
            Some(schema) => self.check(schema, value),
            None => self.report(ProblemKind::Other(format!("has a schema that refers to {target}, which is missing"))),
        }
    }

    /// The keys of an object that `properties` does not name.
    fn additional(&mut self, keywords: &'a Map<String, Value>, rule: &'a Value, value: &Value) {
        let named = keywords.get("properties").and_then(Value::as_object);
        let unnamed = value.as_object().into_iter().flatten();
        for (key, inner) in unnamed.filter(|(key, _)| named.is_none_or(|named| !named.contains_key(*key))) {
            if rule == &Value::Bool(false) {
                let known = named.into_iter().flat_map(Map::keys).filter(|key| *key != "$schema").cloned().collect();
                self.report(ProblemKind::UnknownKey { key: key.clone(), known });
            } else {
                self.at(key.clone(), rule, inner);
            }
        }
    }

    /// Our alternatives exclude each other, so `oneOf` means the same as `anyOf`.
    fn alternatives(&mut self, rule: &'a Value, value: &Value) {
        let mut found = Vec::new();
        for schema in rule.as_array().into_iter().flatten() {
            let mut walk = Walk { root: self.root, here: self.here.clone(), found: Vec::new() };
            walk.check(schema, value);
            if walk.found.is_empty() {
                return;
            }
            found.push(walk.found);
        }
        self.found.extend(alternatives::explain(&found, &self.here));
    }

    fn at(&mut self, step: String, schema: &'a Value, value: &Value) {
        self.here.push(step);
        self.check(schema, value);
        self.here.pop();
    }

    fn report(&mut self, kind: ProblemKind) {
        self.found.push(Problem { pointer: self.here.clone(), kind });
    }
}
