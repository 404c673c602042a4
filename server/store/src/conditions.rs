//! Filters of lists, as SQL with parameters.

use crate::error::StoreError;
use crate::query::{lists, places};
use crate::values::Values;

/// A page of a list ordered by `K`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOf<K> {
    /// The last key of the previous page.
    pub after: Option<K>,
    /// At most this many.
    pub limit: usize,
}

/// The sort columns of a list, which are unique together.
pub(crate) struct Order<'c> {
    /// The columns, all not null.
    pub(crate) columns: &'c [&'c str],
    pub(crate) descending: bool,
}

impl Order<'_> {
    /// The text after `ORDER BY`.
    pub(crate) fn sql(&self) -> String {
        let way = if self.descending { " DESC" } else { "" };
        let columns: Vec<String> = self.columns.iter().map(|column| format!("{column}{way}")).collect();
        columns.join(", ")
    }
}

/// The value of a row in a column of an [`Order`].
pub(crate) enum Key<'v> {
    Text(&'v str),
    Int(i64),
}

/// Conditions joined by AND.
pub(crate) struct Conditions {
    parts: Vec<String>,
    values: Values,
    count: usize,
}

impl Conditions {
    pub(crate) fn new(what: &'static str) -> Self {
        Self { parts: Vec::new(), values: Values::new(what, 8), count: 0 }
    }

    /// A condition without a parameter.
    pub(crate) fn fixed(&mut self, condition: &str) {
        self.parts.push(condition.into());
    }

    /// `comparison`, such as `project =`, with a text; no condition for `None`.
    pub(crate) fn text(&mut self, comparison: &str, value: Option<&str>) -> Result<(), StoreError> {
        let Some(value) = value else { return Ok(()) };
        self.values.text(value)?;
        self.add(comparison);
        Ok(())
    }

    /// `comparison` with a number; no condition for `None`.
    pub(crate) fn int(&mut self, comparison: &str, value: Option<i64>) -> Result<(), StoreError> {
        let Some(value) = value else { return Ok(()) };
        self.values.int(value)?;
        self.add(comparison);
        Ok(())
    }

    /// The column has one of these values.
    pub(crate) fn any_of(&mut self, column: &str, allowed: &[&str]) -> Result<(), StoreError> {
        if allowed.is_empty() {
            self.fixed("1 = 0");
            return Ok(());
        }
        // Padding to a few lengths keeps the number of distinct statements small.
        let mut padded = lists(allowed);
        let allowed = if padded.len() == 1 { padded.remove(0) } else { allowed.to_vec() };
        for value in &allowed {
            self.values.text(value)?;
        }
        self.parts.push(format!("{column} IN ({})", places(self.count + 1, allowed.len())));
        self.count += allowed.len();
        Ok(())
    }

    /// The column has one of these values; no condition for `None`.
    pub(crate) fn one_of(&mut self, column: &str, allowed: Option<&[String]>) -> Result<(), StoreError> {
        let Some(allowed) = allowed else { return Ok(()) };
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        self.any_of(column, &allowed)
    }

    /// One of these columns contains this text, ignoring case.
    pub(crate) fn contains(&mut self, columns: &[&str], text: Option<&str>) -> Result<(), StoreError> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(()) };
        self.values.text(&format!("%{}%", escaped(&text.to_lowercase())))?;
        self.count += 1;
        let alternatives: Vec<String> = columns
            .iter()
            .map(|column| format!("LOWER({column}) LIKE ${} ESCAPE '\\'", self.count))
            .collect();
        self.parts.push(format!("({})", alternatives.join(" OR ")));
        Ok(())
    }

    /// The column has the letters of this text in this order, ignoring case, spaces, and what is between them.
    pub(crate) fn letters(&mut self, column: &str, text: &str) -> Result<(), StoreError> {
        let letters = text.chars().filter(|letter| !letter.is_whitespace());
        let letters: Vec<String> =
            letters.map(|letter| escaped(&letter.to_lowercase().to_string())).collect();
        self.values.text(&format!("%{}%", letters.join("%")))?;
        self.count += 1;
        self.parts.push(format!("LOWER({column}) LIKE ${} ESCAPE '\\'", self.count));
        Ok(())
    }

    /// The column starts with this text.
    pub(crate) fn begins(&mut self, column: &str, text: Option<&str>) -> Result<(), StoreError> {
        let Some(text) = text else { return Ok(()) };
        self.values.text(&format!("{}%", escaped(text)))?;
        self.count += 1;
        self.parts.push(format!("{column} LIKE ${} ESCAPE '\\'", self.count));
        Ok(())
    }

    /// The column, a space-separated list of words, contains this word.
    pub(crate) fn word(&mut self, column: &str, word: Option<&str>) -> Result<(), StoreError> {
        let Some(word) = word else { return Ok(()) };
        self.values.text(&format!("% {} %", escaped(word)))?;
        self.count += 1;
        self.parts.push(format!("' ' || {column} || ' ' LIKE ${} ESCAPE '\\'", self.count));
        Ok(())
    }

    /// The row comes after this one, in this order.
    pub(crate) fn after(&mut self, order: &Order<'_>, last: &[Key<'_>]) -> Result<(), StoreError> {
        for key in last {
            match key {
                Key::Text(text) => self.values.text(text)?,
                Key::Int(number) => self.values.int(*number)?,
            };
        }
        let (sign, columns) = (if order.descending { '<' } else { '>' }, order.columns.join(", "));
        let places = places(self.count + 1, last.len());
        self.parts.push(format!("({columns}) {sign} ({places})"));
        self.count += last.len();
        Ok(())
    }

    /// `condition` with `{}` replaced by a text parameter.
    pub(crate) fn with_text(&mut self, condition: &str, value: &str) -> Result<(), StoreError> {
        self.values.text(value)?;
        self.count += 1;
        self.parts.push(condition.replace("{}", &format!("${}", self.count)));
        Ok(())
    }

    /// The conditions after `WHERE`, the placeholder of the limit, and the values of both.
    pub(crate) fn limited(mut self, limit: usize) -> Result<(String, String, Values), StoreError> {
        self.values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = if self.parts.is_empty() { "1 = 1".into() } else { self.parts.join(" AND ") };
        Ok((sql, format!("${}", self.count + 1), self.values))
    }

    fn add(&mut self, comparison: &str) {
        self.count += 1;
        self.parts.push(format!("{comparison} ${}", self.count));
    }
}

/// The text for `LIKE ... ESCAPE '\'`, with wildcards escaped.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
