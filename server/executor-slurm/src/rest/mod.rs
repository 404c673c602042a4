//! slurmrestd: the same questions as Slurm's commands answer, and jobs, over HTTP. It believes a token that is signed for one
//! account and lives for a minute, so that nobody is become; slurmctld checks it with the same key, and then what that account
//! may do.

mod http;
mod options;
mod shapes;
mod token;

use std::collections::BTreeMap;
use std::sync::Arc;

use cubeloom_domain::Clock;
use cubeloom_domain::slurm::SlurmRest;
use serde_json::Value;

use crate::commands::{Trouble, is_away};
use crate::logs::blocking;
use crate::nodes::SeenNode;
use crate::seen::SeenJob;
use crate::speech::Given;

use http::Call;
use shapes::Answer;

/// What slurmrestd says of a call that slurmctld has not answered, whatever the reason.
const UNSPECIFIED: &str = "Unspecified error";
/// What it says where slurmctld took the token for none of its own.
const NO_BYTES: &str = "Zero Bytes were transmitted";

/// Parts of what it says where the same may be taken later. Of the first, that an account has as many jobs as it may, the same is said
/// of a job that asks for more than its limits allow (`sbatch` tells them apart): both wait, with these words. The second
/// `sbatch` tries again by itself.
const LATER: [&str; 2] = ["job submit limit", "Unable to create job record"];

/// slurmrestd of a cluster.
pub struct Rest {
    /// The section of the settings, which sentences name.
    section: String,
    settings: SlurmRest,
    /// The variables of the scripts that are submitted.
    variables: BTreeMap<String, String>,
    clock: Arc<dyn Clock>,
}

impl Rest {
    /// Nothing is asked of it yet.
    pub fn new(
        cluster: &str,
        settings: SlurmRest,
        variables: BTreeMap<String, String>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { section: format!("[slurm.{cluster}] slurmrestd"), settings, variables, clock }
    }

    /// All jobs that the controller knows, also those that ended lately.
    pub async fn jobs(&self) -> Result<Vec<SeenJob>, Trouble> {
        let answer = self.ask(&self.settings.user, "GET", "jobs", None).await?;
        answer.jobs().map_err(|why| self.not_understood(&why))
    }

    /// The nodes.
    pub async fn nodes(&self) -> Result<Vec<SeenNode>, Trouble> {
        let answer = self.ask(&self.settings.user, "GET", "nodes", None).await?;
        answer.nodes().map_err(|why| self.not_understood(&why))
    }

    /// The version, as `slurm 22.05.8`.
    pub async fn version(&self) -> Result<String, Trouble> {
        Ok(self.ask(&self.settings.user, "GET", "ping", None).await?.version())
    }

    /// Submits a script as an account; the id of its job.
    pub async fn submit(&self, account: &str, job: &Given<'_>) -> Result<String, Trouble> {
        let components = options::of_script(job.text);
        let body = shapes::submission(job, &components, &self.variables).map_err(Trouble::Refused)?;
        let answer = self.ask(account, "POST", "job/submit", Some(&body)).await?;
        answer.job_id().map_err(|why| self.not_understood(&why))
    }

    /// Ends jobs as the account whose they are, by ids or `--name=...`.
    pub async fn cancel(&self, account: &str, uid: u32, jobs: &[String], kill: bool) -> Result<(), Trouble> {
        let named = jobs.iter().filter_map(|job| job.strip_prefix("--name="));
        let names: Vec<&str> = named.flat_map(|names| names.split(',')).collect();
        let mut ids: Vec<String> = jobs.iter().filter(|job| !job.starts_with('-')).cloned().collect();
        if !names.is_empty() {
            let is_meant = |job: &SeenJob| {
                job.uid == uid && names.contains(&job.name.as_str()) && job.state.fate().is_none()
            };
            // A job of a name that Slurm does not know at all needs no end.
            ids.extend(self.jobs().await?.into_iter().filter(is_meant).map(|job| job.id));
            ids.sort_unstable();
            ids.dedup();
        }
        let mut first = Ok(());
        for id in ids {
            let what = if kill { format!("job/{id}?signal=KILL") } else { format!("job/{id}") };
            match self.ask(account, "DELETE", &what, None).await {
                Ok(_) => {}
                Err(Trouble::Refused(said)) if has_ended(&said) => {}
                // Nor does it answer of the others, each for as long.
                Err(away @ Trouble::Away(_)) => return Err(away),
                // What is wrong with one job keeps no other alive.
                Err(refused) => first = first.and(Err(refused)),
            }
        }
        first
    }

    async fn ask(
        &self,
        account: &str,
        method: &'static str,
        what: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Trouble> {
        let version = &self.settings.version;
        let signed = token::signed(&self.settings.key, account, self.clock.now()).await;
        let token = signed.map_err(|why| {
            Trouble::Away(format!(
                "slurmrestd cannot be asked, see `key` of the settings {}: {why}",
                self.section
            ))
        })?;
        let path = format!("/slurm/{version}/{what}");
        let body = body.map(Value::to_string).unwrap_or_default();
        let call = Call { method, path: &path, account, token: &token, body };
        let Some(place) = self.settings.place() else {
            let said = format!("slurmrestd cannot be asked, see `url` of the settings {}", self.section);
            return Err(Trouble::Away(said));
        };
        let (status, text) = http::talk(place, call).await.map_err(|why| {
            Trouble::Away(format!("slurmrestd does not answer at {}: {why}", self.settings.url))
        })?;
        match status {
            401 => return Err(Trouble::Away(self.no_token("slurmrestd: HTTP 401"))),
            404 if shapes::is_no_call(&text) => {
                return Err(Trouble::Away(format!(
                    "slurmrestd has no {method} of {path}, see `version` of the settings {}",
                    self.section
                )));
            }
            _ => {}
        }
        // A list of thousands of jobs is megabytes.
        let answer = blocking(move || Ok(Answer::read(&text)))
            .await
            .map_err(|error| Trouble::Away(error.to_string()))?;
        let answer = answer.map_err(|why| Trouble::Away(format!("slurmrestd: HTTP {status}: {why}")))?;
        let is_well = (200..300).contains(&status);
        match answer.error() {
            // A job that was taken may wait for long, which is said as an error beside its id.
            Some(_) if is_well && answer.has_job() => Ok(answer),
            Some(said) => Err(self.trouble(status, &said)),
            None if is_well => Ok(answer),
            None => Err(Trouble::Away(format!("slurmrestd: HTTP {status} without a word"))),
        }
    }

    /// Why slurmrestd, or slurmctld behind it, does not want to.
    fn trouble(&self, status: u16, said: &str) -> Trouble {
        let sentence = format!("slurmrestd: {said}");
        // What it cannot read it will never read.
        if status == 400 {
            return Trouble::Refused(sentence);
        }
        if said.contains(UNSPECIFIED) || said.contains(NO_BYTES) {
            return Trouble::Away(self.no_token(&sentence));
        }
        let is_later = is_away(said) || LATER.iter().any(|part| said.contains(part));
        if is_later { Trouble::Away(sentence) } else { Trouble::Refused(sentence) }
    }

    /// slurmctld that is away, and one that does not believe a token, are the same to slurmrestd.
    fn no_token(&self, sentence: &str) -> String {
        format!(
            "{sentence}: slurmctld is away, or does not believe tokens that are signed with `key` of the settings {}",
            self.section
        )
    }

    fn not_understood(&self, why: &str) -> Trouble {
        Trouble::Away(format!("slurmrestd: its answer is not of version {}: {why}", self.settings.version))
    }
}

/// Whether a job could not be ended as it has ended.
fn has_ended(said: &str) -> bool {
    said.contains("Invalid job id") || said.contains("already completing or completed")
}

#[cfg(test)]
mod tests;
