//! slurmrestd: the same information as from Slurm's commands, and job submission, over HTTP. It trusts a
//! token that is signed for one account and valid for a minute, so no switch of accounts is needed. slurmctld
//! verifies it with the same key, and checks the account's rights.

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

/// slurmrestd's message when slurmctld has not responded, whatever the reason.
const UNSPECIFIED: &str = "Unspecified error";
/// Its message when slurmctld rejected the token.
const NO_BYTES: &str = "Zero Bytes were transmitted";

/// Parts of its message when a retry may succeed. The first means that an account's queue is full, or that a
/// job requests more than its limits allow. Only `sbatch` distinguishes them: here both wait, with this
/// message. `sbatch` itself retries the second.
const LATER: [&str; 2] = ["job submit limit", "Unable to create job record"];

/// slurmrestd of a cluster.
pub struct Rest {
    /// The settings' section, for messages.
    section: String,
    settings: SlurmRest,
    /// Variables for submitted scripts.
    variables: BTreeMap<String, String>,
    clock: Arc<dyn Clock>,
}

impl Rest {
    /// Creates the client without a request.
    pub fn new(
        cluster: &str,
        settings: SlurmRest,
        variables: BTreeMap<String, String>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { section: format!("[slurm.{cluster}] slurmrestd"), settings, variables, clock }
    }

    /// All jobs that the controller knows, including recently ended ones.
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

    /// Submits a script as an account; returns the job's id.
    pub async fn submit(&self, account: &str, job: &Given<'_>) -> Result<String, Trouble> {
        let components = options::of_script(job.text);
        let body = shapes::submission(job, &components, &self.variables).map_err(Trouble::Refused)?;
        let answer = self.ask(account, "POST", "job/submit", Some(&body)).await?;
        answer.job_id().map_err(|why| self.not_understood(&why))
    }

    /// Cancels jobs as their account, by id or `--name=...`.
    pub async fn cancel(&self, account: &str, uid: u32, jobs: &[String], kill: bool) -> Result<(), Trouble> {
        let named = jobs.iter().filter_map(|job| job.strip_prefix("--name="));
        let names: Vec<&str> = named.flat_map(|names| names.split(',')).collect();
        let mut ids: Vec<String> = jobs.iter().filter(|job| !job.starts_with('-')).cloned().collect();
        if !names.is_empty() {
            let is_meant = |job: &SeenJob| {
                job.uid == uid && names.contains(&job.name.as_str()) && job.state.fate().is_none()
            };
            // A job with a name that Slurm does not know needs no cancel.
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
                // The other calls would time out as well.
                Err(away @ Trouble::Away(_)) => return Err(away),
                // A refusal for one job must not spare the others.
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
                "slurmrestd cannot be used, see `key` of the settings {}: {why}",
                self.section
            ))
        })?;
        let path = format!("/slurm/{version}/{what}");
        let body = body.map(Value::to_string).unwrap_or_default();
        let call = Call { method, path: &path, account, token: &token, body };
        let Some(place) = self.settings.place() else {
            let said = format!("slurmrestd cannot be used, see `url` of the settings {}", self.section);
            return Err(Trouble::Away(said));
        };
        let (status, text) = http::talk(place, call).await.map_err(|why| {
            Trouble::Away(format!("slurmrestd is unreachable at {}: {why}", self.settings.url))
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
            // An accepted job may be pending for long, which is reported as an error beside its id.
            Some(_) if is_well && answer.has_job() => Ok(answer),
            Some(said) => Err(self.trouble(status, &said)),
            None if is_well => Ok(answer),
            None => Err(Trouble::Away(format!("slurmrestd: HTTP {status} without a message"))),
        }
    }

    /// Why slurmrestd, or slurmctld behind it, refuses.
    fn trouble(&self, status: u16, said: &str) -> Trouble {
        let sentence = format!("slurmrestd: {said}");
        // A request that it cannot parse never succeeds.
        if status == 400 {
            return Trouble::Refused(sentence);
        }
        if said.contains(UNSPECIFIED) || said.contains(NO_BYTES) {
            return Trouble::Away(self.no_token(&sentence));
        }
        let is_later = is_away(said) || LATER.iter().any(|part| said.contains(part));
        if is_later { Trouble::Away(sentence) } else { Trouble::Refused(sentence) }
    }

    /// slurmrestd does not distinguish an unreachable slurmctld from one that rejects the token.
    fn no_token(&self, sentence: &str) -> String {
        format!(
            "{sentence}: slurmctld is unreachable, or rejects tokens signed with `key` of the settings {}",
            self.section
        )
    }

    fn not_understood(&self, why: &str) -> Trouble {
        Trouble::Away(format!(
            "slurmrestd: its response does not match version {}: {why}",
            self.settings.version
        ))
    }
}

/// Whether a cancel failed because the job has ended.
fn has_ended(said: &str) -> bool {
    said.contains("Invalid job id") || said.contains("already completing or completed")
}

#[cfg(test)]
mod tests;
