//! Preflight: before a job's program begins, its workers test their CPUs, GPUs, folders and the network
//! between them. No side effects.
//!
//! The measured values are compared with those of earlier jobs on the same nodes: less than half of their
//! median is low. It is too low if the job's other workers reached far more, or if no healthy machine is that
//! slow. Nodes of one group may be of several kinds, and a gang on slower ones must not fail. One worker is
//! blamed at a time, the worst. Its node is cordoned, and the job restarts elsewhere.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hang::Known;
use crate::quantity::Span;

/// Minimum number of attempts with a measurement before their median is the norm.
const ENOUGH: usize = 6;
/// Number of kept measurements of each kind: the newest ones.
const KEPT: usize = 200;
/// A value below the norm divided by this is too low.
const PART: f64 = 2.0;
/// A folder slower than the norm times this is too slow.
const SLOWER: f64 = 10.0;
/// A folder that responds within this is never too slow, in seconds.
const QUICK: f64 = 1.0;
/// Upper limits of the bounds, because the measurements come from tenants' programs. In the units of
/// [`Bounds`].
const CEILINGS: Bounds = Bounds { cpu: 1000.0, memory: 5000.0, card: 300.0, mount: 10.0, network: 1000.0 };

/// Preflight test of a task's workers, as documents define it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PreflightUse {
    /// On or off.
    Enabled(bool),
    /// On, with these settings.
    Detailed(PreflightRule),
}

/// How a task's workers are tested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreflightRule {
    /// How long the workers wait for each other; 10 minutes when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait: Option<Span>,
    /// Maximum number of restarts of an instance because a worker failed, not counted as attempts; 3 when
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restarts: Option<u32>,
}

/// The same, with defaults resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreflightPolicy {
    /// How long the workers wait for each other.
    pub wait: Span,
    /// Maximum number of restarts of an instance because a worker failed.
    pub restarts: u32,
}

impl Default for PreflightPolicy {
    fn default() -> Self {
        Self { wait: Span(Duration::from_secs(600)), restarts: 3 }
    }
}

impl PreflightUse {
    /// The resolved policy. `None` if workers are not tested.
    #[must_use]
    pub fn policy(&self) -> Option<PreflightPolicy> {
        let other = PreflightPolicy::default();
        match self {
            Self::Enabled(enabled) => enabled.then_some(other),
            Self::Detailed(rule) => Some(PreflightPolicy {
                wait: rule.wait.unwrap_or(other.wait),
                restarts: rule.restarts.unwrap_or(other.restarts),
            }),
        }
    }
}

/// Bounds for a worker: minimum values, except for `mount`, which is a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// SHA-256 throughput of one core, in MB/s of CPU time.
    pub cpu: f64,
    /// Memory copy throughput of one core, in MB/s of CPU time.
    pub memory: f64,
    /// Matrix multiplication of a GPU, in TFLOP/s.
    pub card: f64,
    /// Time to write, read and delete a small file in a folder, in seconds.
    pub mount: f64,
    /// Network throughput between two workers, in MB/s.
    pub network: f64,
}

impl Default for Bounds {
    /// What every healthy machine reaches. It applies until a norm is known. A worker below both it and the
    /// bound fails, whatever others reached.
    fn default() -> Self {
        Self { cpu: 20.0, memory: 200.0, card: 0.5, mount: 10.0, network: 10.0 }
    }
}

/// Measurements of one worker, in the units of [`Bounds`]. `None` if not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Worker, in the form `<role>-<index>`.
    pub worker: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<f64>,
    /// Its slowest GPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub card: Option<f64>,
    /// Its slowest folder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mount: Option<f64>,
    /// Median over its peers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub network: Option<f64>,
    /// Problems found, one message each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub wrong: Vec<String>,
}

/// The worker to replace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blamed {
    /// Worker, in the form `<role>-<index>`.
    pub worker: String,
    /// The reason, as a sentence.
    pub why: String,
    /// Whether it is certainly this one: of two workers, it is unknown whose network is slow.
    #[serde(default)]
    pub sure: bool,
}

/// Result of a job's preflight test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The workers, in rank order.
    pub workers: Vec<Measured>,
    /// The worst of them, if it is too bad. The program has not begun then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blamed: Option<Blamed>,
}

/// Preflight test of an attempt's workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preflight {
    /// The bounds, as known when the attempt was created.
    pub bounds: Bounds,
    /// What earlier attempts of the instance showed.
    #[serde(default)]
    pub known: Known,
    /// The result. `None` while it runs, or if it could not be determined.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tested: Option<Tested>,
}

/// Newest measurements on the nodes of one group, one value per attempt, newest last, each in the unit of
/// [`Bounds`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Norm {
    cpu: Vec<f64>,
    memory: Vec<f64>,
    card: Vec<f64>,
    mount: Vec<f64>,
    network: Vec<f64>,
}

impl Measured {
    /// Whether any of its values is below the norm there, or a folder is slower. A gang on slower nodes has
    /// only such workers.
    #[must_use]
    pub fn is_beyond(&self, bounds: &Bounds) -> bool {
        let below = |value: Option<f64>, least: f64| value.is_some_and(|value| value < least);
        below(self.cpu, bounds.cpu)
            || below(self.memory, bounds.memory)
            || below(self.card, bounds.card)
            || below(self.network, bounds.network)
            || self.mount.is_some_and(|seconds| seconds > bounds.mount)
    }
}

/// Selects one of a worker's measurements.
type OfWorker = fn(&Measured) -> Option<f64>;

impl Norm {
    /// Adds the median of a job's workers, so that one large job does not dominate the norm. A blamed worker
    /// is not normal, and values that are not numbers are skipped.
    pub fn learn(&mut self, tested: &Tested) {
        let blamed = tested.blamed.as_ref().map(|blamed| blamed.worker.as_str());
        let sound = tested.workers.iter().filter(|one| Some(one.worker.as_str()) != blamed);
        let sound: Vec<&Measured> = sound.filter(|one| one.wrong.is_empty()).collect();
        let kinds: [(&mut Vec<f64>, OfWorker); 5] = [
            (&mut self.cpu, |one| one.cpu),
            (&mut self.memory, |one| one.memory),
            (&mut self.card, |one| one.card),
            (&mut self.mount, |one| one.mount),
            (&mut self.network, |one| one.network),
        ];
        for (values, of) in kinds {
            let measured = sound.iter().filter_map(|one| of(one));
            values.extend(median(measured.filter(|value| value.is_finite() && *value > 0.0).collect()));
            values.drain(..values.len().saturating_sub(KEPT));
        }
    }

    /// The bounds for workers there.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let other = Bounds::default();
        let normal = |values: &[f64]| median(values.to_vec()).filter(|_| values.len() >= ENOUGH);
        let least = |values: &[f64], other: f64, ceiling: f64| {
            normal(values).map_or(other, |median| (median / PART).min(ceiling))
        };
        Bounds {
            cpu: least(&self.cpu, other.cpu, CEILINGS.cpu),
            memory: least(&self.memory, other.memory, CEILINGS.memory),
            card: least(&self.card, other.card, CEILINGS.card),
            mount: normal(&self.mount)
                .map_or(other.mount, |median| (median * SLOWER).clamp(QUICK, CEILINGS.mount)),
            network: least(&self.network, other.network, CEILINGS.network),
        }
    }
}

/// The median; the higher of the two middle values.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(name: &str, network: f64) -> Measured {
        Measured { worker: name.into(), network: Some(network), cpu: Some(400.0), ..Measured::default() }
    }

    #[test]
    fn half_of_the_median_is_the_bound_once_enough_is_known() {
        let mut norm = Norm::default();
        let pair =
            |network| Tested { workers: vec![worker("a-0", network), worker("a-1", network)], blamed: None };
        for network in [100.0, 100.0, 1000.0, 1000.0, 1000.0] {
            norm.learn(&pair(network));
        }
        assert_eq!(norm.bounds(), Bounds::default());
        norm.learn(&pair(1000.0));
        let bounds = norm.bounds();
        assert_eq!((bounds.network, bounds.cpu), (500.0, 200.0));
        assert_eq!(bounds.card, Bounds::default().card, "nobody has measured one");
    }

    #[test]
    fn what_is_less_than_normal_is_seen_also_where_nobody_is_blamed_for_it() {
        let bounds = Bounds { network: 500.0, mount: 1.0, ..Bounds::default() };
        assert!(!worker("a-0", 500.0).is_beyond(&bounds));
        assert!(worker("a-0", 499.0).is_beyond(&bounds));
        let slow = Measured { mount: Some(1.5), ..Measured::default() };
        assert!(slow.is_beyond(&bounds) && !Measured::default().is_beyond(&bounds));
    }

    #[test]
    fn who_is_blamed_and_what_is_no_number_is_not_normal() {
        let mut norm = Norm::default();
        let blamed = Blamed { worker: "a-1".into(), why: "it is slow".into(), sure: true };
        for _ in 0..ENOUGH {
            let odd = Measured { wrong: vec!["its folder is full".into()], ..worker("a-3", 3.0) };
            let workers = vec![worker("a-0", 800.0), worker("a-1", 1.0), worker("a-2", f64::NAN), odd];
            norm.learn(&Tested { workers, blamed: Some(blamed.clone()) });
        }
        assert_eq!(norm.bounds().network, 400.0);
    }

    #[test]
    fn a_job_is_one_value_and_no_bound_is_above_its_ceiling() {
        let mut norm = Norm::default();
        let many: Vec<Measured> = (0..1000).map(|n| worker(&format!("a-{n}"), f64::from(n) + 1.0)).collect();
        norm.learn(&Tested { workers: many, blamed: None });
        assert_eq!((norm.network.as_slice(), norm.cpu.as_slice()), ([501.0].as_slice(), [400.0].as_slice()));
        for _ in 0..ENOUGH {
            let [cpu, memory, card, mount] = [Some(1e9); 4];
            let one = Measured { cpu, memory, card, mount, ..worker("a-0", 1e9) };
            norm.learn(&Tested { workers: vec![one], blamed: None });
        }
        assert_eq!(norm.bounds(), CEILINGS);
    }

    #[test]
    fn the_newest_are_kept_and_a_quick_folder_is_never_too_slow() {
        let mut norm = Norm::default();
        for n in 0..KEPT + 50 {
            let one = Measured { mount: Some(0.001), ..worker("a-0", n as f64 + 1.0) };
            norm.learn(&Tested { workers: vec![one], blamed: None });
        }
        assert_eq!((norm.network.len(), norm.network[0]), (KEPT, 51.0));
        assert_eq!(norm.bounds().mount, QUICK);
    }

    #[test]
    fn it_is_on_off_or_said_how() {
        let read = |text: &str| serde_json::from_str::<PreflightUse>(text).unwrap().policy();
        assert_eq!((read("true"), read("false")), (Some(PreflightPolicy::default()), None));
        let said = read(r#"{"restarts": 1}"#).unwrap();
        assert_eq!((said.restarts, said.wait), (1, PreflightPolicy::default().wait));
    }
}
