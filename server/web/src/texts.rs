//! What people read, in English and Chinese: `texts/<area>.json`, shared with the scripts.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::LazyLock;

use rust_embed::RustEmbed;
use serde::{Deserialize, Serialize};

/// A language of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Lang {
    /// As HTML's `lang` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// What its readers call it.
    #[must_use]
    pub fn own_name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "中文",
        }
    }

    /// The language that a cookie or an `Accept-Language` names first.
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

#[derive(RustEmbed)]
#[folder = "../../texts"]
struct Files;

static TEXTS: LazyLock<HashMap<String, [String; 2]>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for name in Files::iter() {
        let Some(file) = Files::get(&name) else { continue };
        let area = name.trim_end_matches(".json");
        // A test reads every file; one that cannot be read has no texts here.
        let texts: HashMap<String, [String; 2]> = serde_json::from_slice(&file.data).unwrap_or_default();
        all.extend(texts.into_iter().map(|(key, both)| (format!("{area}.{key}"), both)));
    }
    all
});

/// The text of a key, `<area>.<key>`; the key itself when there is none.
#[must_use]
pub fn text(lang: Lang, key: &str) -> &str {
    let index = match lang {
        Lang::En => 0,
        Lang::Zh => 1,
    };
    TEXTS.get(key).map_or(key, |both| both[index].as_str())
}

/// The same, with `{name}` replaced by values.
#[must_use]
pub fn text_with<V: Display>(lang: Lang, key: &str, values: &[(&str, V)]) -> String {
    let mut found = text(lang, key).to_owned();
    for (name, value) in values {
        found = found.replace(&format!("{{{name}}}"), &value.to_string());
    }
    found
}
