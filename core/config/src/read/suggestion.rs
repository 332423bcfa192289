//! The word that was probably meant.

/// The candidate closest to `word`, if one is near enough to be suggested.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (likeness(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate)
}

/// The candidate that `word` is, but for a slip of the fingers.
pub fn likely_typo<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase());
    let near = candidates.into_iter().filter(|candidate| candidate.len() >= 4 && distance(candidate) <= 2);
    near.min_by_key(|candidate| distance(candidate))
}

/// The candidate that `word` is, but for one letter in four.
pub(crate) fn slip<'a>(word: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase());
    candidates.find(|candidate| distance(candidate) <= candidate.len() / 4)
}

fn likeness(word: &str, candidate: &str) -> f64 {
    let distance = strsim::normalized_damerau_levenshtein(word, candidate);
    let begins = word.len() >= 3 && (candidate.starts_with(word) || word.starts_with(candidate));
    if begins { distance.max(0.8) } else { distance }
}

/// Words as a list in backticks: `a`, `b`.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// "did you mean" for the closest candidate.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}
