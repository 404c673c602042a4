//! An administrator's settings of a Slurm cluster.

use serde::{Deserialize, Serialize};

use super::{SlurmFacts, SlurmWay, is_word};

/// An administrator's settings of a Slurm cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmSettings {
    /// Its facts. `{project}` is replaced by a project's name.
    pub facts: SlurmFacts,
    /// The accounts that its jobs run as.
    #[serde(default)]
    pub way: SlurmWay,
    /// How quotas are mirrored as its accounts. `None` if they are not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mirror: Option<SlurmMirror>,
}

/// How quotas are mirrored as accounts and qualities of service of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmMirror {
    /// Prefix of Cubeloom's own entries: no others are modified.
    #[serde(default = "usual_prefix")]
    pub prefix: String,
}

fn usual_prefix() -> String {
    "cl-".into()
}

impl SlurmSettings {
    /// Problems, one sentence each that begins with the field.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let facts = self.facts.mistakes().into_iter().map(|mistake| format!("facts.{mistake}"));
        let way = self.way.mistakes().into_iter().map(|mistake| format!("way.{mistake}"));
        let is_prefix = |mirror: &&SlurmMirror| {
            mirror.prefix.len() > 1
                && is_word(&mirror.prefix)
                && !mirror.prefix.contains(|letter: char| letter.is_ascii_uppercase())
        };
        let mirror = self.mirror.iter().filter(|mirror| !is_prefix(mirror)).map(|_| {
            "mirror.prefix: write at least two lower-case letters, digits or `._-+`, without `-` at the beginning"
                .to_owned()
        });
        facts.chain(way).chain(mirror).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mirrored_has_names_of_its_own() {
        let facts = SlurmFacts {
            workspace: "/w".into(),
            templates: "/t".into(),
            program: "/p".into(),
            ..SlurmFacts::default()
        };
        let of = |prefix: &str| SlurmSettings {
            facts: facts.clone(),
            way: SlurmWay::default(),
            mirror: Some(SlurmMirror { prefix: prefix.into() }),
        };
        assert_eq!(of("cl-").mistakes(), Vec::<String>::new());
        for wrong in ["", "c", "-c", "Cl-", "a b"] {
            assert!(of(wrong).mistakes()[0].starts_with("mirror.prefix: "), "{wrong}");
        }
        let read: SlurmMirror = serde_json::from_str("{}").unwrap();
        assert_eq!(read.prefix, "cl-");
    }
}
