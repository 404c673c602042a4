//! Keeps secrets out of workers' output: every form of a secret's value becomes `***`.
//!
//! This happens when the text is written, not when it is read, so no file contains a value. Values that
//! arrive in pieces are found, too: a possible beginning is buffered until the next piece decides.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// The replacement of a secret.
pub const STARS: &[u8] = b"***";
/// Shorter values, and lines of values, are not masked: they would match everywhere.
const SHORTEST: usize = 4;
/// The same for encoded values, without their ends.
const SHORTEST_ENCODED: usize = 6;

/// The texts to search for: a value, its lines, and both encoded as JSON and base64.
pub fn forms<'a>(values: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut forms = Vec::new();
    for value in values {
        let lines = value.lines().map(str::trim).filter(|line| *line != value);
        for text in std::iter::once(value.as_str()).chain(lines).filter(|text| text.len() >= SHORTEST) {
            forms.push(text.to_owned());
            let json = serde_json::Value::from(text).to_string();
            forms.push(json[1..json.len() - 1].to_owned());
        }
        if value.len() >= SHORTEST {
            forms.extend(encoded(value.as_bytes()));
        }
    }
    forms.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    forms.dedup();
    forms
}

/// A value in base64, as it appears at any position of the encoded data. Three bytes become four characters,
/// so there are three alignments. Characters that contain bits of adjacent data are left out.
fn encoded(value: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let padded = [&[0; 2][..before], value].concat();
        let first = (before * 8).div_ceil(6);
        let last = padded.len() * 8 / 6;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = engine.encode(&padded);
            forms.extend(text.get(first..last).filter(|form| form.len() >= SHORTEST_ENCODED).map(Into::into));
        }
    }
    forms
}

/// Masks a stream of bytes.
#[derive(Debug)]
pub struct Masker {
    /// Sorted by length, longest first.
    forms: Vec<Vec<u8>>,
    /// Whether a form begins with this byte.
    begins: [bool; 256],
    /// A possible beginning of a secret.
    held: Vec<u8>,
}

impl Masker {
    pub fn new(forms: &[String]) -> Self {
        let mut forms: Vec<Vec<u8>> = forms.iter().map(|form| form.as_bytes().to_vec()).collect();
        forms.retain(|form| !form.is_empty());
        forms.sort_unstable_by_key(|form| std::cmp::Reverse(form.len()));
        let mut begins = [false; 256];
        forms.iter().for_each(|form| begins[usize::from(form[0])] = true);
        Self { forms, begins, held: Vec::new() }
    }

    /// The output that can be written after the input `bytes`.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let (out, rest) = self.masked(false);
        self.held.drain(..rest);
        out
    }

    /// Number of buffered bytes.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The rest, at the end of the input.
    pub fn finish(&mut self) -> Vec<u8> {
        let (out, _) = self.masked(true);
        self.held.clear();
        out
    }

    /// The masked bytes, and the length of their input.
    fn masked(&self, ended: bool) -> (Vec<u8>, usize) {
        let text = &self.held;
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if !self.begins[usize::from(rest[0])] {
                out.push(rest[0]);
                at += 1;
                continue;
            }
            // A longer form may still be completed.
            if !ended && self.forms.iter().any(|form| form.len() > rest.len() && form.starts_with(rest)) {
                break;
            }
            match self.forms.iter().find(|form| rest.starts_with(form)) {
                Some(form) => {
                    out.extend_from_slice(STARS);
                    at += form.len();
                }
                None => {
                    out.push(rest[0]);
                    at += 1;
                }
            }
        }
        (out, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masker(values: &[&str]) -> Masker {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Masker::new(&forms(&values))
    }

    fn whole(masker: &mut Masker, pieces: &[&str]) -> String {
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| masker.push(piece.as_bytes())).collect();
        out.extend(masker.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_value_is_found_in_whatever_pieces_it_comes() {
        let text = "before tops3cret after";
        for cut in 0..text.len() {
            let (left, right) = text.split_at(cut);
            assert_eq!(whole(&mut masker(&["tops3cret"]), &[left, right]), "before *** after");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(whole(&mut masker(&["tops3cret"]), &letters), "before *** after");
    }

    #[test]
    fn only_what_may_be_a_secret_is_held_back() {
        let mut masker = masker(&["tops3cret"]);
        assert_eq!(masker.push(b"a line\nand top"), b"a line\nand ");
        assert_eq!(masker.push(b"ic\n"), b"topic\n");
        assert_eq!(masker.push(b"tops3cre"), b"");
        assert_eq!(masker.finish(), b"tops3cre");
    }

    #[test]
    fn the_longest_of_several_is_taken() {
        assert_eq!(whole(&mut masker(&["abcd", "abcdefgh"]), &["x abcdefgh abcdX abcd"]), "x *** ***X ***");
        assert_eq!(whole(&mut masker(&["abcd", "abcdefgh"]), &["abcde"]), "***e");
    }

    #[test]
    fn lines_of_a_value_are_masked_by_themselves() {
        let key = "-----BEGIN KEY-----\nMIIEpQIBAAKCAQEA\nab\n-----END KEY-----\n";
        let said = whole(&mut masker(&[key]), &["got MIIEpQIBAAKCAQEA, ab\n"]);
        assert_eq!(said, "got ***, ab\n");
        assert_eq!(whole(&mut masker(&[key]), &[key]), "***");
    }

    #[test]
    fn base64_is_found_wherever_the_value_stands_in_what_is_encoded() {
        for before in ["", "u", "us", "user:"] {
            let text = STANDARD_NO_PAD.encode(format!("{before}tops3cret-and-more{before}"));
            let said = whole(&mut masker(&["tops3cret-and-more"]), &[&text]);
            // Adjacent data remains around the stars, with at most two characters of the value at each end.
            assert!(
                said.contains("***") && said.len() <= 3 + 8 + before.len() * 2 * 4 / 3,
                "{before}: {text} {said}"
            );
        }
    }

    #[test]
    fn json_writes_a_value_in_another_form() {
        let said = whole(
            &mut masker(&["a\"quoted\\one"]),
            &[&serde_json::json!({"k": "a\"quoted\\one"}).to_string()],
        );
        assert_eq!(said, "{\"k\":\"***\"}");
    }

    #[test]
    fn short_values_are_left_alone() {
        assert_eq!(whole(&mut masker(&["abc"]), &["abc abc"]), "abc abc");
        assert_eq!(whole(&mut masker(&[]), &["abc"]), "abc");
    }
}
