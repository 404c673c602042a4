//! Graphics cards as NVML tells them. Its library is loaded while running; without it there are none.

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::GpuFacts;
use nvml_wrapper::{Device, Nvml};

/// The most NVLinks that a card has.
const MOST_LINKS: u32 = 18;

/// The cards and which of them are neighbours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gpus {
    /// The cards, by NVML's index.
    pub(crate) facts: Vec<GpuFacts>,
    /// One pair for each direct link.
    pub(crate) links: Vec<(usize, usize)>,
}

impl Gpus {
    /// The number of direct links between two cards.
    pub(crate) fn links(&self, a: usize, b: usize) -> u32 {
        let joins = |pair: &&(usize, usize)| **pair == (a, b) || **pair == (b, a);
        u32::try_from(self.links.iter().filter(joins).count()).unwrap_or(u32::MAX)
    }

    /// Asks NVML.
    ///
    /// # Errors
    /// A sentence: the library is missing, or the driver does not answer.
    pub(crate) fn find() -> Result<Self, String> {
        let nvml = Nvml::init().map_err(|error| error.to_string())?;
        let count = nvml.device_count().map_err(|error| error.to_string())?;
        let devices: Vec<Device<'_>> =
            (0..count).filter_map(|index| nvml.device_by_index(index).ok()).collect();
        Ok(Self { facts: devices.iter().filter_map(facts).collect(), links: links(&devices) })
    }
}

fn facts(device: &Device<'_>) -> Option<GpuFacts> {
    Some(GpuFacts {
        uuid: device.uuid().ok()?,
        name: device.name().unwrap_or_default(),
        memory: Bytes(device.memory_info().map_or(0, |memory| memory.total)),
    })
}

/// The direct links between cards; through a switch all are equally near, and none is told.
fn links(devices: &[Device<'_>]) -> Vec<(usize, usize)> {
    let buses: Vec<Option<String>> =
        devices.iter().map(|device| device.pci_info().ok().map(|pci| pci.bus_id)).collect();
    let mut found = Vec::new();
    for (a, device) in devices.iter().enumerate() {
        for link in 0..MOST_LINKS {
            let Ok(peer) = device.link_wrapper_for(link).remote_pci_info() else { continue };
            let b = buses.iter().position(|bus| bus.as_deref() == Some(peer.bus_id.as_str()));
            // Both ends report the link.
            found.extend(b.filter(|b| a < *b).map(|b| (a, b)));
        }
    }
    found
}
