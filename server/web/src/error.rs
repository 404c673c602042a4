//! Errors: one type, shown as a problem document (RFC 9457) to API clients and as a page to browsers.

use std::error::Error;
use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::{Code, JsonMap, Problem};
use cubeloom_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::said::said;
use crate::texts::{Lang, text_with};

/// Result of handlers.
pub type ApiResult<T> = Result<T, ApiError>;

/// Kind of an error. Its code is the last part of the problem's `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request is malformed.
    Malformed,
    /// A command line gets no token, or not yet. The member `code` says why.
    NotGranted,
    /// No valid session or token.
    NotSignedIn,
    /// The caller lacks the permission.
    Forbidden,
    /// It does not exist, or the caller may not see it.
    NotFound,
    /// The path has no such method.
    NoMethod,
    /// It conflicts with existing data.
    Conflict,
    /// It no longer exists.
    Gone,
    /// Someone else has changed it in the meantime.
    Stale,
    /// The request body arrives too slowly.
    TooSlow,
    /// The body is too large.
    TooLarge,
    /// The body has an unsupported content type.
    UnsupportedType,
    /// The body has invalid values.
    Invalid,
    /// The request lacks the `If-Match` header.
    PreconditionRequired,
    /// Too many requests.
    TooMany,
    /// An internal error of the server.
    Internal,
    /// Something that the server needs is unavailable.
    Unavailable,
}

impl Kind {
    fn parts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::Malformed => (S::BAD_REQUEST, "malformed", "Malformed request"),
            Self::NotGranted => (S::BAD_REQUEST, "not-granted", "Token not granted"),
            Self::NotSignedIn => (S::UNAUTHORIZED, "not-signed-in", "Authentication required"),
            Self::Forbidden => (S::FORBIDDEN, "forbidden", "Permission denied"),
            Self::NotFound => (S::NOT_FOUND, "not-found", "Not found"),
            Self::NoMethod => (S::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed"),
            Self::Conflict => (S::CONFLICT, "conflict", "Conflict with existing data"),
            Self::Gone => (S::GONE, "gone", "No longer exists"),
            Self::Stale => (S::PRECONDITION_FAILED, "stale", "Changed by someone else in the meantime"),
            Self::TooSlow => (S::REQUEST_TIMEOUT, "too-slow", "Request too slow"),
            Self::TooLarge => (S::PAYLOAD_TOO_LARGE, "too-large", "Request too large"),
            Self::UnsupportedType => {
                (S::UNSUPPORTED_MEDIA_TYPE, "unsupported-type", "Unsupported content type")
            }
            Self::Invalid => (S::UNPROCESSABLE_ENTITY, "invalid", "Invalid input"),
            Self::PreconditionRequired => {
                (S::PRECONDITION_REQUIRED, "precondition-required", "If-Match header required")
            }
            Self::TooMany => (S::TOO_MANY_REQUESTS, "too-many", "Too many requests"),
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal", "Internal server error"),
            Self::Unavailable => (S::SERVICE_UNAVAILABLE, "unavailable", "Temporarily unavailable"),
        }
    }

    #[must_use]
    pub fn status(self) -> StatusCode {
        self.parts().0
    }

    /// Code of the kind.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.parts().1
    }
}

#[derive(Clone, Debug)]
pub struct ApiError(Box<Refusal>);

#[derive(Clone, Debug)]
struct Refusal {
    kind: Kind,
    detail: String,
    problems: Vec<Problem>,
    headers: Vec<(HeaderName, HeaderValue)>,
    more: JsonMap,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// A problem document (RFC 9457).
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProblemDocument {
    /// Problem type: `urn:cubeloom:problem:<kind>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Problem kind, in words.
    pub title: String,
    /// HTTP status code.
    pub status: u16,
    /// Explanation of the problem in this request, and how to fix it.
    pub detail: String,
    /// Request id, as in the `x-request-id` header.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub instance: String,
    /// Individual problems in the input.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<ProblemView>,
    /// Additional members of this problem kind, e.g. `difference`.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    pub more: JsonMap,
}

/// A problem in the input.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ProblemView {
    /// Severity: `error` or `warning`.
    pub severity: String,
    /// Problem code. Stable, for use in programs.
    pub code: String,
    /// Location as a JSON pointer (RFC 6901). Empty for the whole input.
    pub path: String,
    /// Message that states the problem and how to fix it.
    pub message: String,
    /// Line in the text, from 1. Omitted if there is no text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// Column in the line, starting at 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u32>,
}

impl ProblemView {
    /// A problem with its message in the reader's language.
    pub(crate) fn told(problem: &Problem, lang: Lang) -> Self {
        let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            severity: word(serde_json::json!(problem.severity)),
            code: word(serde_json::json!(problem.code)),
            path: problem.path.clone(),
            message: said(lang, &problem.message),
            line: problem.line,
            column: problem.column,
        }
    }
}

impl ApiError {
    /// An error of this kind, with a message for the user.
    #[must_use]
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self(Box::new(Refusal {
            kind,
            detail: detail.into(),
            problems: Vec::new(),
            headers: Vec::new(),
            more: JsonMap::new(),
            source: None,
        }))
    }

    /// Not found: `not_found("run", id)`.
    #[must_use]
    pub fn not_found(what: &str, name: impl std::fmt::Display) -> Self {
        Self::new(Kind::NotFound, format!("there is no {what} `{name}` that you can see"))
    }

    /// Permission denied.
    #[must_use]
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(Kind::Forbidden, detail)
    }

    /// Invalid input: problems with their fields.
    #[must_use]
    pub fn invalid(problems: Vec<Problem>) -> Self {
        let mut error = Self::new(Kind::Invalid, summary(&problems, Lang::En));
        error.0.problems = problems;
        error
    }

    /// One problem of one field: `field("/name", "...")`.
    #[must_use]
    pub fn field(path: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![Problem::error(Code::InvalidValue, path, message)])
    }

    /// Conflict with existing data.
    #[must_use]
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, detail)
    }

    /// Changed concurrently. Includes the current ETag.
    #[must_use]
    pub fn stale(what: &str, etag: HeaderValue) -> Self {
        let detail = format!("{what} has changed: read it again, and send its current ETag in If-Match");
        Self::new(Kind::Stale, detail).with_header(header::ETAG, etag)
    }

    /// Method not allowed. The `Allow` header lists the path's methods.
    #[must_use]
    pub fn no_method() -> Self {
        Self::new(
            Kind::NoMethod,
            "this path does not support the method; the header Allow lists the supported ones",
        )
    }

    /// `If-Match` is missing.
    #[must_use]
    pub fn precondition_required() -> Self {
        let detail = "send the ETag that you read in the header If-Match, so that no change is lost";
        Self::new(Kind::PreconditionRequired, detail)
    }

    /// Too many requests. Retry after `after` seconds.
    #[must_use]
    pub fn too_many(detail: impl Into<String>, after: u64) -> Self {
        Self::new(Kind::TooMany, detail).with_header(header::RETRY_AFTER, HeaderValue::from(after))
    }

    /// Internal error. The cause is logged, not returned.
    #[must_use]
    pub fn internal(source: impl Error + Send + Sync + 'static) -> Self {
        let detail = "internal server error; see the server's log for this request id";
        Self::new(Kind::Internal, detail).caused_by(source)
    }

    /// A required component is unavailable.
    #[must_use]
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, detail).with_header(header::RETRY_AFTER, HeaderValue::from(5))
    }

    /// Adds a response header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Adds a member to the problem document.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.more.insert(name.into(), value.into());
        self
    }

    /// Adds a cause for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    #[must_use]
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Message for the user, in their language.
    pub(crate) fn told(&self, lang: Lang) -> String {
        match self.0.problems.as_slice() {
            [] => said(lang, &self.0.detail),
            problems => summary(problems, lang),
        }
    }

    /// The problems, if it lists them.
    pub(crate) fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// The causes as one line for the log.
    #[must_use]
    pub fn chain(&self) -> Option<String> {
        let mut line = String::new();
        let mut next: Option<&dyn Error> = self.0.source.as_deref().map(|source| source as &dyn Error);
        while let Some(source) = next {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&source.to_string());
            next = source.source();
        }
        (!line.is_empty()).then_some(line)
    }

    /// Problem document for a request with this id, in this language.
    pub(crate) fn document(&self, request: &str, lang: Lang) -> ProblemDocument {
        let (status, word, title) = self.0.kind.parts();
        ProblemDocument {
            kind: format!("urn:cubeloom:problem:{word}"),
            title: said(lang, title),
            status: status.as_u16(),
            detail: self.told(lang),
            instance: request.into(),
            problems: self.0.problems.iter().map(|problem| ProblemView::told(problem, lang)).collect(),
            more: self.0.more.clone(),
        }
    }

    pub(crate) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.0.headers
    }
}

/// The first problem, and the number of others.
fn summary(problems: &[Problem], lang: Lang) -> String {
    let told =
        |problem: &Problem| Problem { message: said(lang, &problem.message), ..problem.clone() }.to_string();
    match problems {
        [] => said(lang, "invalid input"),
        [one] => told(one),
        [first, others @ ..] => {
            text_with(lang, "common.and-more", &[("first", told(first)), ("n", others.len().to_string())])
        }
    }
}

/// Stores the error in the response's extensions. `limits::present` turns it into a document or page, as only
/// it knows the request.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.kind().status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchRun(run) => Self::not_found("run", run),
            StoreError::NoSuchProject(project) => Self::not_found("project", project),
            StoreError::ProjectInUse { .. }
            | StoreError::LastOwner(_)
            | StoreError::LastAdministrator
            | StoreError::NameWasUsed(_)
            | StoreError::BudgetSpent { .. }
            | StoreError::PriceExists(_)
            | StoreError::SubjectTaken
            | StoreError::NoPassword
            | StoreError::OwnerGone(_)
            | StoreError::TemplateChanged { .. } => Self::conflict(error.to_string()),
            StoreError::NoAdministrator => Self::forbidden(error.to_string()),
            StoreError::LinkUsed => Self::new(Kind::Gone, error.to_string()),
            StoreError::Database(_) | StoreError::CannotOpen { .. } | StoreError::Locked(_) => {
                Self::unavailable("the database is unreachable; nothing was changed").caused_by(error)
            }
            StoreError::DiskFull(_) | StoreError::ReadOnly(_) => {
                Self::unavailable("the database is not writable; nothing was changed").caused_by(error)
            }
            other => Self::internal(other),
        }
    }
}
