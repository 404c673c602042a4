//! What became of files that were imported, as the API tells it.

use cubeloom_compiler::import::{DocumentKind, Imported, ImportedDocument};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiResult;
use crate::runs::describe;
use crate::said::said;
use crate::state::Web;
use crate::templates::{self, Taken};
use crate::texts::Lang;

/// What became of the files. Nothing is stored.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportView {
    /// The documents that were made.
    pub documents: Vec<ImportedView>,
    /// What could not be carried over as it was.
    pub report: Vec<ImportLine>,
}

/// A document that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportedView {
    /// `pipeline` or `task_template`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its text, YAML.
    pub document: String,
    /// The report's sentences about it.
    pub notes: Vec<String>,
    /// What has its name already: `same` when it is this very document, `other` when it is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
}

/// What became of one value of the files.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportLine {
    /// `changed`, `left_out`, or `problem`: somebody has to do something.
    pub fate: String,
    /// Where it stands: a JSON pointer, in the second file with `templates:` before it.
    pub path: String,
    /// A sentence.
    pub message: String,
}

/// The documents with what has their names, and the report in the reader's language.
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

/// What has the name of a document already.
async fn taken(web: &Web, project: &str, one: &ImportedDocument) -> ApiResult<Option<Taken>> {
    if one.kind == DocumentKind::TaskTemplate {
        return Ok(templates::taken(&web.templates(), &one.name, &one.document));
    }
    let present = web.store().newest(project, &one.name).await?;
    Ok(present.map(|present| if present.document == one.document { Taken::Same } else { Taken::Other }))
}
