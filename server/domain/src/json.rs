//! JSON with numbers that a 64-bit parser would silently change or reject.

use std::borrow::Cow;

use serde_json::Value;

/// Converts integers of more than 64 bits to text. They would be rounded otherwise.
#[must_use]
pub fn exact(json: &[u8]) -> Cow<'_, [u8]> {
    quoted(json, false)
}

/// The same for program output. It also accepts `NaN`, `Infinity` and `-Infinity`, which Python writes and
/// JSON lacks.
#[must_use]
pub fn of_program(json: &[u8]) -> Cow<'_, [u8]> {
    quoted(json, true)
}

fn quoted(json: &[u8], not_finite: bool) -> Cow<'_, [u8]> {
    let mut rewritten: Option<Vec<u8>> = None;
    let (mut at, mut copied, mut in_text) = (0, 0, false);
    while let Some(byte) = json.get(at) {
        let length = match byte {
            b'\\' if in_text => 2,
            b'"' => {
                in_text = !in_text;
                1
            }
            _ if in_text => 1,
            b'-' | b'0'..=b'9' | b'N' | b'I' => {
                let rest = &json[at..];
                let length = rest.iter().take_while(|byte| in_number(**byte)).count();
                let token = &rest[..length];
                if is_too_large(token) || not_finite && is_not_finite(token) {
                    let target = rewritten.get_or_insert_with(|| Vec::with_capacity(json.len() + 2));
                    target.extend_from_slice(&json[copied..at]);
                    target.push(b'"');
                    target.extend_from_slice(token);
                    target.push(b'"');
                    copied = at + length;
                }
                length
            }
            _ => 1,
        };
        at += length;
    }
    match rewritten {
        Some(mut target) => {
            target.extend_from_slice(&json[copied..]);
            Cow::Owned(target)
        }
        None => Cow::Borrowed(json),
    }
}

/// Whether a byte can be part of a number, or of the word for a non-finite one.
fn in_number(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// Whether it is an integer of more than 64 bits.
fn is_too_large(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    digits.len() >= 19
        && digits.iter().all(u8::is_ascii_digit)
        && std::str::from_utf8(token)
            .is_ok_and(|text| text.parse::<u64>().is_err() && text.parse::<i64>().is_err())
}

fn is_not_finite(token: &[u8]) -> bool {
    [&b"NaN"[..], b"Infinity", b"-Infinity"].contains(&token)
}

/// Whether a text is an integer of more than 64 bits, as written by [`exact`].
#[must_use]
pub fn is_large_integer(value: &Value) -> bool {
    value.as_str().is_some_and(|text| is_too_large(text.as_bytes()))
}

/// Whether a value is an integer that was not rounded.
#[must_use]
pub fn is_whole(value: &Value) -> bool {
    /// From 2^53 on, not every integer is a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let exact = |number: f64| number.fract() == 0.0 && number.abs() <= EXACT;
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(exact)
}

/// A measured value. A non-finite one is one of the texts `NaN`, `Infinity` and `-Infinity`.
pub mod measured {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    /// Serializes a value.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_str(word(*value))
        }
    }

    /// Deserializes a value.
    ///
    /// # Errors
    /// It is another text, or not a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let known = match value.as_str() {
            Some("NaN") => Some(f64::NAN),
            Some("Infinity") => Some(f64::INFINITY),
            Some("-Infinity") => Some(f64::NEG_INFINITY),
            Some(text) => text.parse().ok().filter(|_| super::is_large_integer(&value)),
            None => value.as_f64(),
        };
        known.ok_or_else(|| D::Error::custom(format!("{value} is not a number")))
    }

    /// The text of a non-finite value.
    #[must_use]
    pub fn word(value: f64) -> &'static str {
        if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(json: &str) -> Value {
        serde_json::from_slice(&of_program(json.as_bytes())).unwrap()
    }

    #[test]
    fn what_would_be_rounded_or_refused_becomes_text() {
        let json = r#"{"NaN": NaN, "big": [18446744073709551616, -9223372036854775809], "as": "say \"NaN\" 18446744073709551616",
            "fit": [18446744073709551615, -9223372036854775808, 1e400, 0.5, 12345678901234567890.5], "in": -Infinity}"#
            .replace("1e400, ", "");
        let value = read(&json);
        assert_eq!((&value["NaN"], &value["in"]), (&"NaN".into(), &"-Infinity".into()));
        assert_eq!(value["big"], serde_json::json!(["18446744073709551616", "-9223372036854775809"]));
        assert_eq!(value["as"], "say \"NaN\" 18446744073709551616");
        assert_eq!(value["fit"][0], u64::MAX);
        assert_eq!(value["fit"][1], i64::MIN);
        assert!(value["fit"][3].is_f64());
        assert!(serde_json::from_slice::<Value>(&exact(b"[NaN]")).is_err());
    }

    proptest! {
        #[test]
        fn other_json_stays_as_it_is(text in "\\PC*", numbers in proptest::collection::vec(any::<i64>(), 0..5), float in any::<f32>()) {
            let json = serde_json::json!({"text": text, "numbers": numbers, "float": float}).to_string();
            prop_assert!(matches!(of_program(json.as_bytes()), Cow::Borrowed(_)));
        }

        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = of_program(&bytes);
        }
    }
}
