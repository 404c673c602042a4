//! Metrics counted as events happen, from the start of the process on.

use std::sync::LazyLock;
use std::time::Duration;

use cubeloom_domain::measure::Measure;
use cubeloom_domain::outcome::Outcome;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use serde_json::Value;

use super::Labels;

/// The bucket bounds of all histograms, in seconds: from a commit on a fast disk to a request timeout.
const BOUNDS: [f64; 15] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 60.0];

/// Methods with their own label value: clients may send any word as a method.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

type Durations = Family<Labels, Histogram, fn() -> Histogram>;

/// The counters of this process.
pub(super) static COUNTED: LazyLock<Counted> = LazyLock::new(Counted::new);

pub(super) struct Counted {
    pub registry: Registry,
    requests: Durations,
    passes: Durations,
    calls: Durations,
    ends: Family<Labels, Counter>,
    asked: Durations,
    transactions: Durations,
    alerts: Family<Labels, Counter>,
}

impl Counted {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("cubeloom");
        let requests = durations(
            &mut registry,
            "http_request_duration",
            "Duration of requests until the response headers",
        );
        let passes =
            durations(&mut registry, "engine_pass_duration", "Duration of the parts of the engine's cycles");
        let calls =
            durations(&mut registry, "executor_call_duration", "Duration of the engine's calls to executors");
        let asked = durations(
            &mut registry,
            "cluster_request_duration",
            "Duration of requests to clusters' API servers until the response headers",
        );
        let transactions = durations(
            &mut registry,
            "store_transaction_duration",
            "Duration of write transactions, including the wait for the lock",
        );
        let (ends, alerts) = (Family::default(), Family::default());
        registry.register("attempts_ended", "Attempts that have ended", Family::clone(&ends));
        registry.register("alert_tries", "Attempts to send alerts", Family::clone(&alerts));
        Self { registry, requests, passes, calls, ends, asked, transactions, alerts }
    }

    /// Records a measurement.
    pub fn count(&self, measure: &Measure<'_>) {
        match *measure {
            Measure::Request { method, route, status, took } => {
                let route = if route.is_empty() { "none" } else { route };
                let labels = [("route", route), ("method", known(method)), ("status", class(Some(status)))];
                observe(&self.requests, &labels, took);
            }
            Measure::Pass { part, took } => observe(&self.passes, &[("part", part.as_str())], took),
            Measure::Call { cluster, call, took } => {
                observe(&self.calls, &[("cluster", cluster), ("call", call.as_str())], took);
            }
            Measure::Ended { cluster, outcome } => {
                let labels = vec![("cluster", cluster.to_owned()), ("outcome", word_of(outcome))];
                self.ends.get_or_create(&labels).inc();
            }
            Measure::Asked { cluster, method, status, took } => {
                let labels = [("cluster", cluster), ("method", known(method)), ("status", class(status))];
                observe(&self.asked, &labels, took);
            }
            Measure::Transaction { kept, took } => {
                let outcome = if kept { "kept" } else { "undone" };
                observe(&self.transactions, &[("outcome", outcome)], took);
            }
            Measure::Alert { sent } => {
                let outcome = if sent { "sent" } else { "failed" };
                self.alerts.get_or_create(&vec![("outcome", outcome.to_owned())]).inc();
            }
        }
    }
}

fn durations(registry: &mut Registry, name: &str, help: &str) -> Durations {
    let family = Durations::new_with_constructor(|| Histogram::new(BOUNDS));
    registry.register_with_unit(name, help, Unit::Seconds, family.clone());
    family
}

fn observe(family: &Durations, labels: &[(&'static str, &str)], took: Duration) {
    let labels: Labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    family.get_or_create(&labels).observe(took.as_secs_f64());
}

fn known(method: &str) -> &str {
    METHODS.into_iter().find(|known| *known == method).unwrap_or("other")
}

/// The class of a status; `none` without a response.
fn class(status: Option<u16>) -> &'static str {
    match status.map(|status| status / 100) {
        None => "none",
        Some(1) => "1xx",
        Some(2) => "2xx",
        Some(3) => "3xx",
        Some(4) => "4xx",
        Some(_) => "5xx",
    }
}

/// `succeeded`, `cancelled`, or the kind of failure as it is stored.
fn word_of(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded => "succeeded".into(),
        Outcome::Cancelled => "cancelled".into(),
        Outcome::Failed(failure) => match serde_json::to_value(failure.kind) {
            Ok(Value::String(word)) => word,
            _ => "failed".into(),
        },
    }
}
