//! Notices to users about an attempt's jobs: their Slurm ids, even after the end, their nodes, and the
//! pending reasons, in Slurm's own words.

use std::sync::Arc;

use cubeloom_domain::executor::Notice;
use cubeloom_domain::{AttemptKey, Timestamp};

use crate::cluster::Cluster;
use crate::logs::blocking;
use crate::seen::{SeenJob, State};

/// The current notices.
pub async fn of(cluster: &Arc<Cluster>, key: &AttemptKey) -> Vec<Notice> {
    let now = cluster.clock.now();
    let (folders, wanted) = (cluster.folders.clone(), key.clone());
    let noted = blocking(move || {
        let ids = folders.record(&wanted).map(|record| record.ids).unwrap_or_default();
        Ok((ids, folders.noted(&wanted)))
    });
    let (ids, noted) = noted.await.unwrap_or_default();
    let submitted = ids.iter().map(|id| submitted(id, noted.unwrap_or(now)));
    let (_, jobs) = cluster.board.jobs(key);
    let listed = jobs.into_iter().filter_map(|job| listed(job, now));
    let waits = cluster.waits(key).map(|(reason, message)| Notice {
        at: now,
        of: format!("Job/{}", key.object_name()),
        warning: true,
        reason: reason.into(),
        message,
    });
    submitted.chain(listed).chain(waits).collect()
}

/// The id that Slurm assigned; it stays known after Slurm has forgotten the job.
fn submitted(id: &str, at: Timestamp) -> Notice {
    Notice {
        at,
        of: of_job(id),
        warning: false,
        reason: "Submitted".into(),
        message: format!("Submitted batch job {id}"),
    }
}

/// `squeue`'s information about a job that has not ended.
fn listed(job: SeenJob, now: Timestamp) -> Option<Notice> {
    let (warning, reason, message) = match job.state {
        State::Waiting => match stuck(&job.reason) {
            Some(why) => (true, job.reason.clone(), format!("{why} (squeue: {})", job.reason)),
            None => (false, job.reason.clone(), format!("squeue: {}", job.reason)),
        },
        State::Runs => (false, "Running".into(), format!("squeue: {}", job.nodes)),
        State::Completing | State::Over(_) => return None,
    };
    Some(Notice { at: now, of: of_job(&job.id), warning, reason, message })
}

/// What blocks a job for good, from the reasons in `squeue`'s manual (JOB REASON CODES). Slurm accepts such a
/// job unless configured otherwise (`EnforcePartLimits`), and it would be pending forever without an
/// explanation.
fn stuck(reason: &str) -> Option<&'static str> {
    let of_one_job = reason.contains("PerJob") && (reason.starts_with("Assoc") || reason.starts_with("QOS"));
    Some(match reason {
        "PartitionTimeLimit" => {
            "it requests more time than its partition allows: set a shorter `timeout`, or another partition for its node group"
        }
        "PartitionNodeLimit" => "it requests more or fewer nodes than its partition allows",
        "PartitionDown" | "PartitionInactive" => "its partition is closed until an administrator opens it",
        "BadConstraints" => "no nodes have everything that it requests",
        "JobHeldAdmin" | "JobHeldUser" => "it is held until a user or administrator releases it",
        "InvalidAccount" | "InvalidQOS" => "its account or its quality of service is no longer valid",
        _ if of_one_job => "it requests more than one job may have",
        _ => return None,
    })
}

fn of_job(id: &str) -> String {
    format!("Job/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::tests::{executor, noted};
    use crate::seen::{Who, lines, listed};

    #[tokio::test]
    async fn an_attempt_is_told_by_the_ids_of_its_jobs_while_they_run_and_after() {
        let data = tempfile::tempdir().unwrap();
        let executor = executor(data.path(), "/nonexistent", &[]);
        let cluster = &executor.cluster;
        let (key, mut record, job) = noted(data.path());
        record.ids = vec!["7".into()];
        cluster.folders.note(&key, &record, &job).unwrap();
        let told = async || {
            let notices = of(cluster, &key).await;
            notices.into_iter().map(|one| (one.of, one.reason, one.message)).collect::<Vec<_>>()
        };
        let is = |reason: &str, message: &str| ("Job/7".to_owned(), reason.to_owned(), message.to_owned());
        let submitted = is("Submitted", "Submitted batch job 7");
        let name = key.object_name();
        cluster.board.follow(&key, Who { name: name.clone(), uid: 1000, ids: vec!["7".into()] });
        for (state, reason, nodes, told_too) in [
            ("PENDING", "Resources", "", Some(is("Resources", "squeue: Resources"))),
            (
                "PENDING",
                "QOSMaxCpuPerJobLimit",
                "",
                Some(is(
                    "QOSMaxCpuPerJobLimit",
                    "it requests more than one job may have (squeue: QOSMaxCpuPerJobLimit)",
                )),
            ),
            ("RUNNING", "None", "n[1-2]", Some(is("Running", "squeue: n[1-2]"))),
            ("COMPLETED", "None", "n[1-2]", None),
        ] {
            let text = format!("7|1000|{state}|{reason}|{nodes}|{name}\n");
            cluster.board.listed(cluster.board.begin(), listed(lines(&text), &cluster.board.ids()));
            let expected: Vec<_> = [submitted.clone()].into_iter().chain(told_too).collect();
            assert_eq!(told().await, expected, "{state}");
        }
        cluster.board.forget(&key);
        assert_eq!(told().await, [submitted]);
    }
}
