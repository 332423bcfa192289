//! A tree held against its schema: every difference is reported, and what differs is taken out, so that the rest can be read.

mod wording;

use phasegate_schemas::{Kind, Problem, ProblemKind};

use crate::read::node::Node;
use crate::read::report::Finding;

/// How often the tree is looked at again after something was taken out.
const ROUNDS: usize = 16;

/// Reports what is wrong and takes it out. `None` if nothing usable is left.
pub(crate) fn validate(kind: Kind, mut node: Node, findings: &mut Vec<Finding>) -> Option<Node> {
    for round in 0..ROUNDS {
        let problems = phasegate_schemas::validate(kind, &node.to_value());
        if problems.is_empty() {
            return Some(node);
        }
        if round == 0 {
            let told = problems.iter().filter(|problem| !follows_from_a_typo(problem, &problems));
            findings.extend(told.map(|problem| wording::finding(problem, &node)));
        }
        let nameless =
            |problem: &Problem| problem.pointer.is_empty() && problem.kind == ProblemKind::MissingKey("skill".into());
        let (unnamed, problems): (Vec<Problem>, Vec<Problem>) = problems.into_iter().partition(nameless);
        if !unnamed.is_empty() {
            node.add_text("skill", "unnamed");
        }
        let mut places: Vec<Vec<String>> = problems.into_iter().map(place_to_remove).collect();
        places.sort_by_key(|place| place.iter().map(|part| sortable(part)).collect::<Vec<_>>());
        places.dedup();
        // From the end, so that the positions of what stands before stay right.
        for place in places.iter().rev() {
            if place.is_empty() {
                return None;
            }
            node.remove(place);
        }
    }
    None
}

fn place_to_remove(problem: Problem) -> Vec<String> {
    let mut place = problem.pointer;
    if let ProblemKind::UnknownKey { key, .. } = problem.kind {
        place.push(key);
    }
    place
}

/// Positions sort as numbers.
fn sortable(part: &str) -> (usize, String) {
    (part.parse().unwrap_or_default(), part.to_string())
}

/// A key that is missing because it is misspelt is one mistake, not two.
fn follows_from_a_typo(problem: &Problem, all: &[Problem]) -> bool {
    let ProblemKind::MissingKey(missing) = &problem.kind else { return false };
    all.iter().any(|other| {
        other.pointer == problem.pointer
            && matches!(&other.kind, ProblemKind::UnknownKey { key, known }
                if crate::read::suggestion::closest(key, known.iter().map(String::as_str)) == Some(missing.as_str()))
    })
}
