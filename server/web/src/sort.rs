//! Sorted lists: the `sort` parameter, and sortable table headings.

use crate::error::{ApiError, ApiResult};

/// Order of a list that can be sorted by `S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort<S> {
    /// Sort key.
    pub by: S,
    /// Whether the order is descending.
    pub descending: bool,
    word: &'static str,
}

impl<S: Copy> Sort<S> {
    /// Parses `sort`: one of these words, with `-` before it for descending order. Defaults to the first
    /// word.
    ///
    /// # Errors
    /// The word is unknown.
    pub fn read(asked: Option<&str>, words: &[(&'static str, S)]) -> ApiResult<Self> {
        let asked = asked.unwrap_or_default();
        let (wanted, descending) = asked.strip_prefix('-').map_or((asked, false), |rest| (rest, true));
        let usual = if asked.is_empty() { words.first() } else { None };
        match usual.or_else(|| words.iter().find(|(word, _)| *word == wanted)) {
            Some((word, by)) => Ok(Self { by: *by, descending, word }),
            None => {
                let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                let message = format!(
                    "sort is `{asked}`: it must be one of {}; prefix - for descending order",
                    all.join(", ")
                );
                Err(ApiError::field("/sort", message))
            }
        }
    }

    /// As in `sort`.
    #[must_use]
    pub fn word(&self) -> String {
        format!("{}{}", if self.descending { "-" } else { "" }, self.word)
    }
}

/// Heading of a sortable column: a link to the list in that order, or the reverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// URL of the table in that order.
    pub href: String,
    /// Value of `aria-sort`: `ascending`, `descending` or `none`.
    pub sorted: &'static str,
}

impl Heading {
    /// Heading of a column. `first` is its initial order (`-created`: newest first), `present` the list's
    /// current order. `to` returns the URL for an order.
    pub fn new(first: &str, present: &str, to: impl FnOnce(&str) -> String) -> Self {
        let bare = |word: &str| word.trim_start_matches('-').to_owned();
        let turned = if present.starts_with('-') { bare(present) } else { format!("-{present}") };
        let (next, sorted) = match bare(first) == bare(present) {
            false => (first, "none"),
            true if present.starts_with('-') => (turned.as_str(), "descending"),
            true => (turned.as_str(), "ascending"),
        };
        Self { href: to(next), sorted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [(&str, u8); 2] = [("name", 1), ("created", 2)];

    #[test]
    fn an_order_is_one_of_the_lists_words() {
        let read = |asked: Option<&str>| Sort::read(asked, &WORDS).map(|sort| (sort.by, sort.word()));
        for (asked, by, word) in [
            (None, 1, "name"),
            (Some(""), 1, "name"),
            (Some("-name"), 1, "-name"),
            (Some("created"), 2, "created"),
            (Some("-created"), 2, "-created"),
        ] {
            assert_eq!(read(asked).unwrap(), (by, word.to_owned()), "{asked:?}");
        }
        for wrong in ["size", "-", "--name", "Name", "name,created"] {
            let said = read(Some(wrong)).unwrap_err();
            assert_eq!(said.problems()[0].path, "/sort", "{wrong}");
            assert!(said.detail().contains("name, created"), "{}", said.detail());
        }
    }

    #[test]
    fn a_heading_leads_to_its_order_and_then_turns_it_round() {
        let heading = |first: &str, present: &str| {
            let Heading { href, sorted } = Heading::new(first, present, ToOwned::to_owned);
            (href, sorted)
        };
        assert_eq!(heading("name", "-created"), ("name".into(), "none"));
        assert_eq!(heading("-created", "name"), ("-created".into(), "none"));
        assert_eq!(heading("-created", "-created"), ("created".into(), "descending"));
        assert_eq!(heading("-created", "created"), ("-created".into(), "ascending"));
    }
}
