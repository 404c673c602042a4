//! Task templates installed as documents: validated, stored once, never changed. Their programs are in images
//! or commands. A template with files needs a folder.

use cubeloom_compiler::{check_template, parse_template};
use cubeloom_domain::template::{InstalledTemplate, TemplateSet};
use cubeloom_domain::{Code, Problem, Severity};
use cubeloom_storage::snapshot::text_digest;
use cubeloom_store::{StoreError, Stored};
use serde_json::json;

use crate::audit::Act;

/// Variable with the template's folder.
const FOLDER: &str = "CUBELOOM_TEMPLATE_DIR";

/// What has this name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The same document.
    Same,
    /// Another template.
    Other,
}

impl Taken {
    /// Code of the variant.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Other => "other",
        }
    }
}

/// Whether a template's name is taken, and by what.
#[must_use]
pub fn taken(set: &TemplateSet, name: &str, document: &str) -> Option<Taken> {
    let digest = text_digest(document);
    let same = set.get(name)?.values().any(|installed| installed.digest == digest);
    Some(if same { Taken::Same } else { Taken::Other })
}

/// Parses a document as a template to install.
///
/// # Errors
/// All problems.
pub fn read(document: &str) -> Result<InstalledTemplate, Vec<Problem>> {
    let template = parse_template(document)?;
    let mut problems = check_template(&template);
    if document.contains(FOLDER) {
        let message = format!(
            "the template uses {FOLDER}, but a template installed as a document has no folder: install it with its \
             folder, or put its program into its image or command"
        );
        problems.push(Problem::error(Code::InvalidValue, "", message));
    }
    problems.retain(|problem| problem.severity == Severity::Error);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(InstalledTemplate { template, digest: text_digest(document), folder: String::new() })
}

/// Stores a template, unless it is stored already.
///
/// # Errors
/// [`StoreError::TemplateChanged`] if the version exists with other content.
pub async fn install(act: &Act<'_>, installed: &InstalledTemplate) -> Result<Stored, StoreError> {
    let template = &installed.template;
    let entry =
        act.entry("template.install", format!("{}@{}", template.name, template.version)).after(json!({
            "digest": installed.digest,
            "image": template.image,
            "command": template.command,
        }));
    act.store.install_template(installed, act.now, &entry).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const DOCUMENT: &str = "apiVersion: cubeloom/v1\nkind: TaskTemplate\nname: say\nversion: \"1.0.0\"\ngroup: basics\n\
                            label: {en: Say, zh: 说}\nhelp: {en: Says it, zh: 说出来}\nframework: single\n\
                            parameters: {type: object, additionalProperties: false, properties: {}}\n\
                            roles: [{name: worker, replicas: 1}]\ncommand: [echo, hello]\n";

    #[test]
    fn a_document_without_a_folder_can_be_installed() {
        let installed = read(DOCUMENT).unwrap();
        assert_eq!((installed.template.name.as_str(), installed.folder.as_str()), ("say", ""));
        let wrong = DOCUMENT.replace("hello", "$(CUBELOOM_TEMPLATE_DIR)/main.py");
        assert!(read(&wrong).unwrap_err()[0].message.contains("has no folder"));
        assert_eq!(read(&DOCUMENT.replace("1.0.0", "one")).unwrap_err()[0].path, "/version");
    }

    #[test]
    fn a_name_is_taken_by_the_same_or_by_another() {
        let installed = read(DOCUMENT).unwrap();
        let set = TemplateSet::from([("say".into(), BTreeMap::from([("1.0.0".into(), installed)]))]);
        assert_eq!(taken(&set, "say", DOCUMENT), Some(Taken::Same));
        assert_eq!(taken(&set, "say", "another"), Some(Taken::Other));
        assert_eq!(taken(&set, "sing", DOCUMENT), None);
    }
}
