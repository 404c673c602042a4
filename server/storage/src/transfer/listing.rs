//! Expands the user's sources (a file, a folder, a pattern) to files.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use futures::TryStreamExt;
use opendal::ErrorKind;

use super::error::TransferError;
use super::glob;
use super::location::{Location, StorePath, check_name};
use super::stores::Stores;

/// Name suffix of the transfer's own files, which are never copied.
pub(crate) const PART_SUFFIX: &str = ".cubeloom-part";
pub(crate) const RECORD_NAME: &str = ".cubeloom-transfer.jsonl";

/// Whether a file's name is one that transfers use for unfinished files or records. In a copied folder, such
/// a file could overwrite the partial file of another.
fn is_own(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    name == RECORD_NAME || (name.starts_with('.') && name.contains(PART_SUFFIX))
}

/// Maximum attempts per page of a listing before the whole listing starts over.
const PAGE_ATTEMPTS: u32 = 3;

/// One file to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub location: Location,
    /// Its name below the target folder, with slashes.
    pub name: String,
    /// Bytes, if the listing reports them.
    pub size: Option<u64>,
}

impl Found {
    /// Whether Hadoop programs ignore it: a component of its name begins with `_` or `.`.
    pub fn is_hidden(&self) -> bool {
        self.name.split('/').any(|part| part.starts_with(['_', '.']))
    }
}

/// The files of one source, by name.
#[derive(Debug)]
pub struct Listing {
    pub files: Vec<Found>,
    /// False if the source is one file by its own address: then the target may be a file, too.
    pub many: bool,
}

/// Lists `location`. A pattern without a match is an error, an empty local folder is not.
pub async fn expand(stores: &Stores, location: &Location) -> Result<Listing, TransferError> {
    match location {
        Location::Local(path) => {
            let path = path.clone();
            super::blocking(move || expand_local(&path)).await
        }
        Location::Http(_) if location.is_folder() => Err(TransferError::bad_url(
            location,
            "a web server cannot be listed; write the files, or use a manifest",
        )),
        Location::Http(_) => single(location),
        Location::Store(store) => expand_store(stores, location, store).await,
    }
}

fn single(location: &Location) -> Result<Listing, TransferError> {
    let found = Found { location: location.clone(), name: location.file_name()?, size: None };
    Ok(Listing { files: vec![found], many: false })
}

fn expand_local(path: &Path) -> Result<Listing, TransferError> {
    let found = std::fs::metadata(path);
    let shown = path.to_str().ok_or_else(|| not_text(path))?;
    match found {
        Ok(meta) if meta.is_dir() => Ok(Listing { files: walk(path, |_| true)?, many: true }),
        Ok(_) => single(&Location::Local(path.to_owned())),
        Err(_) if glob::is_pattern(shown) => {
            let (folder, pattern) = glob::split(shown);
            let files = walk(Path::new(folder), |name| glob::matches(pattern, name))?;
            some(Listing { files, many: true }, shown)
        }
        Err(error) => Err(TransferError::io(path, 0, error)),
    }
}

fn some(listing: Listing, url: &str) -> Result<Listing, TransferError> {
    if listing.files.is_empty() {
        return Err(TransferError::NoMatch { url: url.to_owned() });
    }
    Ok(listing)
}

fn not_text(path: &Path) -> TransferError {
    TransferError::bad_url(path.display(), "the name is not UTF-8; rename the file")
}

fn walk(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<Found>, TransferError> {
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new(), Vec::new())];
    while let Some((path, prefix, mut above)) = open.pop() {
        let fault = |error| TransferError::io(&path, 0, error);
        let meta = std::fs::metadata(&path).map_err(fault)?;
        let here = (meta.dev(), meta.ino());
        if above.contains(&here) {
            continue; // A symlink to an ancestor: its content is copied already.
        }
        above.push(here);
        for entry in std::fs::read_dir(&path).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let name = entry.file_name().into_string().map_err(|_| not_text(&entry.path()))?;
            if is_own(&name) {
                continue;
            }
            let name = format!("{prefix}{name}");
            let meta = std::fs::metadata(entry.path())
                .map_err(|error| TransferError::io(&entry.path(), 0, error))?;
            if meta.is_dir() {
                open.push((entry.path(), format!("{name}/"), above.clone()));
            } else if wanted(&name) {
                files.push(Found { location: Location::Local(entry.path()), name, size: Some(meta.len()) });
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

async fn expand_store(
    stores: &Stores,
    location: &Location,
    store: &StorePath,
) -> Result<Listing, TransferError> {
    if glob::is_pattern(&store.path) {
        let (folder, pattern) = glob::split(&store.path);
        let wanted = |name: &str| glob::matches(pattern, name);
        // Object stores list by any prefix of the key: `logs/2026-*` does not read all of `logs/`.
        let start = if store.kind.is_object_store() { glob::literal(&store.path) } else { folder };
        let files = list(stores, store, start, folder, wanted).await?;
        return some(Listing { files, many: true }, &location.to_string());
    }
    if !location.is_folder() {
        return single(location);
    }
    let files = list(stores, store, &store.path, &store.path, |_| true).await?;
    if files.is_empty() && !is_there(stores, store, location).await? {
        return Err(TransferError::Missing { url: location.to_string() });
    }
    Ok(Listing { files, many: true })
}

/// Whether a folder without files exists. Object stores have no folders, only keys.
async fn is_there(stores: &Stores, store: &StorePath, location: &Location) -> Result<bool, TransferError> {
    if store.kind.is_object_store() {
        return Ok(false);
    }
    let found = stores.reading(store).await?.stat(&store.path).await;
    match found {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(TransferError::store(&location.to_string(), store.kind.credential_names(), &error)),
    }
}

/// Files whose key begins with `start`, which begins with `folder`; their names are relative to `folder`.
async fn list(
    stores: &Stores,
    store: &StorePath,
    start: &str,
    folder: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Found>, TransferError> {
    let url = Location::Store(store.clone()).to_string();
    let fault = |error| TransferError::store(&url, store.kind.credential_names(), &error);
    let operator = stores.reading(store).await?.layer(super::retry::layer(PAGE_ATTEMPTS));
    let mut entries = operator.lister_with(start).recursive(true).await.map_err(fault)?;
    let mut files = Vec::new();
    while let Some(entry) = entries.try_next().await.map_err(fault)? {
        let path = entry.path();
        let Some(name) = path.strip_prefix(folder).filter(|name| !name.is_empty() && !path.ends_with('/'))
        else {
            continue; // The folder itself, or its marker object.
        };
        if wanted(name) && !is_own(name) {
            files.push(found(store, path, name, entry.metadata().content_length())?);
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Keys can be arbitrary: refuse one that would be read or written elsewhere.
fn found(store: &StorePath, path: &str, name: &str, size: u64) -> Result<Found, TransferError> {
    let location = Location::Store(StorePath { path: path.to_owned(), ..store.clone() });
    check_name(name)
        .map_err(|_| TransferError::bad_url(&location, "this key cannot be a file name; exclude it"))?;
    if path.trim() != path {
        return Err(TransferError::bad_url(
            &location,
            "a key that begins or ends with a space cannot be read",
        ));
    }
    Ok(Found { location, name: name.to_owned(), size: Some(size) })
}

/// The parent folder of a target file, which contains the record of copied files.
pub(crate) fn parent(path: &Path) -> PathBuf {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .map_or_else(|| PathBuf::from("."), Path::to_owned)
}
