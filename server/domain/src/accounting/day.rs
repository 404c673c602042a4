//! UTC days and months, as numbers. The arithmetic is Howard Hinnant's `days_from_civil` and
//! `civil_from_days`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::clock::Timestamp;

const MICROS: i64 = 86_400_000_000;

/// A UTC day, as the number of days since 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i64);

/// A UTC month, as the number of months since January of year 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(i64);

/// A period of whole days, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub first: Day,
    pub last: Day,
}

/// Why a text is not a day or a month.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not {expected}")]
pub struct BadDay {
    text: String,
    expected: &'static str,
}

const DAY_FORM: &str = "a day such as 2026-01-31";
const MONTH_FORM: &str = "a month such as 2026-01";

impl Day {
    #[must_use]
    pub fn of(at: Timestamp) -> Self {
        Self(at.0.div_euclid(MICROS))
    }

    /// The first moment of the day.
    #[must_use]
    pub fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(MICROS))
    }

    #[must_use]
    pub fn next(self) -> Self {
        self.plus(1)
    }

    /// This many days later, or earlier if negative.
    #[must_use]
    pub fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days))
    }

    #[must_use]
    pub fn month(self) -> Month {
        let (year, month, _) = civil(self.0);
        Month(year * 12 + month - 1)
    }
}

impl Month {
    #[must_use]
    pub fn first(self) -> Day {
        Day(days(self.0.div_euclid(12), self.0.rem_euclid(12) + 1, 1))
    }

    #[must_use]
    pub fn last(self) -> Day {
        self.next().first().plus(-1)
    }

    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    #[must_use]
    pub fn before(self) -> Self {
        Self(self.0 - 1)
    }

    #[must_use]
    pub fn period(self) -> Period {
        Period { first: self.first(), last: self.last() }
    }
}

impl Period {
    /// Number of days.
    #[must_use]
    pub fn days(self) -> i64 {
        (self.last.0 - self.first.0 + 1).max(0)
    }

    pub fn each(self) -> impl Iterator<Item = Day> {
        (self.first.0..=self.last.0).map(Day)
    }

    #[must_use]
    pub fn has(self, day: Day) -> bool {
        self.first <= day && day <= self.last
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }
}

impl FromStr for Day {
    type Err = BadDay;

    fn from_str(text: &str) -> Result<Self, BadDay> {
        let wrong = || BadDay { text: text.to_owned(), expected: DAY_FORM };
        let parts = numbers(text, &[4, 2, 2]).ok_or_else(wrong)?;
        let day = Self(days(parts[0], parts[1], parts[2]));
        // February 30 would become another day.
        if parts[0] >= 1970 && day.to_string() == text { Ok(day) } else { Err(wrong()) }
    }
}

impl FromStr for Month {
    type Err = BadDay;

    fn from_str(text: &str) -> Result<Self, BadDay> {
        let wrong = || BadDay { text: text.to_owned(), expected: MONTH_FORM };
        let parts = numbers(text, &[4, 2]).ok_or_else(wrong)?;
        let is_month = parts[0] >= 1970 && (1..=12).contains(&parts[1]);
        if is_month { Ok(Self(parts[0] * 12 + parts[1] - 1)) } else { Err(wrong()) }
    }
}

/// Parses numbers with these digit counts, separated by `-`.
fn numbers(text: &str, widths: &[usize]) -> Option<Vec<i64>> {
    let parts: Vec<&str> = text.split('-').collect();
    let fits = parts.len() == widths.len()
        && parts
            .iter()
            .zip(widths)
            .all(|(part, width)| part.len() == *width && part.bytes().all(|byte| byte.is_ascii_digit()));
    if !fits {
        return None;
    }
    parts.into_iter().map(|part| part.parse().ok()).collect()
}

/// Days between 1970-01-01 and a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, month and day this many days after 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(719_468);
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = years + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * shifted_month + 2) / 5 + 1)
}
