//! `exit.json`: written whole or not at all, also on a disk that has become full.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cubeloom_domain::failpoint::hit;

use crate::spec::{EXIT, EXIT_TMP, End, ExitRecord};

/// Room for a record, in bytes.
const ROOM: usize = 1024;
/// The longest sentence that fits with everything else.
const LONGEST_MESSAGE: usize = 400;

/// The record's file, its room reserved before the worker starts.
pub(super) struct ExitFile {
    folder: PathBuf,
    file: File,
}

impl ExitFile {
    /// Reserves the room.
    ///
    /// # Errors
    /// The disk is full, or the folder is gone.
    pub(super) fn reserve(folder: &Path) -> io::Result<Self> {
        let path = folder.join(EXIT_TMP);
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(path)?;
        file.write_all(&[b' '; ROOM])?;
        Ok(Self { folder: folder.into(), file })
    }

    /// Writes and publishes it. Tries on while the disk refuses: the server waits for nothing else.
    pub(super) fn write(&self, record: &ExitRecord) {
        let text = text_of(record);
        while let Err(error) = self.try_write(&text) {
            if error.kind() == io::ErrorKind::NotFound {
                return;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    fn try_write(&self, text: &[u8]) -> io::Result<()> {
        self.file.write_all_at(text, 0)?;
        hit("shim.exit.rename.before");
        fs::rename(self.folder.join(EXIT_TMP), self.folder.join(EXIT))?;
        hit("shim.exit.rename.after");
        Ok(())
    }
}

/// The record as JSON, short enough for its room.
fn text_of(record: &ExitRecord) -> Vec<u8> {
    let mut record = record.clone();
    if let End::CouldNotStart { message } = &mut record.end {
        let end = message.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST_MESSAGE).last();
        if message.len() > LONGEST_MESSAGE {
            message.truncate(end.unwrap_or(0));
        }
    }
    serde_json::to_vec(&record).unwrap_or_default()
}
