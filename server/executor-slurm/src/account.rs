//! Commands that run as a user's account on behalf of the server. `__slurm-write` unpacks a job bundle.
//! `__slurm-stop` writes stop requests. `__slurm-clean` removes secrets that only a running job may have.

use std::io;
use std::path::Path;

use cubeloom_domain::slurm::files;
use cubeloom_executor_local::afar;
use cubeloom_workers::place::{Guard, Place};

use crate::beneath::Beneath;
use crate::orders::Errand;
use crate::{SlurmError, parcel, say};

/// Creates everything that a job's script needs.
pub(crate) fn write(arguments: &[&str]) -> Result<i32, SlurmError> {
    none(arguments)?;
    parcel::unpack(io::stdin().lock())?;
    Ok(0)
}

/// Writes the stop requests from standard input.
pub(crate) fn stop(arguments: &[&str]) -> Result<i32, SlurmError> {
    // If a batch fails for one attempt, Slurm ends it later.
    each(
        arguments,
        |failed, all| failed == all,
        |errand| {
            let Some(wish) = errand.wish else { return Ok(()) };
            let folder = folder(errand)?;
            let own = rustix::process::geteuid().as_raw();
            let guard = Guard::new(&errand.top, Some(own)).map_err(SlurmError::file(&errand.top))?;
            let place = Place::guarded(guard.into(), &errand.folder);
            let text = serde_json::to_vec(&afar::wished(&place, wish))
                .map_err(|error| SlurmError::form(&errand.folder, error))?;
            folder.put(afar::STOP, &text[..], 0o640)
        },
    )
}

/// Removes secrets from the folders on standard input.
pub(crate) fn clean(arguments: &[&str]) -> Result<i32, SlurmError> {
    // After a failure the server retries each folder alone: the error names the folder.
    each(
        arguments,
        |failed, _| failed > 0,
        |errand| {
            let folder = folder(errand)?;
            folder.remove(files::SECRETS)?;
            folder.remove(files::TOKEN)
        },
    )
}

/// Runs an action for each entry; a failed one does not stop the others. `is_failure` decides how many
/// failures, of how many, fail the call.
fn each(
    arguments: &[&str],
    is_failure: impl Fn(usize, usize) -> bool,
    work: impl Fn(&Errand) -> Result<(), SlurmError>,
) -> Result<i32, SlurmError> {
    none(arguments)?;
    let errands: Vec<Errand> = serde_json::from_reader(io::stdin().lock())
        .map_err(|error| SlurmError::form(Path::new("the standard input"), error))?;
    let failed: Vec<SlurmError> = errands.iter().filter_map(|errand| work(errand).err()).collect();
    failed.iter().for_each(|error| say(&error.sentence()));
    Ok(if !failed.is_empty() && is_failure(failed.len(), errands.len()) { crate::CODE_REFUSED } else { 0 })
}

fn folder(errand: &Errand) -> Result<Beneath, SlurmError> {
    let below = errand.folder.strip_prefix(&errand.top);
    let below = below.map_err(|_| SlurmError::form(&errand.folder, "it is in another folder"))?;
    Beneath::top(&errand.top)?.enter(below)
}

fn none(arguments: &[&str]) -> Result<(), SlurmError> {
    if arguments.is_empty() {
        return Ok(());
    }
    Err(SlurmError::Call("this command takes no arguments: it reads its work from the standard input".into()))
}
