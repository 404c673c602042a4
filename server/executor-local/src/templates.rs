//! The workers' copy of a template's folder: made once for each content, readable by everybody.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::reason;
use crate::folders::{OPEN, make};

/// Copies the folder `from` to `to`, unless it was copied before. A job without a template's folder needs none.
///
/// # Errors
/// A sentence that names the folder.
pub(crate) fn provide(from: &Path, to: &Path) -> Result<(), String> {
    if from.as_os_str().is_empty() || to.exists() {
        return Ok(());
    }
    let staging = to.with_extension(format!("new-{}", std::process::id()));
    let _ = fs::remove_dir_all(&staging);
    let copied = copy(from, &staging).and_then(|()| match fs::rename(&staging, to) {
        Err(_) if to.exists() => fs::remove_dir_all(&staging),
        other => other,
    });
    copied.map_err(|error| {
        format!("the template's folder {} cannot be copied: {}", from.display(), reason(&error))
    })
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    make(to, OPEN)?;
    fs::set_permissions(to, fs::Permissions::from_mode(OPEN))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            if entry.file_name() != "__pycache__" {
                copy(&source, &target)?;
            }
        } else {
            fs::copy(&source, &target)?;
            let executable = fs::metadata(&source)?.permissions().mode() & 0o100 != 0;
            let mode = if executable { 0o755 } else { 0o644 };
            fs::set_permissions(&target, fs::Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}
