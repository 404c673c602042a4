//! Usage of a worker's GPUs.

use cubeloom_domain::Bytes;
use cubeloom_domain::usage::CardsSample;
use nvml_wrapper::Nvml;

use crate::spec::ShimSpec;

/// The variable with a worker's GPU UUIDs.
const HELD: &str = "CUDA_VISIBLE_DEVICES";

/// The GPUs of a worker. NVML is loaded only for workers with GPUs: there may be thousands of shims.
pub(super) struct Cards {
    nvml: Nvml,
    held: Vec<String>,
}

impl Cards {
    /// The worker's GPUs; `None` if it has none, or NVML does not respond.
    pub(super) fn of(order: &ShimSpec) -> Option<Self> {
        let held: Vec<String> = named(order.env.iter()).map(ToOwned::to_owned).collect();
        if held.is_empty() {
            return None;
        }
        Some(Self { nvml: Nvml::init().ok()?, held })
    }

    /// Their current usage in total; `None` if one of them does not report.
    pub(super) fn sample(&self) -> Option<CardsSample> {
        let mut all = CardsSample::default();
        let mut used = 0;
        for uuid in &self.held {
            let card = self.nvml.device_by_uuid(uuid.as_str()).ok()?;
            used += card.utilization_rates().ok()?.gpu;
            all.memory = Bytes(all.memory.0 + card.memory_info().ok()?.used);
            all.power_mw += u64::from(card.power_usage().unwrap_or(0));
            all.cards += 1;
        }
        all.use_percent = used.checked_div(all.cards)?;
        Some(all)
    }
}

/// The GPUs that a worker's variables name.
fn named<'a>(variables: impl Iterator<Item = &'a (String, String)>) -> impl Iterator<Item = &'a str> {
    let value = variables.filter(|(name, _)| name == HELD).map(|(_, value)| value.as_str()).last();
    value.unwrap_or_default().split(',').map(str::trim).filter(|uuid| uuid.starts_with("GPU-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cards_are_those_that_the_worker_is_told_of() {
        let variables = |value: &str| vec![("A".to_owned(), "GPU-x".to_owned()), (HELD.into(), value.into())];
        let cards = |value: &str| named(variables(value).iter()).map(ToOwned::to_owned).collect::<Vec<_>>();
        assert_eq!(cards("GPU-1, GPU-2"), ["GPU-1", "GPU-2"]);
        assert!(cards("").is_empty() && cards("void").is_empty());
    }
}
