//! A folder as a compressed archive.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::{BrowseError, By, Folder, Kind, Order, clean};

/// Directory entries per page.
const PAGE: usize = 1000;

/// Writes the folder at `path` recursively as a gzipped tar. Skips symlinks, special files and unreadable
/// entries. Blocking; memory use does not depend on the folder's size.
///
/// # Errors
/// The folder does not exist, or `out` returns an error.
pub fn archive(folder: &Folder, path: &str, out: impl Write) -> Result<(), BrowseError> {
    let path = clean(path)?;
    let root = folder.sub(&path)?;
    let failed = BrowseError::of_io(&path);
    let mut builder = Builder::new(GzEncoder::new(out, Compression::fast()));
    let mut open = vec![String::new()];
    while let Some(place) = open.pop() {
        let mut after = None;
        loop {
            // A folder that was removed meanwhile counts as empty.
            let page = root.list(&place, Order::default(), after.as_ref(), PAGE).unwrap_or_default();
            for entry in page.iter().filter(|entry| !entry.link) {
                let inside =
                    if place.is_empty() { entry.name.clone() } else { format!("{place}/{}", entry.name) };
                match entry.kind {
                    Kind::Folder => {
                        add_folder(&mut builder, &inside).map_err(&failed)?;
                        open.push(inside);
                    }
                    Kind::File => add_file(&mut builder, &root, &inside).map_err(&failed)?,
                    Kind::Other => {}
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.place(By::Name)),
                _ => break,
            }
        }
    }
    builder.into_inner().and_then(GzEncoder::finish).and_then(|mut out| out.flush()).map_err(failed)
}

fn add_folder(builder: &mut Builder<impl Write>, path: &str) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Directory);
    header.set_mode(0o755);
    header.set_size(0);
    builder.append_data(&mut header, format!("{path}/"), io::empty())
}

fn add_file(builder: &mut Builder<impl Write>, root: &Folder, path: &str) -> io::Result<()> {
    let Ok(opened) = root.file(path) else { return Ok(()) };
    let mut header = Header::new_gnu();
    header.set_mode(0o644);
    header.set_mtime(u64::try_from(opened.modified_us / 1_000_000).unwrap_or(0));
    header.set_size(opened.size);
    // The header has fixed this length: truncate a file that grew, and pad one that shrank.
    let content = opened.file.chain(io::repeat(0)).take(opened.size);
    builder.append_data(&mut header, path, content)
}
