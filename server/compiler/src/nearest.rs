//! "Did you mean ...?"

/// The candidate most like `text`, if it is close enough to be a typo.
pub fn nearest<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let lower = text.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(text.len()) / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `; did you mean `x`?`, or an empty text.
pub fn hint<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    // Long texts are not typos, and a comparison costs the product of the lengths.
    if text.len() > 64 {
        return String::new();
    }
    nearest(text, candidates).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// The existing names, for the message about a missing one: at most eight.
pub fn listing<'c>(names: impl IntoIterator<Item = &'c str>) -> String {
    let mut names: Vec<&str> = names.into_iter().take(9).collect();
    if names.len() == 9 {
        names[8] = "...";
    }
    names.join(", ")
}
