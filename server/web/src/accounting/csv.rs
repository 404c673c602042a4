//! CSV files. User-provided text never becomes a spreadsheet formula.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult};

/// Output format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableFormat {
    /// JSON.
    Json,
    /// A table, comma-separated values.
    Csv,
}

/// Whether CSV is requested, by the query or else the `Accept` header.
pub(crate) fn wanted(format: Option<TableFormat>, headers: &HeaderMap) -> bool {
    let accepts = || headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    format.map_or_else(|| accepts().trim_start().starts_with("text/csv"), |format| format == TableFormat::Csv)
}

/// A table as a file with this name.
///
/// # Errors
/// Serialization fails, which is not expected.
pub(crate) fn file(name: &str, head: &[&str], rows: Vec<Vec<String>>) -> ApiResult<Response> {
    let bytes = table(head, rows).map_err(ApiError::internal)?;
    let disposition =
        HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).map_err(ApiError::internal)?;
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, disposition)], bytes).into_response())
}

fn table(head: &[&str], rows: Vec<Vec<String>>) -> Result<Vec<u8>, csv::Error> {
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    lines(&rows)
}

/// Serializes rows (RFC 4180).
///
/// # Errors
/// Serialization fails, which is not expected.
pub(crate) fn lines(rows: &[Vec<String>]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row.iter().map(|cell| harmless(cell)))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// Escapes text that a spreadsheet would run as a formula with a leading quote.
fn harmless(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    if !is_number && cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        format!("'{cell}")
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_formulas() {
        let rows = vec![
            vec!["=HYPERLINK(\"http://x\")".to_owned(), "-1.5".to_owned()],
            vec!["a,\"b\"".to_owned(), "@x".to_owned()],
            vec!["-x".to_owned(), "\t=1".to_owned()],
        ];
        let text = String::from_utf8(table(&["name", "hours"], rows).unwrap()).unwrap();
        assert_eq!(
            text,
            "name,hours\r\n\"'=HYPERLINK(\"\"http://x\"\")\",-1.5\r\n\"a,\"\"b\"\"\",'@x\r\n'-x,'\t=1\r\n"
        );
    }

    #[test]
    fn a_table_is_wanted_by_the_query_or_by_the_header() {
        let mut headers = HeaderMap::new();
        assert!(!wanted(None, &headers));
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/csv, */*;q=0.1"));
        assert!(wanted(None, &headers) && !wanted(Some(TableFormat::Json), &headers));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        assert!(!wanted(None, &headers) && wanted(Some(TableFormat::Csv), &headers));
    }
}
