//! Export of the audit log as CSV or JSON lines, read page by page while it is sent.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::identity::AuditEntry;
use cubeloom_store::AuditFilter;
use futures::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{AuditQuery, AuditView};
use crate::accounting::csv;
use crate::audit::{Act, take_out};
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::Time;

/// Entries read at a time.
const PAGE: usize = 500;

/// Output format of the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditFormat {
    /// Pages of JSON.
    Json,
    /// A table of all entries, comma-separated values.
    Csv,
    /// All entries as JSON lines.
    Ndjson,
}

/// Output format of the audit log.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditFormatQuery {
    /// Output format: `json`; or `csv` or `ndjson` for a file with all entries that fit. Files ignore `limit` and
    /// `cursor`. If omitted, the `Accept` header determines the format.
    #[param(inline)]
    pub format: Option<AuditFormat>,
}

impl AuditFormatQuery {
    /// The requested format, from the query or else the `Accept` header.
    pub(super) fn of(&self, headers: &HeaderMap) -> AuditFormat {
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        self.format.unwrap_or_else(|| match accept.trim_start() {
            accept if accept.starts_with("text/csv") => AuditFormat::Csv,
            accept if accept.starts_with("application/x-ndjson") => AuditFormat::Ndjson,
            _ => AuditFormat::Json,
        })
    }
}

/// Exports the requested entries, the newest first. The export itself is audited.
///
/// # Errors
/// None yet: a later error aborts the response, so that a partial export is not mistaken for a complete one.
pub(super) async fn export(
    web: Web,
    caller: &Caller,
    wanted: AuditQuery,
    format: AuditFormat,
) -> ApiResult<Response> {
    let (kind, ending) = match format {
        AuditFormat::Csv => ("text/csv; charset=utf-8", "csv"),
        AuditFormat::Json | AuditFormat::Ndjson => ("application/x-ndjson", "ndjson"),
    };
    let act = Act::of(&web, caller);
    let mut entry = act.entry("audit.export", ending).after(said(&wanted));
    if let Some(project) = &wanted.project {
        entry = entry.project(project);
    }
    take_out(&web, &act, &entry).await;
    let filter = AuditFilter { limit: PAGE, ..AuditFilter::from(wanted) };
    let day: String = Time(web.now()).to_string().chars().take(10).collect();
    let file = format!("attachment; filename=\"audit-{day}.{ending}\"");
    let pieces = stream::unfold(Some((web, filter, true)), move |state| piece(state, format)).fuse();
    let mut response = Body::from_stream(pieces).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(value) = HeaderValue::from_str(&file) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// Position of the export, and whether it is the first chunk.
type State = Option<(Web, AuditFilter, bool)>;

async fn piece(state: State, format: AuditFormat) -> Option<(std::io::Result<Bytes>, State)> {
    let (web, filter, first) = state?;
    let found = match web.store().audit_log(&filter).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "an export of the audit log failed");
            return Some((Err(std::io::Error::other(error)), None));
        }
    };
    let last = found.last().filter(|_| found.len() == PAGE).map(|entry| entry.id.clone());
    let next = last.map(|id| (web, AuditFilter { before: Some(id), ..filter }, false));
    let text = match format {
        AuditFormat::Csv => {
            let head = first.then(|| COLUMNS.map(String::from).to_vec());
            let rows: Vec<_> = head.into_iter().chain(found.into_iter().map(cells)).collect();
            csv::lines(&rows).map_err(std::io::Error::other)
        }
        AuditFormat::Json | AuditFormat::Ndjson => {
            Ok(found.into_iter().map(json_line).collect::<String>().into_bytes())
        }
    };
    Some((text.map(Bytes::from), next))
}

/// An entry as a line of JSON.
pub(crate) fn json_line(entry: AuditEntry) -> String {
    let mut line = serde_json::to_string(&AuditView::from(entry)).unwrap_or_default();
    line.push('\n');
    line
}

const COLUMNS: [&str; 10] =
    ["id", "at", "user", "via", "address", "project", "action", "subject", "before", "after"];

fn cells(entry: AuditEntry) -> Vec<String> {
    let view = AuditView::from(entry);
    let json = |value: Option<Value>| value.map(|value| value.to_string()).unwrap_or_default();
    let (at, project) = (view.at.to_string(), view.project.unwrap_or_default());
    let (before, after) = (json(view.before), json(view.after));
    vec![view.id, at, view.user, view.via, view.address, project, view.action, view.subject, before, after]
}

/// Requested filters, for the audit entry.
fn said(wanted: &AuditQuery) -> Value {
    let texts = [
        ("project", wanted.project.clone()),
        ("user", wanted.user.clone()),
        ("action", wanted.action.clone()),
        ("subject", wanted.subject.clone()),
        ("text", wanted.text.clone()),
        ("since", wanted.since.map(|time| time.to_string())),
        ("until", wanted.until.map(|time| time.to_string())),
    ];
    let said =
        texts.into_iter().filter_map(|(name, text)| Some((name, text.filter(|text| !text.is_empty())?)));
    said.fold(json!({}), |mut all, (name, text)| {
        all[name] = text.into();
        all
    })
}
