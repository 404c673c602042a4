//! View of the preflight tests of an attempt's workers.

use cubeloom_domain::preflight::{Blamed, Bounds, Measured, Preflight};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Preflight test results of an attempt's workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PreflightView {
    /// Thresholds: half of the normal value on these nodes. For `mount`, the threshold is a maximum. A worker beyond
    /// a threshold is slow. It fails only if it is also worse than its peers, or below what every healthy machine
    /// reaches.
    pub bounds: PreflightValues,
    /// Workers by rank. Empty while they are being tested.
    pub workers: Vec<TestedWorkerView>,
    /// Worker that failed the test. The program did not start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blamed: Option<BlamedView>,
}

/// Values of a preflight test. Values that were not measured are omitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PreflightValues {
    /// Hash throughput of one core, in MB/s of its own CPU time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<f64>,
    /// Memory copy throughput of one core, in MB/s of its own time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<f64>,
    /// Multiplication throughput of the slowest GPU, in TFLOP/s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub card: Option<f64>,
    /// Time that the slowest folder takes to write, read and delete a small file, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mount: Option<f64>,
    /// Network throughput to another worker, in MB/s. Median over the workers that it was measured with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub network: Option<f64>,
}

/// Preflight test result of one worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TestedWorkerView {
    /// Worker, in the form `<role>-<index>`.
    pub worker: String,
    /// Measurement.
    #[serde(flatten)]
    pub values: PreflightValues,
    /// Whether a value is beyond its threshold, that is, slower than normal on the nodes of the group. This alone is
    /// not a failure.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub slow: bool,
    /// Problems found, one message each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub wrong: Vec<String>,
}

/// Worker that failed the test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlamedView {
    /// Worker, in the form `<role>-<index>`.
    pub worker: String,
    /// Reason, as a sentence.
    pub why: String,
    /// Whether this worker is certainly at fault. If so, its node is cordoned.
    pub sure: bool,
}

impl PreflightView {
    /// Converts the stored result.
    pub(crate) fn of(preflight: &Preflight) -> Self {
        let Bounds { cpu, memory, card, mount, network } = preflight.bounds;
        let bounds = [cpu, memory, card, mount, network].map(Some);
        let [cpu, memory, card, mount, network] = bounds;
        let tested = preflight.tested.as_ref();
        let blamed = tested.and_then(|tested| tested.blamed.as_ref());
        let blamed = blamed.map(|Blamed { worker, why, sure }| BlamedView {
            worker: worker.clone(),
            why: why.clone(),
            sure: *sure,
        });
        Self {
            bounds: PreflightValues { cpu, memory, card, mount, network },
            workers: tested.map_or_else(Vec::new, |tested| {
                tested.workers.iter().map(|one| worker(one, &preflight.bounds)).collect()
            }),
            blamed,
        }
    }
}

fn worker(one: &Measured, bounds: &Bounds) -> TestedWorkerView {
    let slow = one.is_beyond(bounds);
    let Measured { worker, cpu, memory, card, mount, network, wrong } = one.clone();
    TestedWorkerView { worker, values: PreflightValues { cpu, memory, card, mount, network }, slow, wrong }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::preflight::Tested;

    use super::*;

    #[test]
    fn a_gang_of_slower_nodes_is_told_to_be_slower_and_nobody_is_blamed() {
        let one = |network: f64| Measured { network: Some(network), ..Measured::default() };
        let tested = Tested { workers: vec![one(300.0), one(700.0)], blamed: None };
        let bounds = Bounds { network: 500.0, ..Bounds::default() };
        let view = PreflightView::of(&Preflight { bounds, tested: Some(tested), ..Preflight::default() });
        let slow: Vec<bool> = view.workers.iter().map(|one| one.slow).collect();
        assert_eq!((slow, view.blamed), (vec![true, false], None));
    }
}
