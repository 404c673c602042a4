//! For how long an attempt's cards worked: somebody else measures that, as dcgm-exporter tells Prometheus.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use tokio::time::timeout;

use super::Attempt;
use crate::board::Seen;
use crate::pods::PodState;

/// How long the end of a job with cards waits at the most for what was measured of them: a Prometheus that is well answers in less,
/// and workers that are to come are worth more than a figure.
const MEASURED: Duration = Duration::from_secs(1);

impl Attempt {
    /// For how long its cards worked while it `ran`, in microseconds of one card, as far as that is told soon, and of the whole time.
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
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use cubeloom_domain::executor::{BoxFuture, Facts};
    use cubeloom_domain::resources::GpuRequest;
    use cubeloom_domain::usage::CardTime;
    use cubeloom_workers::ends::End;
    use tokio::sync::mpsc::unbounded_channel;

    use super::super::Known;
    use super::*;
    use crate::access::Access;
    use crate::cluster::Cluster;
    use crate::config::CardMeter;
    use crate::objects::Names;
    use crate::pods::PodView;
    use crate::testing::{Still, config, elastic_job, pod, seen_with};

    /// Whoever measures for how long cards worked, and nothing else.
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
            wishes: unbounded_channel().1,
        }
    }

    #[tokio::test]
    async fn what_was_measured_of_a_jobs_cards_is_asked_for_where_somebody_measures() {
        let job = elastic_job().key.object_name();
        let meter = meter(move |object, (from, to)| {
            assert_eq!(object, job);
            // Of the first half of an hour.
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
        assert_eq!(attempt(None, Some(meter)).cards_worked(ran, &whole).await, None, "it has no cards");
        assert_eq!(attempt(Some(1), None).cards_worked(ran, &whole).await, None, "nobody measures");
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
