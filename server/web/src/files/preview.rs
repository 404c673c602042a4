//! File previews: text, JSON and tables. Browsers render images and pages themselves.

use std::io::Read;
use std::sync::Arc;

use cubeloom_storage::browse::{BrowseError, Folder, OpenFile};

use super::view::{Content, Preview};
use super::{blocking, serve};
use crate::error::ApiResult;

/// Maximum bytes of a file read for its preview.
pub(super) const MOST: u64 = 256 << 10;
/// Maximum rows and columns of a table.
const ROWS: usize = 200;
const COLUMNS: usize = 60;
/// Maximum length of a cell, in characters.
const CELL: usize = 300;

/// Preview of a file.
///
/// # Errors
/// The path is not a file.
pub(crate) async fn preview(folder: Arc<Folder>, path: &str) -> ApiResult<Preview> {
    let path = path.to_owned();
    blocking(move || {
        let opened = folder.file(&path)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        of_file(name, opened).map_err(|source| BrowseError::Io { path: path.clone(), source })
    })
    .await
}

fn of_file(name: &str, opened: OpenFile) -> std::io::Result<Preview> {
    let media_type = serve::media_type(name);
    let mut bytes = Vec::new();
    if !is_shown_by_browser(&media_type) {
        opened.file.take(MOST).read_to_end(&mut bytes)?;
    }
    Ok(of_bytes(name, opened.size, bytes))
}

/// Preview of a file from its first bytes.
pub(crate) fn of_bytes(name: &str, size: u64, bytes: Vec<u8>) -> Preview {
    let media_type = serve::media_type(name);
    let truncated = size > bytes.len() as u64 && !is_shown_by_browser(&media_type);
    let (content, cut) = content(&media_type, bytes, truncated);
    Preview { name: name.into(), size, truncated: cut, media_type, content }
}

fn is_shown_by_browser(media_type: &str) -> bool {
    media_type.starts_with("image/") || media_type == "text/html"
}

/// The preview, and whether it is incomplete.
fn content(media_type: &str, bytes: Vec<u8>, truncated: bool) -> (Content, bool) {
    match media_type {
        "text/html" => return (Content::Page, false),
        image if image.starts_with("image/") => return (Content::Image, false),
        _ => {}
    }
    let Some(text) = text(bytes, truncated) else { return (Content::Nothing, false) };
    match media_type {
        "text/csv" | "text/tab-separated-values" => table(&text, media_type, truncated),
        json if !truncated && (json == "application/json" || json.ends_with("+json")) => {
            let pretty = serde_json::from_str::<serde_json::Value>(&text)
                .and_then(|value| serde_json::to_string_pretty(&value));
            match pretty {
                Ok(text) => (Content::Json { text }, false),
                Err(_) => (Content::Text { text }, false),
            }
        }
        _ => (Content::Text { text }, truncated),
    }
}

/// The bytes as text, if they are. Drops a character that is cut at the end.
fn text(mut bytes: Vec<u8>, truncated: bool) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    if truncated {
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        };
        bytes.truncate(whole);
    }
    String::from_utf8(bytes).ok()
}

fn table(text: &str, media_type: &str, truncated: bool) -> (Content, bool) {
    let delimiter = if media_type == "text/csv" { b',' } else { b'\t' };
    // The last line may be cut.
    let whole = if truncated { text.rsplit_once('\n').map_or(text, |(whole, _)| whole) } else { text };
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(whole.as_bytes());
    let cells = |record: &csv::StringRecord| -> Vec<String> {
        record.iter().take(COLUMNS).map(|cell| cell.chars().take(CELL).collect()).collect()
    };
    let columns = reader.headers().map(cells).unwrap_or_default();
    let mut rows: Vec<Vec<String>> =
        reader.records().map_while(Result::ok).take(ROWS + 1).map(|record| cells(&record)).collect();
    let cut = truncated || rows.len() > ROWS;
    rows.truncate(ROWS);
    (Content::Table { columns, rows }, cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, text: &[u8], size: u64) -> Preview {
        of_bytes(name, size, text.to_vec())
    }

    #[test]
    fn tables_are_read_by_columns() {
        let preview = shown("a.csv", b"x,\"y, z\"\n1,2\n3,4,5\n", 19);
        let Content::Table { columns, rows } = preview.content else { panic!("no table") };
        assert_eq!(columns, ["x", "y, z"]);
        assert_eq!(rows, [vec!["1", "2"], vec!["3", "4", "5"]]);
        assert!(!preview.truncated);
    }

    #[test]
    fn the_cut_last_line_of_a_long_table_is_left_out() {
        let preview = shown("a.csv", b"x,y\n1,2\n3,", 1000);
        let Content::Table { rows, .. } = preview.content else { panic!("no table") };
        assert_eq!((rows.len(), preview.truncated), (1, true));
    }

    #[test]
    fn json_is_set_and_what_is_not_json_is_text() {
        assert!(
            matches!(shown("a.json", b"{\"a\":1}", 7).content, Content::Json { text } if text == "{\n  \"a\": 1\n}")
        );
        assert!(matches!(shown("a.json", b"{\"a\":", 5).content, Content::Text { .. }));
    }

    #[test]
    fn bytes_are_not_shown_as_text() {
        assert!(matches!(shown("a.txt", b"a\0b", 3).content, Content::Nothing));
        assert!(matches!(shown("model.bin", &[0xff, 0xfe, 0x01], 3).content, Content::Nothing));
        assert!(matches!(shown("a.log", "日".as_bytes(), 3).content, Content::Text { .. }));
        // A character cut by the limit.
        assert!(
            matches!(shown("a.log", &"日".as_bytes()[..2], 3).content, Content::Text { text } if text.is_empty())
        );
    }
}
