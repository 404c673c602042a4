//! One worker on a node: determines its rank, fills in the open values, and becomes the worker's shim.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use cubeloom_domain::job::DEFAULT_GRACE;
use cubeloom_domain::lowered::LocalJob;
use cubeloom_domain::slurm::files;
use cubeloom_executor_local::alone::Alone;
use cubeloom_files::own;

use crate::SlurmError;
use crate::fill::fill;
use crate::places::Places;

/// Slurm's variable with a process's task number in its step.
const TASK: &str = "SLURM_PROCID";
/// Slurm's variable with the task's GPUs.
const CARDS: &str = "CUDA_VISIBLE_DEVICES";

/// `FOLDER FIRST_RANK`: runs the worker to its end. Returns the exit code.
pub(crate) fn run(arguments: &[&str], variable: impl Fn(&str) -> Option<String>) -> Result<i32, SlurmError> {
    let &[folder, first] = arguments else {
        return Err(SlurmError::Call(
            "__slurm-worker needs the attempt's folder and the step's first rank as arguments".into(),
        ));
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let task = variable(TASK).as_deref().and_then(number);
    let Some((first, task)) = number(first).zip(task) else {
        return Err(SlurmError::Call(format!(
            "the rank is not a number: {first} and {TASK}, which srun sets"
        )));
    };
    let folder = Path::new(folder);
    let path = folder.join(files::JOB);
    let job = read_job(folder)?;
    let cards = variable(CARDS).unwrap_or_default();
    let image = read(folder, files::IMAGE)?.unwrap_or_default();
    let job = fill(&job, &Places::read(folder)?, &cards, image.trim_end())
        .map_err(|why| SlurmError::form(&path, why))?;
    let rank = first.saturating_add(task);
    let Some(worker) = job.workers.get(rank as usize) else {
        return Err(SlurmError::Call(format!("the job has no worker of rank {rank}")));
    };
    let token = folder.join(files::TOKEN);
    let alone = Alone {
        job: &job,
        worker,
        folder,
        token: &own::read_to_string(&token).map_err(SlurmError::file(&token))?,
        secrets: secrets(folder)?,
        grace: DEFAULT_GRACE,
    };
    Ok(alone.run())
}

/// The processes of an attempt.
pub(crate) fn read_job(folder: &Path) -> Result<LocalJob, SlurmError> {
    let path = folder.join(files::JOB);
    let text = own::read(&path).map_err(SlurmError::file(&path))?;
    serde_json::from_slice(&text).map_err(|error| SlurmError::form(&path, error))
}

/// The values of the job's secrets, if any.
fn secrets(folder: &Path) -> Result<BTreeMap<String, String>, SlurmError> {
    let Some(text) = read(folder, files::SECRETS)? else { return Ok(BTreeMap::new()) };
    serde_json::from_str(&text).map_err(|error| SlurmError::form(&folder.join(files::SECRETS), error))
}

/// A file of the attempt, if it exists.
fn read(folder: &Path, name: &str) -> Result<Option<String>, SlurmError> {
    let path = folder.join(name);
    match own::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SlurmError::file(&path)(error)),
    }
}
