//! View of an import's result.

use cubeloom_compiler::import::{DocumentKind, Imported, ImportedDocument};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiResult;
use crate::runs::describe;
use crate::said::said;
use crate::state::Web;
use crate::templates::{self, Taken};
use crate::texts::Lang;

/// Result of the import. Nothing is stored.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportView {
    /// Created documents.
    pub documents: Vec<ImportedView>,
    /// Values that could not be converted unchanged.
    pub report: Vec<ImportLine>,
}

/// Created document.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportedView {
    /// Kind of the document: `pipeline` or `task_template`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// YAML document.
    pub document: String,
    /// Report messages about it.
    pub notes: Vec<String>,
    /// Existing document with the same name: `same` if it is identical, `other` if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
}

/// Result for one value of the files.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportLine {
    /// Result: `changed`, `left_out`, or `problem` (action required).
    pub fate: String,
    /// Location of the value, as a JSON pointer. In the second file, it is prefixed with `templates:`.
    pub path: String,
    /// Message.
    pub message: String,
}

/// The documents with conflicting names, and the report in the reader's language.
pub(super) async fn view(web: &Web, project: &str, made: Imported, lang: Lang) -> ApiResult<ImportView> {
    let mut documents = Vec::with_capacity(made.documents.len());
    for one in made.documents {
        let taken = taken(web, project, &one).await?.map(Taken::as_str);
        documents.push(ImportedView {
            kind: describe::word(&one.kind),
            notes: one.notes.iter().map(|note| said(lang, note)).collect(),
            name: one.name,
            document: one.document,
            taken: taken.map(ToOwned::to_owned),
        });
    }
    let report = made.report.into_iter().map(|line| ImportLine {
        fate: describe::word(&line.fate),
        path: line.path,
        message: said(lang, &line.message),
    });
    Ok(ImportView { documents, report: report.collect() })
}

/// What already has the name of a document.
async fn taken(web: &Web, project: &str, one: &ImportedDocument) -> ApiResult<Option<Taken>> {
    if one.kind == DocumentKind::TaskTemplate {
        return Ok(templates::taken(&web.templates(), &one.name, &one.document));
    }
    let present = web.store().newest(project, &one.name).await?;
    Ok(present.map(|present| if present.document == one.document { Taken::Same } else { Taken::Other }))
}
