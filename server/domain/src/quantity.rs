//! Amounts in human notation: `500m`, `1.5`, `2Gi`, `512M`, `90s`, `1h30m`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a text is not an amount. The message says what is expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not {expected}")]
pub struct BadQuantity {
    text: String,
    expected: &'static str,
}

/// CPU in millicores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "Text")]
pub struct Cpu(pub u64);

/// An amount of memory or data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "Text")]
pub struct Bytes(pub u64);

/// A duration, to the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "Text")]
pub struct Span(pub Duration);

/// An amount in a document: text, or a bare number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Number(serde_json::Number),
    Text(String),
}

impl Text {
    fn into_string(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

const CPU_FORM: &str = "an amount of CPU such as 2, 0.5 or 500m";
const BYTES_FORM: &str = "an amount of memory such as 512Mi, 2Gi or 1G";
const SPAN_FORM: &str = "a length of time such as 90s, 5m or 1h30m";

/// Splits `12.5Mi` into `12.5` and `Mi`.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text.split_at(end)
}

/// The largest accepted amount: the largest integer that JSON represents everywhere, 2^53 - 1.
const LARGEST: u64 = (1 << 53) - 1;

/// A decimal number times `scale`, exact, rounded up. `None` if it is not a number or too large.
fn decimal_times(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 18 {
        return None;
    }
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u128>().ok() };
    let unit = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let total = digits(whole)?.checked_mul(unit)?.checked_add(digits(fraction)?)?;
    let amount = u64::try_from(total.checked_mul(u128::from(scale))?.div_ceil(unit)).ok()?;
    (amount <= LARGEST).then_some(amount)
}

impl FromStr for Cpu {
    type Err = BadQuantity;

    fn from_str(text: &str) -> Result<Self, BadQuantity> {
        let (number, unit) = split_unit(text.trim());
        let millis = match unit {
            "" => decimal_times(number, 1000),
            "m" => decimal_times(number, 1),
            _ => None,
        };
        millis.map(Cpu).ok_or_else(|| BadQuantity { text: text.into(), expected: CPU_FORM })
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1000) { write!(f, "{}", self.0 / 1000) } else { write!(f, "{}m", self.0) }
    }
}

/// Units of bytes, largest binary ones first because they are preferred for output.
const BYTE_UNITS: [(&str, u64); 11] = [
    ("Pi", 1 << 50),
    ("Ti", 1 << 40),
    ("Gi", 1 << 30),
    ("Mi", 1 << 20),
    ("Ki", 1 << 10),
    ("P", 1_000_000_000_000_000),
    ("T", 1_000_000_000_000),
    ("G", 1_000_000_000),
    ("M", 1_000_000),
    ("k", 1_000),
    ("", 1),
];

impl FromStr for Bytes {
    type Err = BadQuantity;

    fn from_str(text: &str) -> Result<Self, BadQuantity> {
        let (number, unit) = split_unit(text.trim());
        let unit = match unit.strip_suffix('B').unwrap_or(unit) {
            "K" => "k",
            other => other,
        };
        BYTE_UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .and_then(|(_, scale)| decimal_times(number, *scale))
            .map(Bytes)
            .ok_or_else(|| BadQuantity { text: text.into(), expected: BYTES_FORM })
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = |(_, scale): &&(&str, u64)| self.0 != 0 && self.0.is_multiple_of(*scale);
        let (unit, scale) = BYTE_UNITS.iter().find(exact).unwrap_or(&("", 1));
        write!(f, "{}{unit}", self.0 / scale)
    }
}

impl FromStr for Span {
    type Err = BadQuantity;

    fn from_str(text: &str) -> Result<Self, BadQuantity> {
        let bad = || BadQuantity { text: text.into(), expected: SPAN_FORM };
        let mut rest = text.trim();
        let mut millis: u64 = 0;
        if rest.is_empty() {
            return Err(bad());
        }
        while !rest.is_empty() {
            let (number, tail) = split_unit(rest);
            let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
            let (unit, after) = tail.split_at(end);
            let scale = match unit {
                "ms" => 1,
                "s" | "" => 1_000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                _ => return Err(bad()),
            };
            let part = decimal_times(number, scale).ok_or_else(bad)?;
            millis = millis.checked_add(part).ok_or_else(bad)?;
            rest = after;
        }
        Ok(Self(Duration::from_millis(millis)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 {
            return f.write_str("0s");
        }
        for (unit, scale) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)] {
            if millis >= scale {
                write!(f, "{}{unit}", millis / scale)?;
                millis %= scale;
            }
        }
        Ok(())
    }
}

macro_rules! as_text {
    ($type:ident, $name:literal, $description:expr, $pattern:literal) => {
        impl From<$type> for String {
            fn from(amount: $type) -> Self {
                amount.to_string()
            }
        }

        impl TryFrom<Text> for $type {
            type Error = BadQuantity;

            fn try_from(text: Text) -> Result<Self, BadQuantity> {
                text.into_string().parse()
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": ["string", "number"], "pattern": $pattern, "description": $description })
            }
        }
    };
}

as_text!(Cpu, "Cpu", CPU_FORM, r"^[0-9]*\.?[0-9]+m?$");
as_text!(Bytes, "Bytes", BYTES_FORM, r"^[0-9]*\.?[0-9]+([kKMGTP]?|[KMGTP]i)B?$");
as_text!(Span, "Span", SPAN_FORM, r"^([0-9]*\.?[0-9]+(ms|s|m|h|d)?)+$");

/// `serde(skip_serializing_if)` for counts that are zero by default.
pub(crate) fn is_zero<N: Default + PartialEq>(count: &N) -> bool {
    *count == N::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written_back() {
        for (text, millis) in [("2", 2000), ("0.5", 500), ("500m", 500), ("1.0001", 1001), (".25", 250)] {
            assert_eq!(text.parse::<Cpu>().unwrap().0, millis, "{text}");
        }
        for (text, bytes) in [
            ("1Ki", 1024),
            ("1.5Gi", 3 << 29),
            ("5G", 5_000_000_000),
            ("7B", 7),
            ("2GiB", 2 << 30),
            ("3MB", 3_000_000),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap().0, bytes, "{text}");
        }
        for (text, millis) in [("90s", 90_000), ("1h30m", 5_400_000), ("250ms", 250), ("10", 10_000)] {
            assert_eq!(text.parse::<Span>().unwrap().0.as_millis(), millis, "{text}");
        }
        assert_eq!(Bytes(3 << 29).to_string(), "1536Mi");
        assert_eq!(Span(Duration::from_millis(5_400_250)).to_string(), "1h30m250ms");
    }

    #[test]
    fn what_is_no_amount_is_refused_with_the_form_expected() {
        for text in
            ["", "-1", "1.2.3", "five", "1e3", "99999999999999999999", "9007199254740992", "1Xi", "m", "."]
        {
            assert!(text.parse::<Cpu>().is_err(), "{text}");
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        assert_eq!(
            "5x".parse::<Span>().unwrap_err().to_string(),
            "`5x` is not a length of time such as 90s, 5m or 1h30m"
        );
    }
}
