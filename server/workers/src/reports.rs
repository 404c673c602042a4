//! Reports of running workers so far. Reading resumes where the last reader stopped, because users repeatedly
//! look at the same attempt while its files grow.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cubeloom_domain::executor::Report;

use crate::place::Place;
use crate::{logs, outputs};

/// Limits of the cache: total bytes of the files, and number of files.
const KEPT: u64 = 32 << 20;
const FILES: usize = 256;

/// Recently read files, most recent last.
#[derive(Default)]
pub struct Reports(Mutex<Vec<Known>>);

/// A file, as far as it was read.
struct Known {
    path: PathBuf,
    read: u64,
    report: Arc<Report>,
}

impl Reports {
    /// What a worker has reported so far. A file that does not exist yet is empty.
    pub fn read(&self, outputs: impl Into<Place>) -> io::Result<Arc<Report>> {
        let place = outputs::readable(outputs);
        let mut known = self.take(place.path());
        known.read_on(&place)?;
        let report = Arc::clone(&known.report);
        self.put(known);
        Ok(report)
    }

    fn take(&self, path: &Path) -> Known {
        let mut all = self.lock();
        match all.iter().position(|known| known.path == path) {
            Some(at) => all.remove(at),
            None => Known { path: path.into(), read: 0, report: Arc::default() },
        }
    }

    fn put(&self, known: Known) {
        let mut all = self.lock();
        // Another reader may have read the same file meanwhile.
        all.retain(|other| other.path != known.path);
        all.push(known);
        let mut bytes: u64 = all.iter().map(|known| known.read).sum();
        while all.len() > FILES || (bytes > KEPT && all.len() > 1) {
            bytes -= all.remove(0).read;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Adds new complete lines.
    fn read_on(&mut self, place: &Place) -> io::Result<()> {
        let length = logs::len(place)?.min(outputs::MOST as u64);
        if length < self.read {
            (self.read, self.report) = (0, Arc::default());
        }
        if length == self.read {
            return Ok(());
        }
        let piece = logs::range(place, self.read, usize::try_from(length - self.read).unwrap_or(0))?;
        let whole = piece.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let known = std::mem::take(&mut self.report);
        let mut report = Arc::try_unwrap(known).unwrap_or_else(|shared| Report::clone(&shared));
        outputs::add(&mut report, "", &piece.bytes[..whole]);
        // They are reported at the end, for complete files.
        report.warnings.clear();
        self.report = Arc::new(report);
        self.read += whole as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_is_read_on_where_it_was_read_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("outputs.jsonl");
        let reports = Reports::default();
        assert_eq!(reports.read(&path).unwrap().metrics.len(), 0);
        let line = |n: u32| format!("{{\"metric\": {{\"name\": \"loss\", \"value\": {n}}}}}\n");
        std::fs::write(&path, line(1) + &line(2)[..10]).unwrap();
        let first = reports.read(&path).unwrap();
        assert_eq!(first.metrics.len(), 1);
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all((line(2)[10..].to_owned() + &line(3)).as_bytes()).unwrap();
        let values: Vec<f64> =
            reports.read(&path).unwrap().metrics.iter().map(|metric| metric.value).collect();
        assert_eq!(values, [1.0, 2.0, 3.0]);
        assert_eq!(first.metrics.len(), 1, "what was handed out stays as it was");
        std::fs::write(&path, line(9)).unwrap();
        assert_eq!(reports.read(&path).unwrap().metrics.len(), 1, "a file that is another is read anew");
    }

    #[test]
    fn little_is_kept_of_many_files() {
        let folder = tempfile::tempdir().unwrap();
        let reports = Reports::default();
        for n in 0..FILES + 20 {
            reports.read(folder.path().join(n.to_string())).unwrap();
        }
        assert_eq!(reports.lock().len(), FILES);
    }

    #[test]
    fn a_masked_copy_is_read_instead() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("outputs.jsonl");
        std::fs::write(&path, "{\"output\": {\"said\": \"tops3cret\"}}\n").unwrap();
        std::fs::write(outputs::masked(&path), "{\"output\": {\"said\": \"***\"}}\n").unwrap();
        assert_eq!(Reports::default().read(&path).unwrap().outputs["said"], "***");
    }
}
