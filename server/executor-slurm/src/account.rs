//! What the program does as a person's account, for the server: `__slurm-write` unpacks a parcel, `__slurm-stop FOLDER`
//! leaves a wish to stop, `__slurm-clean FOLDER` removes what only a job that runs may have.

use std::io::{self, Read};
use std::path::Path;

use cubeloom_executor_local::afar;

use crate::{SlurmError, parcel};

/// Reads all of the standard input.
fn input() -> Result<Vec<u8>, SlurmError> {
    let mut read = Vec::new();
    io::stdin().lock().read_to_end(&mut read).map_err(SlurmError::file(Path::new("the standard input")))?;
    Ok(read)
}

/// Makes all that a job's script needs.
pub(crate) fn write(arguments: &[&str]) -> Result<i32, SlurmError> {
    if !arguments.is_empty() {
        return Err(SlurmError::Call("a job is written as the standard input says".into()));
    }
    parcel::unpack(&input()?)?;
    Ok(0)
}

/// `FOLDER`: the wish is on the standard input.
pub(crate) fn stop(arguments: &[&str]) -> Result<i32, SlurmError> {
    let folder = folder(arguments)?;
    let wish = serde_json::from_slice(&input()?)
        .map_err(|error| SlurmError::form(Path::new("the standard input"), error))?;
    afar::stop(folder, wish).map_err(SlurmError::file(folder))?;
    Ok(0)
}

/// `FOLDER`.
pub(crate) fn clean(arguments: &[&str]) -> Result<i32, SlurmError> {
    parcel::clean(folder(arguments)?)?;
    Ok(0)
}

fn folder<'a>(arguments: &[&'a str]) -> Result<&'a Path, SlurmError> {
    match *arguments {
        [folder] => Ok(Path::new(folder)),
        _ => Err(SlurmError::Call("it is called with an attempt's folder".into())),
    }
}
