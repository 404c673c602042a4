//! The worker's record: `started`, which becomes `exit.json`. Writes are atomic even on a full disk, because
//! the space for the end is allocated before the worker starts.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cubeloom_domain::failpoint::hit;
use cubeloom_files::own;
use cubeloom_workers::ends::End;

use crate::spec::{EXIT, ExitRecord, STARTED, Started};

/// Allocated size of a record, in bytes.
const ROOM: usize = 1536;
/// Maximum length of a message that fits with everything else.
const LONGEST_MESSAGE: usize = 600;

pub(crate) struct RecordFile {
    folder: PathBuf,
    file: File,
}

impl RecordFile {
    /// Records that the worker starts.
    ///
    /// # Errors
    /// It was started before, the disk is full, or the folder is gone.
    pub(crate) fn create(folder: &Path, started: &Started) -> io::Result<Self> {
        let path = folder.join(STARTED);
        let text = padded(serde_json::to_vec(started)?);
        let mut file = own::open_with(OpenOptions::new().write(true).create_new(true).mode(0o640), &path)?;
        match file.write_all(&text) {
            Ok(()) => Ok(Self { folder: folder.into(), file }),
            Err(error) => {
                // The disk is full: nothing has run yet, so remove the mark.
                let _ = own::remove_file(&path);
                Err(error)
            }
        }
    }

    /// Records how it ended. Retries while the disk refuses: the server waits for nothing else.
    pub(crate) fn write(&self, record: &ExitRecord) {
        let text = padded(text_of(record));
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
        own::rename(self.folder.join(STARTED), self.folder.join(EXIT))?;
        hit("shim.exit.rename.after");
        Ok(())
    }
}

/// Pads with spaces, so that a later text fits and covers it.
fn padded(mut text: Vec<u8>) -> Vec<u8> {
    text.resize(text.len().max(ROOM), b' ');
    text
}

/// The record as JSON, short enough for the allocated size.
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
