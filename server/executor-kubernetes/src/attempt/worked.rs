//! Usage that exporters report to Prometheus for an attempt's pods: GPU busy time and CPU throttling. Where
//! the cluster has no metrics API, it covers the rest as well.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::usage::PodUse;
use tokio::time::timeout;

use super::Attempt;
use crate::board::Seen;
use crate::pods::{PodState, PodView};
use crate::used;

/// How long the end of a job waits for these figures. A healthy Prometheus answers in less, and the next
/// workers matter more than a figure.
const MEASURED: Duration = Duration::from_secs(1);

impl Attempt {
    /// GPU busy time while it `ran`, in microseconds of one GPU, extrapolated to the whole run; `None` if no
    /// answer arrives in time.
    pub(super) async fn cards_worked(&self, ran: Option<(Timestamp, Timestamp)>, seen: &Seen) -> Option<u64> {
        let job = &self.known.job;
        if !job.roles.iter().any(|role| role.resources.gpu.is_some()) {
            return None;
        }
        let (meter, ran) = self.cluster.config.cards.as_ref().zip(ran)?;
        let time = timeout(MEASURED, (meter.worked)(job.key.object_name(), ran)).await.ok()??;
        let with_cards = || seen.pods.values().map(|pod| &pod.view).filter(|pod| pod.has_cards);
        let ran = with_cards().map(|pod| match &pod.state {
            PodState::Ended { started_at: Some(from), ended_at, .. } => ended_at.since(*from),
            _ => Duration::ZERO,
        });
        let ran_us = u64::try_from(ran.sum::<Duration>().as_micros()).unwrap_or(u64::MAX);
        time.of_whole(ran_us, with_cards().count() as u64)
    }

    /// Adds the usage of its pods while it `ran`, if the answer arrives in time. Where the cluster measures
    /// the rest itself, it adds only throttling. Pods that are no longer known, such as those before a
    /// suspension, are never queried.
    pub(super) async fn take_over_use(
        &self,
        ran: Option<(Timestamp, Timestamp)>,
        namespace: &str,
        seen: &Seen,
    ) {
        let Some((meter, ran)) = self.cluster.config.pods.as_ref().zip(ran) else { return };
        let is_measured = used::is_measured(&self.cluster);
        let asked = (meter.0)(self.known.job.key.object_name(), ran);
        for used in timeout(MEASURED, asked).await.unwrap_or_default() {
            let mut pods = seen.pods.values().map(|pod| &pod.view);
            let is_its =
                |pod: &&Arc<PodView>| pod.name == used.pod && pod.containers.contains(&used.container);
            let Some(pod) = pods.find(is_its) else { continue };
            // Throttling of the setup container does not slow down the program.
            let throttled = used.throttled.filter(|_| pod.main() == used.container);
            let used = PodUse { throttled, ..used };
            if is_measured {
                self.cluster.meter.take_held_back(namespace, used);
            } else {
                self.cluster.meter.take_over(namespace, used);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cubeloom_domain::executor::{BoxFuture, Facts};
    use cubeloom_domain::kubernetes::KubernetesFacts;
    use cubeloom_domain::resources::GpuRequest;
    use cubeloom_domain::usage::{CardTime, MemorySpread};
    use cubeloom_domain::{Bytes, Cpu};
    use cubeloom_workers::ends::End;
    use serde_json::json;
    use tokio::sync::mpsc::unbounded_channel;

    use super::super::Known;
    use super::*;
    use crate::access::Access;
    use crate::cluster::Cluster;
    use crate::config::{CardMeter, PodMeter};
    use crate::objects::Names;
    use crate::testing::{Still, config, elastic_job, pod, seen_with};

    /// A meter that measures GPU busy time only.
    fn meter(
        worked: impl Fn(String, (Timestamp, Timestamp)) -> BoxFuture<'static, Option<CardTime>>
        + Send
        + Sync
        + 'static,
    ) -> CardMeter {
        CardMeter {
            worked: Arc::new(worked),
            lines: Arc::new(|_, _| Box::pin(std::future::ready(Ok(Vec::new())))),
        }
    }

    fn attempt(cards: Option<u32>, meter: Option<CardMeter>) -> Attempt {
        let mut job = elastic_job();
        job.roles[0].resources.gpu =
            cards.map(|count| GpuRequest { count: Some(count), ..GpuRequest::default() });
        let mut config = config(Path::new("/nowhere"), Access::InCluster);
        config.cards = meter;
        Attempt {
            cluster: Arc::new(Cluster::new(config, Facts::default(), Arc::new(Still))),
            known: Known { job: Arc::new(job), masks: Arc::default() },
            names: Arc::new(Names { namespace: "a".into(), roots: Vec::new() }),
            workers: 4,
            probes: false,
            wishes: unbounded_channel().1,
        }
    }

    #[tokio::test]
    async fn what_was_measured_of_a_jobs_cards_is_asked_for_where_somebody_measures() {
        let job = elastic_job().key.object_name();
        let meter = meter(move |object, (from, to)| {
            assert_eq!(object, job);
            // For the first half of an hour.
            let (worked_us, told_us) = (to.0 as u64 / 4, (to.0 - from.0) as u64 / 2);
            Box::pin(std::future::ready(Some(CardTime { worked_us, told_us })))
        });
        const MINUTE: i64 = 60_000_000;
        let seen = |minutes: i64| {
            let (started_at, ended_at) = (Some(Timestamp(0)), Timestamp(minutes * MINUTE));
            let ended = PodState::Ended { end: End::Exit { code: 0 }, started_at, ended_at };
            seen_with([PodView { has_cards: true, ..pod("worker", 0, ended) }])
        };
        let ran = Some((Timestamp(0), Timestamp(60 * MINUTE)));
        let whole = seen(33);
        assert_eq!(
            attempt(Some(1), Some(meter.clone())).cards_worked(ran, &whole).await,
            Some(15 * MINUTE as u64)
        );
        let half = attempt(Some(1), Some(meter.clone())).cards_worked(ran, &seen(60)).await;
        assert_eq!(half, None, "nobody knows what they did in the other half");
        assert_eq!(
            attempt(Some(1), Some(meter.clone())).cards_worked(None, &whole).await,
            None,
            "it never ran"
        );
        assert_eq!(attempt(None, Some(meter)).cards_worked(ran, &whole).await, None, "it has no GPUs");
        assert_eq!(attempt(Some(1), None).cards_worked(ran, &whole).await, None, "nobody measures");
    }

    #[tokio::test]
    async fn what_pods_used_is_asked_for_where_the_cluster_does_not_measure_it() {
        let meter = PodMeter(Arc::new(|object, _| {
            let pod = |index: u32, times: usize| PodUse {
                pod: format!("worker-{index}"),
                container: "worker".into(),
                cores: [0.25, 0.75].repeat(times),
                memory: [5e8, 1e9].repeat(times),
                throttled: Some(0.3),
            };
            assert!(object.starts_with("cl-"));
            let beside = PodUse { container: "beside".into(), memory: vec![9e9; 8], ..pod(0, 4) };
            Box::pin(std::future::ready(vec![beside, pod(0, 4), pod(1, 1), pod(9, 4)]))
        }));
        let ended = |index| {
            let (started_at, ended_at) = (Some(Timestamp(0)), Timestamp(60_000_000));
            pod("worker", index, PodState::Ended { end: End::Exit { code: 0 }, started_at, ended_at })
        };
        let seen = seen_with([0, 1, 2].map(ended));
        let ran = Some((Timestamp(0), Timestamp(60_000_000)));
        let used = |attempt: &Attempt| attempt.cluster.meter.summary("a", &seen, |_| None);
        let mut one = attempt(None, None);
        one.take_over_use(ran, "a", &seen).await;
        assert_eq!(used(&one), Default::default(), "nobody measures");
        Arc::get_mut(&mut one.cluster).unwrap().config.pods = Some(meter);
        one.take_over_use(None, "a", &seen).await;
        assert_eq!(used(&one), Default::default(), "it never ran");
        one.take_over_use(ran, "a", &seen).await;
        let (sum, roles) = used(&one);
        assert_eq!((sum.cpu_us, sum.peak_memory), (2 * 30_000_000, Bytes(1_000_000_000)));
        assert_eq!((roles.len(), roles[0].cpu_high), (1, Cpu(750)), "of the one that was measured often");
        assert_eq!((sum.throttled, roles[0].throttled), (Some(300), Some(300)));
        let spread = MemorySpread { middle: Bytes(500_000_000), high: Bytes(1_000_000_000) };
        assert_eq!(roles[0].memory, Some(spread));
        assert_eq!(one.cluster.meter.memory("a", "worker-9", Timestamp(0)), None, "it is no pod of now");
        let kinds = [(used::KIND.to_owned(), Default::default())].into();
        let facts = KubernetesFacts { kinds, ..KubernetesFacts::default() };
        one.cluster.facts.write().unwrap().kubernetes = Some(facts);
        one.take_over_use(ran, "a", &seen).await;
        assert_eq!(used(&one), Default::default(), "the cluster measures it itself");
        // Except for throttling.
        for at in ["1", "2", "3", "4"] {
            let container = json!({"name": "worker", "usage": {"cpu": "1", "memory": "1Mi"}});
            let told = json!({"metadata": {"name": "worker-0"}, "timestamp": at, "containers": [container]});
            one.cluster.meter.take("a", &told, &["worker".into()]);
        }
        one.take_over_use(ran, "a", &seen).await;
        let (sum, roles) = used(&one);
        assert_eq!(
            (sum.cpu_us, sum.peak_memory, roles[0].throttled),
            (60_000_000, Bytes(1 << 20), Some(300))
        );
    }

    #[tokio::test]
    async fn who_measures_and_does_not_answer_holds_up_no_end() {
        let silent = meter(|_, _| Box::pin(std::future::pending()));
        let attempt = attempt(Some(1), Some(silent));
        let (ran, seen) = (Some((Timestamp(0), Timestamp(1))), Seen::default());
        let asked = attempt.cards_worked(ran, &seen);
        assert_eq!(timeout(2 * MEASURED, asked).await, Ok(None));
        assert!(MEASURED <= Duration::from_secs(1), "the end of a job waits for it");
    }
}
