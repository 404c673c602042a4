//! The number of workers of an elastic job that is an indexed Job: how to read it, and the patch for another
//! number. Kubernetes allows changing `completions` and `parallelism` together; the highest indexes go first:
//! <https://kubernetes.io/docs/concepts/workloads/controllers/job/#elastic-indexed-jobs>. Pure.

use std::collections::{BTreeSet, HashSet};

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;
use serde_json::{Value, json};

use crate::board::Seen;
use crate::objects::{Named, Names};

/// Annotation of a Job that is being made smaller, with the number of workers to keep. From it, a server
/// learns of a resize that a dead server had not recorded.
pub const KEEPS: &str = "cubeloom/keeps";

/// The elastic role of a job whose workers are added and removed by patching its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elastic {
    pub role: String,
    pub object: Named,
    /// Number of workers in the roles before it.
    pub others: u32,
    /// Minimum number of its workers.
    pub least: u32,
    /// Maximum number of its workers.
    pub most: u32,
}

impl Elastic {
    /// The elastic role of a job with these objects, if one is an indexed Job. `None` if Volcano or Kueue
    /// decides when pods start: Volcano adds workers itself, and Kueue stops a Job whose numbers change.
    #[must_use]
    pub fn of(job: &Job, names: &Names, facts: &KubernetesFacts) -> Option<Self> {
        if facts.volcano.is_some() || facts.kueue.is_some() {
            return None;
        }
        let (range, role) = (job.elastic?, job.roles.last()?);
        let object = names.roots.last()?;
        if (object.api_version.as_str(), object.kind.as_str()) != ("batch/v1", "Job") {
            return None;
        }
        let others = job.workers() - role.replicas;
        let least = job.gang.saturating_sub(others);
        Some(Self { role: role.name.clone(), object: object.clone(), others, least, most: range.max })
    }

    /// Number of indexes for this many workers of all roles. A lost worker is not restarted, so another index
    /// replaces it, up to the maximum.
    #[must_use]
    pub fn places(&self, workers: u32, size: &Size) -> u32 {
        let wanted = workers.saturating_sub(self.others);
        let lost = |below: u32| size.failed.range(..below).count();
        let enough = |places: &u32| places - u32::try_from(lost(*places)).unwrap_or(*places) >= wanted;
        (wanted..=self.most).find(enough).unwrap_or(self.most)
    }

    /// The number of workers of all roles that a Job of this size can have.
    #[must_use]
    pub fn workers(&self, size: &Size) -> u32 {
        let lost = size.failed.range(..size.places).count();
        self.others + size.places.saturating_sub(u32::try_from(lost).unwrap_or(size.places))
    }

    /// The patch for this number of indexes; `keeps` is set when the job shrinks.
    #[must_use]
    pub fn patch(&self, places: u32, keeps: Option<u32>) -> Value {
        json!({
            "metadata": {"annotations": {KEEPS: keeps.map(|workers| workers.to_string())}},
            "spec": {
                "completions": places,
                "parallelism": places,
                "maxFailedIndexes": places.saturating_sub(self.least),
            },
        })
    }
}

/// The patch that removes the annotation: the shrink is done, and a later server must not mistake it for an
/// unfinished one.
#[must_use]
pub fn unsaid() -> Value {
    json!({"metadata": {"annotations": {KEEPS: null}}})
}

/// The size in an indexed Job's object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Number of indexes.
    pub places: u32,
    /// Indexes whose workers were lost; they are never restarted.
    pub failed: BTreeSet<u32>,
    /// Number of workers to keep, from the last shrink.
    pub keeps: Option<u32>,
    /// Whether the Job has ended.
    pub is_over: bool,
}

impl Size {
    /// Reads a Job. Returns `None` if it is not indexed.
    #[must_use]
    pub fn read(object: &Value) -> Option<Self> {
        if object["spec"]["completionMode"] != "Indexed" {
            return None;
        }
        let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        let ends = ["Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"];
        let is_end = |one: &Value| ends.iter().any(|end| one["type"] == *end) && one["status"] == "True";
        Some(Self {
            places: object["spec"]["completions"].as_u64()?.try_into().ok()?,
            failed: indexes(object["status"]["failedIndexes"].as_str().unwrap_or_default()),
            keeps: object["metadata"]["annotations"][KEEPS].as_str().and_then(|text| text.parse().ok()),
            is_over: conditions.into_iter().any(is_end),
        })
    }
}

/// Parses `1,3-5,7`, as in a Job's status.
fn indexes(text: &str) -> BTreeSet<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// The snapshot without released pods: their ends say nothing about the job.
#[must_use]
pub fn without(mut seen: Seen, given_back: &HashSet<String>) -> Seen {
    if !given_back.is_empty() {
        seen.pods.retain(|uid, _| !given_back.contains(uid));
    }
    seen
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::kubernetes::QueueFacts;

    use super::*;

    fn elastic() -> Elastic {
        let object = Named { api_version: "batch/v1".into(), kind: "Job".into(), name: "cl-a-worker".into() };
        Elastic { role: "worker".into(), object, others: 0, least: 2, most: 6 }
    }

    fn size(places: u32, failed: &str) -> Size {
        Size { places, failed: indexes(failed), ..Size::default() }
    }

    #[test]
    fn single_workers_come_and_go_only_where_nobody_else_decides_when_pods_start() {
        let job = crate::testing::elastic_job();
        let names = Names { namespace: "a".into(), roots: vec![elastic().object] };
        let ours = KubernetesFacts::default();
        assert_eq!(Elastic::of(&job, &names, &ours), Some(elastic()));
        let kueue = KubernetesFacts { kueue: Some(QueueFacts::default()), ..ours.clone() };
        let volcano = KubernetesFacts { volcano: Some(QueueFacts::default()), ..ours };
        for facts in [kueue, volcano] {
            assert_eq!(Elastic::of(&job, &names, &facts), None, "its Job is left as it was submitted");
        }
    }

    #[test]
    fn what_is_over_is_said_no_more() {
        let patch = unsaid();
        let annotations = patch["metadata"]["annotations"].as_object().unwrap();
        assert_eq!(annotations.get(KEEPS), Some(&Value::Null), "a merge takes it away");
        assert_eq!(patch.get("spec"), None);
    }

    #[test]
    fn a_lost_worker_is_replaced_by_the_next_while_there_is_one() {
        let elastic = elastic();
        assert_eq!(elastic.places(4, &size(2, "")), 4);
        assert_eq!(elastic.places(4, &size(4, "1")), 5, "index 1 is never started again");
        assert_eq!(elastic.places(2, &size(4, "1,3")), 3, "of those that stay, one was lost");
        assert_eq!(elastic.places(6, &size(6, "0-2")), 6, "there is no seventh");
        assert_eq!((elastic.workers(&size(5, "1,3-4")), elastic.workers(&size(3, "3-4"))), (2, 3));
    }

    #[test]
    fn what_stays_is_at_least_what_must_whatever_was_lost() {
        let elastic = Elastic { others: 1, ..elastic() };
        for failed in ["", "0", "0,2", "1-3", "5"] {
            for workers in 3..=7 {
                let size = size(6, failed);
                let places = elastic.places(workers, &size);
                let runs = elastic.workers(&Size { places, ..size.clone() });
                assert!(runs == workers || places == elastic.most, "{failed}: {workers} of {places}");
                let spared = elastic.patch(places, None)["spec"]["maxFailedIndexes"].as_u64().unwrap();
                assert_eq!(spared, u64::from(places - elastic.least));
            }
        }
    }

    #[test]
    fn a_job_says_how_many_it_has_and_who_was_lost() {
        let object = json!({
            "metadata": {"annotations": {KEEPS: "3"}},
            "spec": {"completionMode": "Indexed", "completions": 4},
            "status": {"failedIndexes": "1,3", "conditions": [{"type": "Failed", "status": "True"}]},
        });
        let size = Size::read(&object).unwrap();
        assert_eq!((size.places, size.keeps, size.is_over), (4, Some(3), true));
        assert_eq!(size.failed, BTreeSet::from([1, 3]));
        assert_eq!(Size::read(&json!({"spec": {"completions": 1}})), None);
        assert!(indexes("").is_empty() && indexes("x,2-").is_empty());
    }
}
