//! The model registry: what a program reports of a model that it produced, and what is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonMap;
use crate::clock::Timestamp;
use crate::ids::{AttemptKey, is_label};

/// Maximum length of a text field, in bytes.
const LONGEST_TEXT: usize = 4096;
/// Maximum length of a path, in bytes: it is part of a key, which databases limit.
const LONGEST_PATH: usize = 1024;
/// Maximum number of metrics, parameters and data of one version.
const MOST: usize = 200;
/// Maximum size of one version's metadata, in bytes.
const LARGEST: usize = 64 << 10;

/// A model that a program reports, as a line in `CUBELOOM_OUTPUTS`. It becomes a version once the attempt has
/// succeeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedModel {
    /// The model's name: lower-case letters, digits and `-`.
    pub name: String,
    /// Its folder, below the project's workspace.
    pub path: String,
    /// File format: `onnx`, `pytorch`, ...
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub format: Option<String>,
    /// Digest of the content, such as `sha256:...`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
    /// Size, in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// Quality metrics.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub metrics: BTreeMap<String, f64>,
    /// Training parameters.
    #[serde(skip_serializing_if = "JsonMap::is_empty", default)]
    pub parameters: JsonMap,
    /// Training data: paths, URLs, digests.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub data: Vec<String>,
    /// Description for users.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub description: String,
    /// The alias to assign to this version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alias: Option<String>,
}

impl ReportedModel {
    /// Validates it.
    ///
    /// # Errors
    /// The first problem, as a clause.
    pub fn check(&self) -> Result<(), &'static str> {
        if !is_label(&self.name) {
            return Err("its name is not a DNS label: use lower-case letters, digits and `-`, at most 63");
        }
        if self.alias.as_deref().is_some_and(|alias| !is_alias(alias)) {
            return Err(NO_ALIAS);
        }
        if !is_below(&self.path) {
            return Err("its path is not below the workspace");
        }
        if self.path.len() > LONGEST_PATH {
            return Err("its path is longer than 1024 bytes");
        }
        let texts =
            [self.format.as_deref(), self.digest.as_deref(), Some(&self.path), Some(&self.description)];
        let mut texts = texts.into_iter().flatten().chain(self.data.iter().map(String::as_str));
        if texts.any(|text| text.len() > LONGEST_TEXT) {
            return Err("one of its texts is longer than 4096 bytes");
        }
        if self.metrics.len().max(self.parameters.len()).max(self.data.len()) > MOST {
            return Err("it has more than 200 metrics, parameters or data");
        }
        if serde_json::to_vec(self).map_or(usize::MAX, |text| text.len()) > LARGEST {
            return Err("its description is larger than 64 KiB");
        }
        Ok(())
    }
}

/// The rules for an alias, for users.
pub const NO_ALIAS: &str = "an alias is lower-case letters, digits and `-`, at most 63, with a letter first";

/// Whether a text is a valid alias: it cannot be confused with a version number.
#[must_use]
pub fn is_alias(text: &str) -> bool {
    is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether a path is relative and stays below its base.
fn is_below(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains('\0')
}

/// A model that an attempt produced: a version without its number, which the database assigns.
#[derive(Clone, Debug, PartialEq)]
pub struct NewModelVersion {
    pub project: String,
    /// The program's report.
    pub reported: ReportedModel,
    /// Its provenance.
    pub origin: Origin,
    pub created_at: Timestamp,
}

/// Provenance of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The attempt that produced it.
    pub attempt: AttemptKey,
    /// The pipeline of its run.
    pub pipeline: String,
    /// The pipeline's version, if it is stored.
    pub pipeline_version: Option<u32>,
    /// The digest of the pipeline's folder, if it has one.
    pub code: Option<String>,
    /// User who started the run or last resumed it.
    pub user: String,
}

/// An immutable version of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelVersion {
    /// Version number, starting at 1. A number is never reused, even after its version is deleted.
    pub version: u32,
    pub made: NewModelVersion,
}

/// A model, without its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub project: String,
    pub name: String,
    pub description: String,
    /// Version that each alias refers to.
    pub aliases: BTreeMap<String, u32>,
    pub created_at: Timestamp,
    /// When its last version was registered, or it was last changed.
    pub updated_at: Timestamp,
    /// Revision number, incremented on each change.
    pub revision: u64,
}

/// A model reference in an argument: `digits`, `digits@production` or `digits/3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted<'t> {
    pub model: &'t str,
    pub which: Which<'t>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'t> {
    Newest,
    /// The one that an alias refers to.
    Alias(&'t str),
    Version(u32),
}

impl<'t> Wanted<'t> {
    /// Parses an argument. `None` means that it is a path.
    #[must_use]
    pub fn read(text: &'t str) -> Option<Self> {
        let wanted = if let Some((model, alias)) = text.split_once('@') {
            Self { model, which: Which::Alias(alias) }
        } else if let Some((model, version)) = text.split_once('/') {
            Self { model, which: Which::Version(version.parse().ok()?) }
        } else {
            Self { model: text, which: Which::Newest }
        };
        let which_is_right = match wanted.which {
            Which::Alias(alias) => is_alias(alias),
            Which::Newest | Which::Version(_) => true,
        };
        (is_label(wanted.model) && which_is_right).then_some(wanted)
    }
}

/// The versions of a model that plans may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usable {
    /// Version that each alias refers to.
    pub aliases: BTreeMap<String, u32>,
    /// Path of each version, below the workspace.
    pub paths: BTreeMap<u32, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_from_paths() {
        let wanted = |text| Wanted::read(text).map(|wanted| (wanted.model, wanted.which));
        assert_eq!(wanted("digits"), Some(("digits", Which::Newest)));
        assert_eq!(wanted("digits@production"), Some(("digits", Which::Alias("production"))));
        assert_eq!(wanted("digits/12"), Some(("digits", Which::Version(12))));
        for path in
            ["digits/model", "models/digits/x", "/models", "digits.onnx", "Digits", "digits@", "digits@1", ""]
        {
            assert_eq!(wanted(path), None, "{path}");
        }
    }

    #[test]
    fn what_a_program_says_is_checked() {
        let right =
            ReportedModel { name: "digits".into(), path: "models/digits/1".into(), ..Default::default() };
        assert_eq!(right.check(), Ok(()));
        for name in ["", "Digits", "-a", "a-", "a b", &"a".repeat(64)] {
            assert!(ReportedModel { name: name.into(), ..right.clone() }.check().is_err(), "{name}");
        }
        for path in ["", "/etc", "models/../../x", "a//b", "./a", "a/"] {
            assert!(ReportedModel { path: path.into(), ..right.clone() }.check().is_err(), "{path}");
        }
        assert!(ReportedModel { path: "x".repeat(1025), ..right.clone() }.check().is_err());
        let parameters = [("all".to_owned(), "x".repeat(70_000).into())].into_iter().collect();
        assert!(ReportedModel { parameters, ..right.clone() }.check().is_err());
        assert!(ReportedModel { alias: Some("1".into()), ..right.clone() }.check().is_err());
        assert!(ReportedModel { description: "x".repeat(5000), ..right }.check().is_err());
    }
}
