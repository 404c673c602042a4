//! "Did you mean ...?"

/// The candidate most like `text`, if one is alike enough to be a slip of the pen.
pub fn nearest<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let lower = text.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(text.len()) / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `; did you mean `x`?`, or nothing.
pub fn hint<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    // Long texts are no slips, and comparing them costs their lengths' product.
    if text.len() > 64 {
        return String::new();
    }
    nearest(text, candidates).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// What exists, for the message about something that does not: at most eight names.
pub fn listing<'c>(names: impl IntoIterator<Item = &'c str>) -> String {
    let mut names: Vec<&str> = names.into_iter().take(9).collect();
    if names.len() == 9 {
        names[8] = "...";
    }
    names.join(", ")
}
