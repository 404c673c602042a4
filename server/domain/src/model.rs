//! The registry of models: what a program says of a model that it made, and what is kept of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonMap;
use crate::clock::Timestamp;
use crate::ids::{AttemptKey, is_label};

/// The longest text of a field, in bytes.
const LONGEST_TEXT: usize = 4096;
/// The longest path, in bytes: it is part of a key, which databases bound.
const LONGEST_PATH: usize = 1024;
/// Metrics, parameters and data of one version, at most.
const MOST: usize = 200;
/// All that is said of one version, in bytes.
const LARGEST: usize = 64 << 10;

/// What a program says of a model that it made, as a line in `CUBELOOM_OUTPUTS`. It becomes a version when the attempt has
/// succeeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedModel {
    /// The model's name: lower-case letters, digits and `-`.
    pub name: String,
    /// The folder that it lies in, below the project's workspace.
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
    /// What people should know about it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub description: String,
    /// The alias that this version gets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alias: Option<String>,
}

impl ReportedModel {
    /// What is wrong with it, as a clause.
    ///
    /// # Errors
    /// The first thing that is.
    pub fn check(&self) -> Result<(), &'static str> {
        if !is_label(&self.name) {
            return Err("its name is no DNS label: lower-case letters, digits and `-`, at most 63");
        }
        if self.alias.as_deref().is_some_and(|alias| !is_alias(alias)) {
            return Err(NO_ALIAS);
        }
        if !is_below(&self.path) {
            return Err("its path does not lie below the workspace");
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
            return Err("what is said of it is larger than 64 KiB");
        }
        Ok(())
    }
}

/// What an alias may be like, for people.
pub const NO_ALIAS: &str = "an alias is lower-case letters, digits and `-`, at most 63, with a letter first";

/// Whether something may be an alias: it is never taken for a version's number.
#[must_use]
pub fn is_alias(text: &str) -> bool {
    is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether a path is relative and leads nowhere else.
fn is_below(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains('\0')
}

/// A model that an attempt made: a version, but for its number, which the database gives.
#[derive(Clone, Debug, PartialEq)]
pub struct NewModelVersion {
    /// Project.
    pub project: String,
    /// What the program said.
    pub reported: ReportedModel,
    /// Where it comes from.
    pub origin: Origin,
    /// Registration time.
    pub created_at: Timestamp,
}

/// Where a version comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The attempt that made it.
    pub attempt: AttemptKey,
    /// The pipeline of its run.
    pub pipeline: String,
    /// The pipeline's version, when it is a stored one.
    pub pipeline_version: Option<u32>,
    /// The digest of the pipeline's folder, when it has one.
    pub code: Option<String>,
    /// User who started the run or last resumed it.
    pub user: String,
}

/// A version of a model; it never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelVersion {
    /// Version number, starting at 1. A number is never reused, even after its version is deleted.
    pub version: u32,
    /// The rest.
    pub made: NewModelVersion,
}

/// A model, without its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Project.
    pub project: String,
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Version that each alias refers to.
    pub aliases: BTreeMap<String, u32>,
    /// Creation time.
    pub created_at: Timestamp,
    /// When its last version was registered, or it was changed.
    pub updated_at: Timestamp,
    /// Revision number, incremented on each change.
    pub revision: u64,
}

/// A version that an argument asks for: `digits`, `digits@production` or `digits/3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted<'t> {
    /// Model.
    pub model: &'t str,
    /// Which of its versions.
    pub which: Which<'t>,
}

/// Which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'t> {
    /// The newest.
    Newest,
    /// The one that an alias stands for.
    Alias(&'t str),
    /// This one.
    Version(u32),
}

impl<'t> Wanted<'t> {
    /// Reads an argument. `None`: it is a path.
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

/// The versions of a model that plans may use, by number, each with its path below the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usable {
    /// Version that each alias refers to.
    pub aliases: BTreeMap<String, u32>,
    /// Where each version lies.
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
