//! The workers' copy of a template's folder: created once per content, readable by everyone.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cubeloom_files::own;

use crate::error::reason;
use crate::folders::{OPEN, aside, make};

/// Copies the folder `from` to `to`, unless it was copied before. A job without a template's folder needs
/// none.
///
/// # Errors
/// A sentence that names the folder.
pub(crate) fn provide(from: &Path, to: &Path) -> Result<(), String> {
    if from.as_os_str().is_empty() || to.exists() {
        return Ok(());
    }
    let staging = aside(to);
    let _ = own::remove_dir_all(&staging);
    let copied = copy(from, &staging).and_then(|()| match own::rename(&staging, to) {
        Err(_) if to.exists() => own::remove_dir_all(&staging),
        other => other,
    });
    copied.map_err(|error| {
        format!("the template's folder {} cannot be copied: {}", from.display(), reason(&error))
    })
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    make(to, OPEN)?;
    own::set_permissions(to, fs::Permissions::from_mode(OPEN))?;
    for entry in own::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            if entry.file_name() != "__pycache__" {
                copy(&source, &target)?;
            }
        } else {
            own::copy(&source, &target)?;
            let executable = own::metadata(&source)?.permissions().mode() & 0o100 != 0;
            let mode = if executable { 0o755 } else { 0o644 };
            own::set_permissions(&target, fs::Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn tasks_that_start_together_copy_one_folder_together() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("template"), folder.path().join("copy"));
        fs::create_dir(&from).unwrap();
        for file in 0..64 {
            fs::write(from.join(file.to_string()), file.to_string()).unwrap();
        }
        thread::scope(|scope| {
            let copies: Vec<_> = (0..8).map(|_| scope.spawn(|| provide(&from, &to))).collect();
            for copy in copies {
                assert_eq!(copy.join().unwrap(), Ok(()));
            }
        });
        assert_eq!(fs::read_dir(&to).unwrap().count(), 64);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside it");
    }
}
