//! User interface texts in English and Chinese: `texts/<area>.json`, shared with the scripts.

#![allow(clippy::disallowed_methods, reason = "rust-embed reads our own files")]

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Display;
use std::sync::LazyLock;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use axum_extra::extract::CookieJar;
use rust_embed::RustEmbed;
use serde::{Deserialize, Serialize};

/// A language of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    #[default]
    En,
    Zh,
}

impl Lang {
    /// Value of HTML's `lang`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Name of the language in itself.
    #[must_use]
    pub fn own_name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "中文",
        }
    }

    /// The first supported language in a cookie or `Accept-Language`.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        text.split(',').find_map(|part| {
            let part = part.trim().to_ascii_lowercase();
            if part.starts_with("zh") {
                Some(Self::Zh)
            } else if part.starts_with("en") {
                Some(Self::En)
            } else {
                None
            }
        })
    }
}

/// The reader's language: chosen on a page, else that of the request.
impl<S: Sync> FromRequestParts<S> for Lang {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let chosen =
            CookieJar::from_headers(&parts.headers).get("lang").map(|cookie| cookie.value().to_owned());
        let accepted = parts.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let lang = chosen.or_else(|| accepted.map(Into::into)).and_then(|text| Self::of(&text));
        Ok(lang.unwrap_or_default())
    }
}

#[derive(RustEmbed)]
#[folder = "../../texts"]
struct Files;

static TEXTS: LazyLock<HashMap<String, [String; 2]>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    // Subfolders contain messages, not texts.
    for name in Files::iter().filter(|name| !name.contains('/')) {
        let Some(file) = Files::get(&name) else { continue };
        let area = name.trim_end_matches(".json");
        // A test reads every file. Skip unreadable ones here.
        let texts: HashMap<String, [String; 2]> = serde_json::from_slice(&file.data).unwrap_or_default();
        all.extend(texts.into_iter().map(|(key, both)| (format!("{area}.{key}"), both)));
    }
    all
});

/// Text of a key, `<area>.<key>`. The key itself if it is unknown.
#[must_use]
pub fn text(lang: Lang, key: &str) -> &str {
    let index = match lang {
        Lang::En => 0,
        Lang::Zh => 1,
    };
    TEXTS.get(key).map_or(key, |both| both[index].as_str())
}

/// The same with `{name}` replaced by values, and `{name|one|many}` by the plural form for the value.
#[must_use]
pub fn text_with<V: Display>(lang: Lang, key: &str, values: &[(&str, V)]) -> String {
    filled(text(lang, key), values)
}

/// Fills values into a text.
pub(crate) fn filled<V: Display>(text: &str, values: &[(&str, V)]) -> String {
    let (mut found, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('{') {
        found.push_str(before);
        let Some((place, behind)) = after.split_once('}') else { break };
        let mut parts = place.split('|');
        let name = parts.next().unwrap_or_default();
        let value = values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        match (value, parts.next(), parts.next()) {
            (Some(value), Some(one), Some(many)) => found.push_str(if value == "1" { one } else { many }),
            (Some(value), ..) => found.push_str(&value),
            (None, ..) => found.push_str(&rest[before.len()..=before.len() + 1 + place.len()]),
        }
        rest = behind;
    }
    found.push_str(rest);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        let of = |n: u32| {
            filled("{n} {n|error|errors} in {file}, {other}", &[("n", n.to_string()), ("file", "a}b".into())])
        };
        assert_eq!(of(1), "1 error in a}b, {other}");
        assert_eq!(of(0), "0 errors in a}b, {other}");
        assert_eq!(of(21), "21 errors in a}b, {other}");
    }
}
