//! Views of files.

use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_storage::browse::{By, Entry, Folder, Kind, Order, Place};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::blocking;
use crate::error::ApiResult;
use crate::page::{Page, PageQuery};
use crate::sort::Sort;
use crate::time::Time;

/// Path of a file.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileQuery {
    /// Path, separated by `/`. Empty or omitted for the folder itself.
    #[serde(default)]
    pub path: String,
}

/// Sort order of files.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SortQuery {
    /// Sort order: `name`, `size` or `modified`. Prefix with `-` for descending order. Folders always come before
    /// files.
    pub sort: Option<String>,
}

/// Values of `sort`.
const ORDERS: [(&str, By); 3] = [("name", By::Name), ("size", By::Size), ("modified", By::Modified)];

impl SortQuery {
    /// The sort order.
    ///
    /// # Errors
    /// The order is unknown.
    pub(crate) fn read(&self) -> ApiResult<Sort<By>> {
        Sort::read(self.sort.as_deref(), &ORDERS)
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct EntryView {
    /// Name.
    pub name: String,
    /// Entry kind: `folder`, `file`, or `other` for entries that cannot be opened: devices, pipes, links that lead
    /// outside.
    #[schema(value_type = String)]
    pub kind: &'static str,
    /// Whether it is a symbolic link.
    pub link: bool,
    /// Size, in bytes; 0 for a folder.
    pub size: u64,
    /// Time of the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Time>,
}

impl From<Entry> for EntryView {
    fn from(entry: Entry) -> Self {
        Self {
            name: entry.name,
            kind: match entry.kind {
                Kind::Folder => "folder",
                Kind::File => "file",
                Kind::Other => "other",
            },
            link: entry.link,
            size: entry.size,
            modified_at: entry.modified_us.map(|at| Time(Timestamp(at))),
        }
    }
}

/// Preview of a file, as far as it can be displayed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Preview {
    /// File name.
    pub name: String,
    /// Size, in bytes.
    pub size: u64,
    /// Detected media type, e.g. `text/csv`.
    pub media_type: String,
    /// Whether only the beginning of the file is shown.
    pub truncated: bool,
    /// Preview content.
    #[serde(flatten)]
    pub content: Content,
}

/// Preview content of a file.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "shown_as", rename_all = "snake_case")]
pub(crate) enum Content {
    /// Text.
    Text {
        /// Text.
        text: String,
    },
    /// JSON, formatted with one member per line.
    Json {
        /// Text.
        text: String,
    },
    /// A table.
    Table {
        /// First row.
        columns: Vec<String>,
        /// Other rows.
        rows: Vec<Vec<String>>,
    },
    /// Picture. Display the file itself.
    Image,
    /// Page. Display the file itself, in a frame with `sandbox`.
    Page,
    /// No preview is available. The file can be downloaded.
    Nothing,
}

/// One page of a folder. A missing folder is empty.
pub(crate) async fn list(
    folder: Option<Arc<Folder>>,
    path: &str,
    sort: &Sort<By>,
    page: &PageQuery,
) -> ApiResult<Page<EntryView>> {
    let (limit, word, by) = (page.limit()?, sort.word(), sort.by);
    let order = Order { by, descending: sort.descending };
    let after = page.place::<(bool, i64, String)>(&word)?;
    let after = after.map(|(file, value, name)| Place { file, value, name });
    let path = path.to_owned();
    let found = blocking(move || match folder {
        Some(folder) => folder.list(&path, order, after.as_ref(), limit + 1),
        None => Ok(Vec::new()),
    })
    .await?;
    let place = |entry: &Entry| {
        let Place { file, value, name } = entry.place(by);
        (file, value, name)
    };
    Ok(Page::sorted(found, limit, &word, place).map(EntryView::from))
}
