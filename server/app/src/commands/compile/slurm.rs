//! `cubeloom compile FILE --for slurm`: the scripts for `sbatch`, or, with `--write`, all files ready for
//! submission.

use std::path::{Path, PathBuf};
use std::{fs, io};

use cubeloom_compiler::lower::slurm::{FULL_CLUSTER, read_facts};
use cubeloom_compiler::preview::{self, Jobs, Tasks};
use cubeloom_domain::Problem;
use cubeloom_domain::executor::Facts;
use cubeloom_domain::pipeline::TriggerRule;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::slurm::{SlurmFacts, SlurmJob, files};
use cubeloom_executor_slurm::submission;
use cubeloom_storage::snapshot::Snapshot;
use serde_json::json;

use crate::exit::Invalid;
use crate::show::{self, Output, Stream};

/// The target cluster.
pub struct Cluster {
    /// Its facts for planning.
    pub facts: Facts,
    slurm: SlurmFacts,
    /// A sentence about the source of the facts.
    origin: String,
    /// Whether to write the files of a script to the paths in the facts.
    write: bool,
}

/// A script, and its job's dependency: an option of `sbatch` with the ids left open.
struct Ready {
    script: PathBuf,
    after: Option<String>,
}

/// The jobs ready for submission, and the others.
#[derive(Default)]
struct Written {
    scripts: Vec<Ready>,
    remarks: Vec<String>,
}

impl Cluster {
    /// From a file, else the cluster with everything installed.
    pub fn read(file: Option<&Path>, write: bool) -> anyhow::Result<Self> {
        let (text, name, origin) = match file {
            None if write => {
                return Err(Invalid::error("--write needs the folders in --facts: see docs/slurm.md"));
            }
            None => {
                let origin = "without --facts, a cluster with GPU types, shards and features is assumed";
                (FULL_CLUSTER.to_owned(), "the facts of a full cluster".to_owned(), origin.to_owned())
            }
            Some(path) => {
                let name = path.display().to_string();
                let text = fs::read_to_string(path)
                    .map_err(|error| Invalid::error(format!("the facts {name} cannot be read: {error}")))?;
                let origin = format!("the cluster is described by {name}");
                (text, name, origin)
            }
        };
        let (facts, slurm) =
            read_facts(&text).map_err(|why| Invalid::error(format!("{name}: {why}; see docs/slurm.md")))?;
        Ok(Self { facts, slurm, origin, write })
    }

    /// Prints the scripts of a plan's tasks, or writes their files and prints the paths.
    ///
    /// # Errors
    /// All requests that the cluster cannot satisfy.
    pub fn print(
        &self,
        plan: &RunPlan,
        code: &Snapshot,
        output: Output,
    ) -> Result<anyhow::Result<()>, Vec<Problem>> {
        let tasks = preview::on_slurm(plan, &self.slurm)?;
        Ok(match output {
            _ if self.write => self.write(plan, &tasks, code).and_then(|written| written.print(output)),
            Output::Json => super::print_json(plan, Some(&self.origin), &tasks),
            Output::Human => {
                // A closed pipe is no error.
                let _ = self.show(plan, &tasks);
                Ok(())
            }
        })
    }

    fn show(&self, plan: &RunPlan, tasks: &Tasks<'_, SlurmJob>) -> io::Result<()> {
        let mut out = Stream::stdout();
        out.push(&super::heading(plan, &self.origin))?;
        for preview in tasks.iter() {
            match preview.jobs {
                Jobs::Later(sentence) => out.push(&format!("\n# {}: {sentence}\n", preview.task))?,
                Jobs::Known(jobs) => jobs.iter().try_for_each(|job| {
                    out.push(&format!("\n# {}/{}\n{}", job.folder, files::SCRIPT, job.script))
                })?,
            }
        }
        out.end()
    }

    /// Only tasks that use no outputs of upstream tasks: other programs would get placeholders.
    fn write(&self, plan: &RunPlan, tasks: &Tasks<'_, SlurmJob>, code: &Snapshot) -> anyhow::Result<Written> {
        let mut written = Written::default();
        let facts = self.slurm.of_project(&plan.context.project);
        if let Some(above) = Path::new(&facts.code_folder(&code.digest)).parent() {
            fs::create_dir_all(above)?;
            code.keep(above)?;
        }
        for (task, preview) in plan.tasks.iter().zip(tasks.iter()) {
            let jobs = match preview.jobs {
                Jobs::Known(jobs) if task.reads.is_empty() => jobs,
                _ => {
                    let remark = "not written: it depends on outputs or decisions of other tasks";
                    written.remarks.push(format!("{}: {remark}", preview.task));
                    continue;
                }
            };
            let folder = Path::new(&plan.template_of(task).folder);
            let after = after(plan, task);
            written.remarks.extend(after.as_ref().map(|after| {
                format!(
                    "{}: submitted unchanged, it does not wait: fill in the job ids in {after}",
                    preview.task
                )
            }));
            for job in jobs.iter() {
                let script = submission::write(&job, Some(folder))?;
                written.scripts.push(Ready { script, after: after.clone() });
                written.remarks.extend(secrets_of(&job));
            }
        }
        Ok(written)
    }
}

/// The dependency of a task's jobs on those of its upstream tasks, if any. Slurm accepts only numeric ids: it
/// refuses a line with an open id.
fn after(plan: &RunPlan, task: &PlannedTask) -> Option<String> {
    let kind = match task.trigger {
        TriggerRule::AllFailed => "afternotok",
        TriggerRule::AllSuccess | TriggerRule::NoneFailed | TriggerRule::NoneFailedMinOneSuccess => "afterok",
        TriggerRule::AllDone | TriggerRule::OneFailed | TriggerRule::OneSuccess => "afterany",
    };
    let ids: Vec<String> =
        task.needs.iter().map(|need| format!("ID-OF-{}", plan.tasks[need.index()].name)).collect();
    (!ids.is_empty()).then(|| format!("--dependency={kind}:{}", ids.join(":")))
}

/// The manual step for a job that uses secrets.
fn secrets_of(job: &SlurmJob) -> Option<String> {
    let mounts = &job.job.workers.first()?.secrets;
    let names: Vec<&str> = mounts.iter().map(|mount| mount.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        let file = files::SECRETS;
        format!("{}: write its secrets to {}/{file}, mode 0600: {}", job.key, job.folder, names.join(", "))
    })
}

impl Written {
    fn print(&self, output: Output) -> anyhow::Result<()> {
        if output == Output::Json {
            let scripts: Vec<&Path> = self.scripts.iter().map(|ready| ready.script.as_path()).collect();
            return show::json(&json!({"scripts": scripts, "remarks": self.remarks}));
        }
        self.remarks.iter().for_each(show::note);
        for Ready { script, after } in &self.scripts {
            let after = after.as_ref().map(|after| format!("{after} ")).unwrap_or_default();
            show::line(format!("sbatch {after}{}", script.display()));
        }
        Ok(())
    }
}
