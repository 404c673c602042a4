//! `cubeloom compile FILE --for slurm`: the scripts for `sbatch`, or, with `--write`, all that lies ready to submit.

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

/// A cluster to compile for.
pub struct Cluster {
    /// What it has, as planning sees it.
    pub facts: Facts,
    slurm: SlurmFacts,
    /// A sentence that says where the facts are from.
    origin: String,
    /// Whether what a script needs is written where the facts say.
    write: bool,
}

/// A script, and how its job is to wait for others: an option of `sbatch` with their ids left open.
struct Ready {
    script: PathBuf,
    after: Option<String>,
}

/// What is ready to submit, and what is not.
#[derive(Default)]
struct Written {
    scripts: Vec<Ready>,
    remarks: Vec<String>,
}

impl Cluster {
    /// From a file, else the cluster that has everything.
    pub fn read(file: Option<&Path>, write: bool) -> anyhow::Result<Self> {
        let (text, name, origin) = match file {
            None if write => {
                return Err(Invalid::error("--write needs --facts, which say where to: see docs/slurm.md"));
            }
            None => {
                let origin =
                    "no --facts were given: assumed is a cluster with types of GPUs, shards and features";
                (FULL_CLUSTER.to_owned(), "the facts of a full cluster".to_owned(), origin.to_owned())
            }
            Some(path) => {
                let name = path.display().to_string();
                let text = fs::read_to_string(path)
                    .map_err(|error| Invalid::error(format!("the facts {name} cannot be read: {error}")))?;
                let origin = format!("the cluster is the one that {name} describes");
                (text, name, origin)
            }
        };
        let (facts, slurm) =
            read_facts(&text).map_err(|why| Invalid::error(format!("{name}: {why}; see docs/slurm.md")))?;
        Ok(Self { facts, slurm, origin, write })
    }

    /// Prints the scripts of a plan's tasks, or writes down what they need and prints where they are.
    ///
    /// # Errors
    /// What the cluster cannot give.
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
                // A reader that has gone away is no error.
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

    /// Only what needs nothing of earlier tasks: the others' programs would be told placeholders.
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
                    let remark = "not written, as it depends on what others report or decide";
                    written.remarks.push(format!("{}: {remark}", preview.task));
                    continue;
                }
            };
            let folder = Path::new(&plan.template_of(task).folder);
            let after = after(plan, task);
            written.remarks.extend(after.as_ref().map(|after| {
                format!(
                    "{}: submitted as it is, it does not wait: fill in the jobs' ids in {after}",
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

/// How a task's jobs wait for those of the tasks before it, where there are some. Slurm takes no ids but numbers: a line that
/// is not filled in is refused.
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

/// What somebody must still do for a job that names secrets.
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
