//! The engine's metrics and spans: durations of the parts of a cycle, ends of attempts, calls of executors.

use std::sync::Arc;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::clusters::{Clusters, RUNS};
use cubeloom_domain::executor::Executor;
use cubeloom_domain::measure::{self, Call, Measure, PassPart};
use cubeloom_domain::record::Changes;
use cubeloom_domain::state::AttemptState;
use tokio::time::Instant;
use tracing::Instrument;

/// Records how long a part of a cycle took.
pub fn part(part: PassPart, began: Instant) {
    measure::tell(&Measure::Pass { part, took: began.elapsed() });
}

/// Records the attempts whose ends are stored.
pub fn ends(stored: &Changes) {
    for attempt in &stored.attempts {
        if let AttemptState::Ended { outcome, .. } = &attempt.state {
            measure::tell(&Measure::Ended { cluster: &attempt.pool.cluster, outcome });
        }
    }
}

/// An executor call: a span while it lasts, and its duration.
pub struct Told {
    cluster: String,
    call: Call,
    span: tracing::Span,
}

impl Told {
    /// A call about an attempt.
    pub fn of(clusters: &Clusters, executor: &Arc<dyn Executor>, call: Call, key: &AttemptKey) -> Self {
        let cluster = clusters.name_of(executor).unwrap_or_else(|| RUNS.to_owned());
        let span = tracing::debug_span!(
            "call",
            otel.name = call.as_str(),
            cubeloom.cluster = cluster,
            cubeloom.run = %key.run,
            cubeloom.attempt = %key,
        );
        Self { cluster, call, span }
    }

    /// Executes the call.
    pub async fn around(self, work: impl Future<Output = ()>) {
        let began = Instant::now();
        work.instrument(self.span).await;
        let took = began.elapsed();
        measure::tell(&Measure::Call { cluster: &self.cluster, call: self.call, took });
    }
}
