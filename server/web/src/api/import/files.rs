//! Files to import: parts of a form, as sent by a browser or `curl -F`, or texts in a JSON document.

use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use cubeloom_compiler::import::cube_studio::MAX_BYTES;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::Json;

/// Maximum size of the body, in bytes: both files, and the overhead of the form or JSON.
pub(super) const BODY: usize = 2 * MAX_BYTES + (1 << 20);
/// Maximum size of a part that is not a file, in bytes.
const WORD: usize = 1024;

/// Files of another platform.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FilesToImport {
    /// Source platform. Defaults to `cube-studio`.
    #[serde(default)]
    pub from: Option<String>,
    /// Text of a JSON file of pipelines or job templates.
    pub file: String,
    /// Text of a file of the job templates that the pipelines use.
    #[serde(default)]
    pub templates: Option<String>,
    /// Name of the pipeline, if the file contains one.
    #[serde(default)]
    pub name: Option<String>,
}

impl<S: Send + Sync> FromRequest<S> for FilesToImport {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("multipart/form-data")) {
            let Json(sent) = Json::from_request(request, state).await?;
            return Ok(sent);
        }
        let form = Multipart::from_request(request, state).await;
        read(form.map_err(|error| ApiError::new(Kind::Malformed, error.body_text()))?).await
    }
}

/// Reads the parts of a form.
async fn read(mut form: Multipart) -> ApiResult<FilesToImport> {
    let (mut from, mut file, mut templates, mut name) = (None, None, None, None);
    while let Some(part) = form.next_field().await.map_err(|error| unreadable(&error))? {
        let called = part.name().unwrap_or_default().to_owned();
        let (place, most) = match called.as_str() {
            "from" => (&mut from, WORD),
            "file" => (&mut file, MAX_BYTES),
            "templates" => (&mut templates, MAX_BYTES),
            "name" => (&mut name, WORD),
            _ => {
                let message =
                    format!("the part `{called}` is unknown: send `file`, `templates`, `name` or `from`");
                return Err(ApiError::field("", message));
            }
        };
        let text = text(part, &called, most).await?;
        if place.replace(text).is_some() {
            return Err(ApiError::field(&format!("/{called}"), format!("the part `{called}` is sent twice")));
        }
    }
    // Browsers send empty form fields as empty parts.
    let said = |part: Option<String>| part.filter(|text| !text.is_empty());
    let file = said(file).ok_or_else(|| {
        ApiError::field("/file", "the part `file` is missing or empty: send the file that was exported")
    })?;
    Ok(FilesToImport { from: said(from), file, templates: said(templates), name: said(name) })
}

/// Reads the text of a part.
async fn text(mut part: Field<'_>, called: &str, most: usize) -> ApiResult<String> {
    let mut bytes = Vec::new();
    while let Some(piece) = part.chunk().await.map_err(|error| unreadable(&error))? {
        if bytes.len() + piece.len() > most {
            let detail = format!("the part `{called}` has more than {most} bytes, the maximum");
            return Err(ApiError::new(Kind::TooLarge, detail));
        }
        bytes.extend_from_slice(&piece);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("the part `{called}` is not UTF-8, from byte {at} on");
        ApiError::field(&format!("/{called}"), message)
    })
}

fn unreadable(error: &MultipartError) -> ApiError {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(Kind::TooLarge, "the body exceeds the size limit"),
        _ => ApiError::new(Kind::Malformed, format!("the form cannot be read: {}", error.body_text())),
    }
}
