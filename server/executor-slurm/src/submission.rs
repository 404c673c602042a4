//! Files that must exist before a job's script is submitted: the attempt's folder with the script and the
//! processes, the template's copy, the pipeline's code.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use cubeloom_domain::slurm::{SlurmJob, files};
use cubeloom_executor_local::alone::provide_template;
use cubeloom_files::own;

use crate::SlurmError;

/// Writes a job's files. `template` is its template's folder, `None` if it needs none. Returns the script's
/// path.
///
/// # Errors
/// A file exists, so the attempt was submitted before, or it cannot be written.
pub fn write(job: &SlurmJob, template: Option<&Path>) -> Result<PathBuf, SlurmError> {
    let folder = Path::new(&job.folder);
    if let Some(from) = template
        && let Some(to) = job.job.workers.first().and_then(|worker| worker.env.get("CUBELOOM_TEMPLATE_DIR"))
    {
        provide_template(from, Path::new(to)).map_err(SlurmError::Copy)?;
    }
    // No access for other users of the shared file system.
    own::create_dir_with(DirBuilder::new().recursive(true).mode(0o750), folder)
        .map_err(SlurmError::file(folder))?;
    if let Some(pulled) = job.pulled.as_ref().map(Path::new) {
        own::create_dir_with(DirBuilder::new().recursive(true).mode(0o750), pulled)
            .map_err(SlurmError::file(pulled))?;
    }
    let processes = folder.join(files::JOB);
    let text = serde_json::to_vec_pretty(&job.job).map_err(|error| SlurmError::form(&processes, error))?;
    new(&processes, &text, 0o640)?;
    let script = folder.join(files::SCRIPT);
    new(&script, job.script.as_bytes(), 0o750)?;
    Ok(script)
}

fn new(path: &Path, content: &[u8], mode: u32) -> Result<(), SlurmError> {
    let made = own::open_with(OpenOptions::new().write(true).create_new(true).mode(mode), path);
    made.and_then(|mut file| file.write_all(content)).map_err(SlurmError::file(path))
}
