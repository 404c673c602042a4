//! The tests of an attempt's workers before its program began, as the API shows them.

use cubeloom_domain::preflight::{Blamed, Bounds, Measured, Preflight};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the test of an attempt's workers came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PreflightView {
    /// Half of what is normal on these nodes; of `mount`, at the most. Who is beyond it is slow; who fails is worse than its peers,
    /// too, or below what every sound machine comes to.
    pub bounds: PreflightValues,
    /// The workers, by rank; none while they are tested.
    pub workers: Vec<TestedWorkerView>,
    /// The worker that was not good enough: the program did not begin.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blamed: Option<BlamedView>,
}

/// Values of a test; what was not measured is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PreflightValues {
    /// What one core hashes, in MB/s of its own time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<f64>,
    /// What one core copies in memory, in MB/s of its own time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<f64>,
    /// What the slowest card multiplies, in TFLOP/s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub card: Option<f64>,
    /// How long the slowest folder takes to write, read and delete a small file, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mount: Option<f64>,
    /// The network to another worker, in MB/s: the median of those that it was measured with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub network: Option<f64>,
}

/// What the test of one worker came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TestedWorkerView {
    /// The worker, `<role>-<index>`.
    pub worker: String,
    /// What was measured.
    #[serde(flatten)]
    pub values: PreflightValues,
    /// Whether something of it is beyond the bound: slower than is normal on the nodes of the group. By itself that is no failure.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub slow: bool,
    /// What is wrong with it, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub wrong: Vec<String>,
}

/// The worker that was not good enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlamedView {
    /// The worker, `<role>-<index>`.
    pub worker: String,
    /// Why: a sentence.
    pub why: String,
    /// Whether it is this one for certain: then its node is set aside.
    pub sure: bool,
}

impl PreflightView {
    /// As it is stored.
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
