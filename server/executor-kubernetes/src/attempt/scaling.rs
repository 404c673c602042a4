//! Elastic scaling: workers that an attempt gains and releases.

use std::collections::HashSet;

use cubeloom_domain::executor::Event;
use cubeloom_domain::job::{DEFAULT_GRACE, Job};
use cubeloom_domain::kubernetes::KubernetesFacts;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::Value;

use super::{Attempt, Going};
use crate::board::{PodSeen, Seen};
use crate::cluster::Scale;
use crate::error::Refused;
use crate::objects::Names;
use crate::pods::{PodState, PodView};
use crate::resized::{Elastic, Size, unsaid, without};
use crate::{elastic, stop};

/// The current, wanted and pending number of an attempt's workers.
pub struct Scaling {
    /// `None` when the job's kind does not allow adding or removing single workers.
    elastic: Option<Elastic>,
    /// Over all roles.
    workers: u32,
    wish: Option<Scale>,
    /// Whether to check what an earlier server has begun.
    adopted: bool,
    giving: Option<Giving>,
    /// Number of indexes last given to the Job.
    places: Option<u32>,
    /// Number of running workers last reported.
    told: Option<u32>,
    /// Released pods, by uid.
    given: HashSet<String>,
}

/// A Job was made smaller, and some of its pods still have to go.
struct Giving {
    scale: Scale,
    told: HashSet<String>,
    /// Whether the Job still carries the annotation, which goes once the pods are gone.
    is_said: bool,
}

impl Scaling {
    pub(super) fn new(job: &Job, names: &Names, workers: u32, facts: &KubernetesFacts) -> Self {
        Self {
            elastic: Elastic::of(job, names, facts),
            workers,
            wish: None,
            adopted: false,
            giving: None,
            places: None,
            told: None,
            given: HashSet::new(),
        }
    }

    /// An earlier server may have begun a resize that it had not recorded, or recorded one that it had not
    /// begun.
    pub(super) fn adopt(&mut self) {
        self.adopted = true;
        self.wish.get_or_insert(Scale { workers: self.workers, grace: DEFAULT_GRACE });
    }

    /// Sets the wanted size. An earlier one that is unfinished is dropped without a report.
    pub(super) fn want(&mut self, scale: Scale) {
        (self.wish, self.adopted) = (Some(scale), false);
    }

    pub(super) fn workers(&self) -> u32 {
        self.workers
    }

    /// How many workers the job can lose. `lent` is the snapshot of a job whose workers the cluster lends:
    /// there, only workers that started count.
    pub(super) fn spare(&self, job: &Job, lent: Option<&Seen>) -> u32 {
        let began = |pod: &&PodSeen| !matches!(pod.view.state, PodState::Waiting { .. });
        let count = |seen: &Seen| u32::try_from(seen.pods.values().filter(began).count()).unwrap_or(u32::MAX);
        let has = lent.map_or(self.workers, count);
        if job.elastic.is_some() { has.saturating_sub(job.gang) } else { 0 }
    }

    /// The snapshot without released pods.
    pub(super) fn kept(&mut self, seen: Seen) -> Seen {
        self.note(&seen);
        without(seen, &self.given)
    }

    /// Records pods to release: one may have been created just before, and show up later.
    fn note(&mut self, seen: &Seen) {
        let (Some(elastic), Some(places)) = (&self.elastic, self.places) else { return };
        let goes = |pod: &PodView| pod.worker.role == elastic.role && pod.worker.index >= places;
        let pods = seen.pods.iter().filter(|(_, pod)| goes(&pod.view));
        self.given.extend(pods.map(|(uid, _)| uid.clone()));
    }

    /// Records that the Job is about to get more indexes, and returns the number before. Their pods may
    /// appear whether or not an answer arrives, and must not count as released.
    fn expect(&mut self, places: u32) -> Option<u32> {
        self.places.replace(places)
    }

    /// Released pods that are not gone yet.
    fn leaving<'s>(&'s self, seen: &'s Seen) -> impl Iterator<Item = &'s PodView> {
        let pods = seen.pods.iter().filter(|(uid, pod)| !pod.gone && self.given.contains(*uid));
        pods.map(|(_, pod)| &*pod.view)
    }
}

impl Attempt {
    /// Reports the number of running workers, where the cluster's scheduler decides it and the required
    /// workers have started.
    pub(super) fn tell_running(&self, going: &mut Going, seen: &Seen) {
        let running =
            elastic::running(&self.cluster, &self.known.job, seen).filter(|_| going.started.is_some());
        if let Some(workers) = running
            && going.scaling.told.replace(workers) != Some(workers)
        {
            self.cluster.report(&self.known.job.key, Event::Running { workers });
        }
    }

    /// Takes the next step towards the wanted size, if any.
    pub(super) async fn scale(&self, going: &mut Going) {
        if let Some(wish) = going.scaling.wish {
            match self.change(going, wish).await {
                Ok(true) => going.scaling.wish = None,
                // Wait for the leaving pods; retry what the cluster refuses for now.
                Ok(false) | Err(Refused::ForNow(_) | Refused::Busy(_) | Refused::Credentials(_)) => {}
                Err(refused) => {
                    let key = &self.known.job.key;
                    tracing::warn!(%key, why = refused.message(), "the size of a job cannot be changed");
                    going.scaling.wish = None;
                }
            }
        }
        self.give_back(going).await;
    }

    /// Patches the worker count of the object. Returns false if it must be retried.
    async fn change(&self, going: &mut Going, wish: Scale) -> Result<bool, Refused> {
        let scaling = &mut going.scaling;
        let Some(elastic) = scaling.elastic.clone() else {
            self.cannot(scaling.workers, wish);
            return Ok(true);
        };
        let resource = elastic.object.resource();
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.cluster.client().await, &going.name.0, &resource);
        let name = &elastic.object.name;
        let object = self.cluster.ask("reading its size", api.get(name)).await?;
        let object: Value = serde_json::to_value(object).unwrap_or_default();
        let Some(size) = Size::read(&object) else {
            self.cannot(scaling.workers, wish);
            return Ok(true);
        };
        if size.is_over {
            return Ok(true);
        }
        let given_up = size.keeps.filter(|keeps| scaling.adopted && *keeps < wish.workers);
        let wish = Scale { workers: given_up.unwrap_or(wish.workers), ..wish };
        let places = elastic.places(wish.workers, &size);
        let grows = places > size.places;
        if grows {
            let seen = self.cluster.look(&going.name);
            scaling.note(&seen);
            // A new pod would reuse the name of a leaving one, whose end would count as the new one's.
            if scaling.leaving(&seen).next().is_some() {
                return Ok(false);
            }
        }
        if places != size.places {
            let before = if grows { scaling.expect(places) } else { scaling.places };
            let patch = elastic.patch(places, (!grows).then_some(wish.workers));
            let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
            match self.cluster.ask("scaling", api.patch(name, &params, &patch)).await {
                Ok(_) => {}
                Err(refused @ Refused::ForGood(_)) if grows => {
                    scaling.places = before;
                    self.cannot(elastic.workers(&size), wish);
                    return Err(refused);
                }
                Err(refused) => return Err(refused),
            }
        }
        (scaling.workers, scaling.adopted, scaling.places) = (wish.workers, false, Some(places));
        let is_said = places < size.places || size.keeps.is_some();
        scaling.giving = (!grows).then(|| Giving { scale: wish, told: HashSet::new(), is_said });
        Ok(true)
    }

    /// Reports that the attempt keeps its number of workers, where it was to get more.
    fn cannot(&self, has: u32, wish: Scale) {
        if has < wish.workers {
            self.cluster.report(&self.known.job.key, Event::Resized { workers: has });
        }
    }

    /// Ends the leaving pods with their grace period, which the cluster does not know, and reports when they
    /// are gone.
    async fn give_back(&self, going: &mut Going) {
        let seen = self.cluster.look(&going.name);
        going.scaling.note(&seen);
        let Some(mut giving) = going.scaling.giving.take() else { return };
        let leaving: Vec<PodView> = going.scaling.leaving(&seen).cloned().collect();
        for pod in leaving.iter().filter(|pod| giving.told.insert(pod.uid.clone())) {
            stop::pod(&self.cluster, &going.name.0, pod, giving.scale.grace).await;
        }
        for pod in leaving.iter().filter(|pod| pod.is_lost()) {
            stop::strike(&self.cluster, &going.name.0, pod).await;
        }
        if !leaving.is_empty() {
            going.scaling.giving = Some(giving);
        } else if going.scaling.wish.is_none() {
            if giving.is_said && !self.unsay(going).await {
                going.scaling.giving = Some(giving);
                return;
            }
            self.cluster.report(&self.known.job.key, Event::Resized { workers: giving.scale.workers });
        }
    }
    /// Removes the note of the shrink from the object. Returns false if it must be retried.
    async fn unsay(&self, going: &Going) -> bool {
        let Some(Elastic { object, .. }) = &going.scaling.elastic else { return true };
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.cluster.client().await, &going.name.0, &object.resource());
        let patch = unsaid();
        let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
        let answer = self.cluster.ask("scaling", api.patch(&object.name, &params, &patch)).await;
        !matches!(answer, Err(Refused::ForNow(_) | Refused::Busy(_) | Refused::Credentials(_)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use cubeloom_domain::Timestamp;
    use cubeloom_domain::executor::Facts;
    use cubeloom_domain::job::SuccessRule;
    use cubeloom_workers::ends::End;
    use cubeloom_workers::tails::Tails;
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc::unbounded_channel;
    use tokio::task::JoinSet;
    use tokio::time::timeout;

    use super::super::Known;
    use super::*;
    use crate::access::Access;
    use crate::cluster::Cluster;
    use crate::judge;
    use crate::objects::Named;
    use crate::present::Present;
    use crate::testing::{Still, config, elastic_job, seen};

    #[test]
    fn who_comes_before_the_answer_does_is_not_given_back() {
        let object = Named { api_version: "batch/v1".into(), kind: "Job".into(), name: "cl-a".into() };
        let names = Names { namespace: "a".into(), roots: vec![object] };
        let mut scaling = Scaling::new(&elastic_job(), &names, 3, &KubernetesFacts::default());
        scaling.places = Some(3);
        assert_eq!(scaling.expect(5), Some(3));
        assert_eq!(scaling.kept(seen(5)).pods.len(), 5, "all five are kept");
        assert_eq!(scaling.leaving(&seen(6)).count(), 0);
        assert_eq!(scaling.kept(seen(6)).pods.len(), 5, "a sixth is not to be");
    }

    #[test]
    fn no_more_of_what_is_lent_can_be_spared_than_ran_beside_those_that_must() {
        let object = Named {
            api_version: "batch.volcano.sh/v1alpha1".into(),
            kind: "Job".into(),
            name: "cl-a".into(),
        };
        let names = Names { namespace: "a".into(), roots: vec![object] };
        let job = elastic_job();
        // Up to six workers: three started and two of them failed; the first, which decides, succeeded.
        let scaling = Scaling::new(&job, &names, 6, &KubernetesFacts::default());
        let mut seen = seen(6);
        let ended = |end| PodState::Ended { end, started_at: None, ended_at: Timestamp(1) };
        let mut set = |index: u32, state| {
            let pod = seen.pods.get_mut(&format!("worker-{index}")).unwrap();
            Arc::make_mut(&mut pod.view).state = state;
        };
        set(0, ended(End::Exit { code: 0 }));
        set(1, ended(End::Exit { code: 1 }));
        set(2, ended(End::Exit { code: 1 }));
        let first = SuccessRule::First("worker".into());
        assert!(!judge::first_is_done(&seen, &first, scaling.spare(&job, Some(&seen))));
        // A fourth runs: two have not failed, which is the minimum.
        let fourth = seen.pods.get_mut("worker-3").unwrap();
        Arc::make_mut(&mut fourth.view).state = PodState::Running { since: Timestamp(0) };
        assert!(judge::first_is_done(&seen, &first, scaling.spare(&job, Some(&seen))));
        assert_eq!(scaling.spare(&job, None), 4, "of what is not lent all came");
    }

    /// An API server that answers one request with an object, and returns the request.
    async fn answer_one(listener: TcpListener) -> String {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = String::new();
        let mut part = [0; 4096];
        while !asked.contains("annotations") {
            let count = stream.read(&mut part).await.unwrap();
            assert!(count > 0, "{asked}");
            asked.push_str(&String::from_utf8_lossy(&part[..count]));
        }
        let object = r#"{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"cl-a"}}"#;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            object.len()
        );
        stream.write_all((head + object).as_bytes()).await.unwrap();
        asked
    }

    #[tokio::test]
    async fn a_job_that_is_smaller_says_no_more_that_it_is_being_made_so() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let text = json!({
            "clusters": [{"name": "a", "cluster": {"server": server}}],
            "users": [{"name": "a", "user": {"token": "t"}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "current-context": "a",
        });
        let folder = tempfile::tempdir().unwrap();
        let access = Access::Kubeconfig { text: text.to_string(), context: None };
        let cluster =
            Arc::new(Cluster::new(config(folder.path(), access), Facts::default(), Arc::new(Still)));
        let object = Named { api_version: "batch/v1".into(), kind: "Job".into(), name: "cl-a".into() };
        let names = Arc::new(Names { namespace: "a".into(), roots: vec![object] });
        let job = Arc::new(elastic_job());
        let mut scaling = Scaling::new(&job, &names, 3, &KubernetesFacts::default());
        let scale = Scale { workers: 3, grace: DEFAULT_GRACE };
        scaling.giving = Some(Giving { scale, told: HashSet::new(), is_said: true });
        let mut going = Going {
            wake: Arc::default(),
            name: ("a".into(), "cl-a".into()),
            stop: None,
            started: None,
            note: None,
            suspended: false,
            obstacle_since: None,
            failed_since: None,
            followed: HashSet::new(),
            scaling,
            growing: Default::default(),
            kept: elastic::Marked::default(),
            followers: JoinSet::new(),
            read: Arc::default(),
            tails: Tails::new(None),
            present: Present::default(),
        };
        let known = Known { job, masks: Arc::default() };
        let attempt =
            Attempt { cluster, known, names, workers: 3, probes: false, wishes: unbounded_channel().1 };
        let both = async { tokio::join!(answer_one(listener), attempt.give_back(&mut going)) };
        let (asked, ()) = timeout(Duration::from_secs(10), both).await.expect("it is said no more");
        assert!(asked.starts_with("PATCH /apis/batch/v1/namespaces/a/jobs/cl-a"), "{asked}");
        assert!(asked.contains(r#""cubeloom/keeps":null"#), "{asked}");
        assert!(going.scaling.giving.is_none());
    }
}
