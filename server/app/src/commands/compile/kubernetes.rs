//! `cubeloom compile FILE --for kubernetes`: the manifests as YAML, with each job's decisions as comments.

use std::path::Path;
use std::{fs, io};

use cubeloom_compiler::lower::kubernetes::{FULL_CLUSTER, read_facts};
use cubeloom_compiler::preview::{self, Jobs, Tasks};
use cubeloom_compiler::yaml;
use cubeloom_domain::Problem;
use cubeloom_domain::executor::Facts;
use cubeloom_domain::kubernetes::{KubernetesFacts, KubernetesJob};
use cubeloom_domain::plan::RunPlan;

use crate::exit::Invalid;
use crate::show::{Output, Stream};

/// The target cluster.
pub struct Cluster {
    /// Its facts for planning.
    pub facts: Facts,
    kubernetes: KubernetesFacts,
    /// A sentence about the source of the facts.
    origin: String,
}

impl Cluster {
    /// From a file, else the cluster with everything installed.
    pub fn read(file: Option<&Path>) -> anyhow::Result<Self> {
        let (text, name, origin) = match file {
            None => {
                let origin = "without --facts, a cluster with every operator, Volcano and HAMi is assumed";
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
        let (facts, kubernetes) = read_facts(&text)
            .map_err(|why| Invalid::error(format!("{name}: {why}; see docs/kubernetes.md")))?;
        Ok(Self { facts, kubernetes, origin })
    }

    /// Prints the manifests of a plan's tasks.
    ///
    /// # Errors
    /// All requests that the cluster cannot satisfy.
    pub fn print(&self, plan: &RunPlan, output: Output) -> Result<anyhow::Result<()>, Vec<Problem>> {
        let tasks = preview::on_kubernetes(plan, &self.kubernetes)?;
        Ok(match output {
            Output::Json => super::print_json(plan, Some(&self.origin), &tasks),
            Output::Human => {
                // A closed pipe is no error.
                let _ = self.show(plan, &tasks);
                Ok(())
            }
        })
    }

    /// One YAML document per manifest. The decisions are a comment before the manifests of their job.
    fn show(&self, plan: &RunPlan, tasks: &Tasks<'_, KubernetesJob>) -> io::Result<()> {
        let mut out = Stream::stdout();
        out.push(&super::heading(plan, &self.origin))?;
        for preview in tasks.iter() {
            match preview.jobs {
                Jobs::Later(sentence) => out.push(&format!("---\n# {}: {sentence}\n", preview.task))?,
                Jobs::Known(jobs) => jobs.iter().try_for_each(|job| out.push(&text_of(&job)))?,
            }
        }
        out.end()
    }
}

fn text_of(job: &KubernetesJob) -> String {
    let mut text = String::new();
    let mut comment = format!("# {}\n", job.key);
    for decision in &job.decisions {
        // A line break would end the comment.
        comment.push_str(&format!("# - {}\n", decision.replace('\n', " ")));
    }
    for object in &job.objects {
        text.push_str("---\n");
        text.push_str(&std::mem::take(&mut comment));
        text.push_str(&yaml::write(object));
    }
    text
}
