//! Money, as integral millionths of the configured currency, never as a floating-point number.

use std::fmt;
use std::iter::Sum;
use std::str::FromStr;

use thiserror::Error;

/// An amount of money, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub i64);

/// Why a text is not an amount of money.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not an amount such as 0.35 or 1200, with at most six digits behind the point and up to 1000000000"
)]
pub struct BadMoney(String);

const UNIT: i64 = 1_000_000;

/// The maximum amount, which leaves room for sums over years.
const MOST: i64 = 1_000_000_000 * UNIT;

impl Money {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The percentage of `whole`, rounded down.
    #[must_use]
    pub fn percent_of(self, whole: Self) -> u64 {
        if whole.0 <= 0 {
            return if self.0 > 0 { u64::MAX } else { 0 };
        }
        u64::try_from(i128::from(self.0.max(0)) * 100 / i128::from(whole.0)).unwrap_or(u64::MAX)
    }

    /// Rounded to hundredths, halves up, as on a bill.
    #[must_use]
    pub fn rounded(self) -> String {
        let cents = (i128::from(self.0) + 5000).div_euclid(10_000);
        let sign = if cents < 0 { "-" } else { "" };
        let cents = cents.unsigned_abs();
        format!("{sign}{}.{:02}", cents / 100, cents % 100)
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Self::plus)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let all = self.0.unsigned_abs();
        let (whole, part) = (all / UNIT.unsigned_abs(), all % UNIT.unsigned_abs());
        let part = format!("{part:06}");
        let kept = part.trim_end_matches('0').len().max(2);
        write!(f, "{sign}{whole}.{}", &part[..kept])
    }
}

impl FromStr for Money {
    type Err = BadMoney;

    fn from_str(text: &str) -> Result<Self, BadMoney> {
        let wrong = || BadMoney(text.to_owned());
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str, most: usize| {
            !text.is_empty() && text.len() <= most && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !digits(whole, 10) || !digits(part, 6) {
            return Err(wrong());
        }
        let whole: i64 = whole.parse().map_err(|_| wrong())?;
        let part: i64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
        let amount = whole * UNIT + part;
        if amount <= MOST { Ok(Self(amount)) } else { Err(wrong()) }
    }
}
