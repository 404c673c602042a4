//! What is told of files.

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

/// Which file.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileQuery {
    /// The path, with `/` between its parts; empty or absent for the folder itself.
    #[serde(default)]
    pub path: String,
}

/// In which order files are listed.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SortQuery {
    /// `name`, `size` or `modified`; with `-` before it the last one comes first. Folders come before files in each.
    pub sort: Option<String>,
}

/// As `sort` says it.
const ORDERS: [(&str, By); 3] = [("name", By::Name), ("size", By::Size), ("modified", By::Modified)];

impl SortQuery {
    /// The order.
    ///
    /// # Errors
    /// When there is none like it.
    pub(crate) fn read(&self) -> ApiResult<Sort<By>> {
        Sort::read(self.sort.as_deref(), &ORDERS)
    }
}

/// Something in a folder.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct EntryView {
    /// Its name.
    pub name: String,
    /// `folder`, `file`, or `other` for what is not opened: devices, pipes, links that lead out.
    #[schema(value_type = String)]
    pub kind: &'static str,
    /// Whether it is a link.
    pub link: bool,
    /// Its length in bytes; 0 of a folder.
    pub size: u64,
    /// When it was last changed.
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

/// What a file looks like, as far as that can be shown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Preview {
    /// The file's name.
    pub name: String,
    /// Its length in bytes.
    pub size: u64,
    /// What it seems to be, e.g. `text/csv`.
    pub media_type: String,
    /// Whether only its beginning is shown.
    pub truncated: bool,
    /// What is shown.
    #[serde(flatten)]
    pub content: Content,
}

/// What is shown of a file.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "shown_as", rename_all = "snake_case")]
pub(crate) enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// JSON, set with one member a line.
    Json {
        /// The text.
        text: String,
    },
    /// A table.
    Table {
        /// The first row.
        columns: Vec<String>,
        /// The other rows.
        rows: Vec<Vec<String>>,
    },
    /// A picture: show the file itself.
    Image,
    /// A page: show the file itself, in a frame with `sandbox`.
    Page,
    /// Nothing that can be shown here: it can be downloaded.
    Nothing,
}

/// One page of a folder's list; an absent folder is an empty one.
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
