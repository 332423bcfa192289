//! `oneOf` and `anyOf`: the alternative that the author meant is found, and only its problems are reported.

use crate::problem::{Problem, ProblemKind};

/// What is wrong with a value at `here` that fits no alternative, given the problems of each.
///
/// Alternatives that the value's type rules out are left aside. Of the others the one with the fewest problems counts.
pub(crate) fn explain(found: &[Vec<Problem>], here: &[String]) -> Vec<Problem> {
    if let Some(words) = words_only(found, here) {
        return vec![Problem { pointer: here.to_vec(), kind: ProblemKind::NotOneOf(words) }];
    }
    let ruled_out = |problems: &[Problem]| {
        problems.iter().any(|problem| {
            problem.pointer == here && matches!(problem.kind, ProblemKind::WrongType(_))
                || problem.pointer.len() == here.len() + 1 && is_other_tag(problem)
        })
    };
    let meant: Vec<&Vec<Problem>> = found.iter().filter(|problems| !ruled_out(problems)).collect();
    if let Some(best) = meant.iter().min_by_key(|problems| problems.len()) {
        return best.to_vec();
    }
    let mut kinds: Vec<String> = Vec::new();
    for problem in found.iter().flatten().filter(|problem| problem.pointer == here) {
        if let ProblemKind::WrongType(types) = &problem.kind {
            kinds.extend(types.iter().filter(|kind| !kinds.contains(kind)).cloned().collect::<Vec<_>>());
        }
    }
    if kinds.is_empty() {
        return vec![tags(found, here)];
    }
    vec![Problem { pointer: here.to_vec(), kind: ProblemKind::WrongType(kinds) }]
}

/// The words of a list of constants, if the alternatives are nothing else and the value is a text.
fn words_only(found: &[Vec<Problem>], here: &[String]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    for problems in found {
        let constant = problems.iter().find_map(|problem| match &problem.kind {
            ProblemKind::NotOneOf(words) if problem.pointer == here => Some(words.clone()),
            _ => None,
        })?;
        words.extend(constant);
    }
    Some(words)
}

/// Whether the value of a key picks another alternative than this one, as `event` does.
fn is_other_tag(problem: &Problem) -> bool {
    matches!(&problem.kind, ProblemKind::NotOneOf(words) if words.len() == 1)
        && problem.pointer.last().is_some_and(|key| key == "event")
}

fn tags(found: &[Vec<Problem>], here: &[String]) -> Problem {
    let mut words = Vec::new();
    let mut pointer = here.to_vec();
    for problem in found.iter().flatten().filter(|problem| is_other_tag(problem)) {
        if let ProblemKind::NotOneOf(more) = &problem.kind {
            words.extend(more.iter().cloned());
            pointer.clone_from(&problem.pointer);
        }
    }
    Problem { pointer, kind: ProblemKind::NotOneOf(words) }
}
