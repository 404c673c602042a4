//! For how long an attempt's cards worked: somebody else measures that, as dcgm-exporter tells Prometheus.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use tokio::time::timeout;

use super::Attempt;

/// How long the end of a job with cards waits for what was measured of them.
const MEASURED: Duration = Duration::from_secs(5);

impl Attempt {
    /// For how long its cards worked while it `ran`, in microseconds of one card, as far as that is told soon.
    pub(super) async fn cards_worked(&self, ran: Option<(Timestamp, Timestamp)>) -> Option<u64> {
        let job = &self.known.job;
        if !job.roles.iter().any(|role| role.resources.gpu.is_some()) {
            return None;
        }
        let (meter, ran) = self.cluster.config.cards.as_ref().zip(ran)?;
        timeout(MEASURED, (meter.0)(job.key.object_name(), ran)).await.ok()?
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use cubeloom_domain::executor::Facts;
    use cubeloom_domain::resources::GpuRequest;
    use tokio::sync::mpsc::unbounded_channel;

    use super::super::Known;
    use super::*;
    use crate::access::Access;
    use crate::cluster::Cluster;
    use crate::config::CardMeter;
    use crate::objects::Names;
    use crate::testing::{Still, config, elastic_job};

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
        let meter = CardMeter(Arc::new(move |object, (from, to)| {
            assert_eq!(object, job);
            Box::pin(std::future::ready(Some((to.0 - from.0) as u64 / 2)))
        }));
        let ran = Some((Timestamp(1000), Timestamp(5000)));
        assert_eq!(attempt(Some(1), Some(meter.clone())).cards_worked(ran).await, Some(2000));
        assert_eq!(attempt(Some(1), Some(meter.clone())).cards_worked(None).await, None, "it never ran");
        assert_eq!(attempt(None, Some(meter)).cards_worked(ran).await, None, "it has no cards");
        assert_eq!(attempt(Some(1), None).cards_worked(ran).await, None, "nobody measures");
    }
}
