//! GPUs as reported by NVML. Its library is loaded at run time; without it there are none.

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::GpuFacts;
use cubeloom_files::own;
use nvml_wrapper::{Device, Nvml};

/// Maximum number of NVLinks of a GPU.
const MOST_LINKS: u32 = 18;
/// The kernel's device class of an NVSwitch: a bridge of unknown kind.
const SWITCH: &str = "0x0680";

/// The GPUs and their NVLink topology.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gpus {
    /// The GPUs, by NVML index.
    pub(crate) facts: Vec<GpuFacts>,
    /// Pairs of GPUs, with the number of links between them.
    pub(crate) links: Vec<(usize, usize, u32)>,
}

/// The other end of a GPU's link.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    /// The GPU with this PCI bus id.
    Card(String),
    Switch,
}

impl Gpus {
    /// The number of links between two GPUs.
    pub(crate) fn links(&self, a: usize, b: usize) -> u32 {
        let joins = |(one, other, _): &&(usize, usize, u32)| (*one, *other) == (a.min(b), a.max(b));
        self.links.iter().find(joins).map_or(0, |(_, _, count)| *count)
    }

    /// Queries NVML.
    ///
    /// # Errors
    /// A sentence: the library is missing, or the driver does not respond.
    pub(crate) fn find() -> Result<Self, String> {
        let nvml = Nvml::init().map_err(|error| error.to_string())?;
        let count = nvml.device_count().map_err(|error| error.to_string())?;
        let devices: Vec<Device<'_>> =
            (0..count).filter_map(|index| nvml.device_by_index(index).ok()).collect();
        let bus = |device: &Device<'_>| device.pci_info().map_or_else(|_| String::new(), |pci| pci.bus_id);
        // Links refer to GPUs by position among those that report themselves: one that has fallen off the bus
        // does not.
        let known = devices.iter().filter_map(|one| Some((facts(one)?, (bus(one), ends(one)))));
        let (facts, cards): (Vec<GpuFacts>, Vec<(String, Vec<End>)>) = known.unzip();
        Ok(Self { facts, links: joined(&cards) })
    }
}

fn facts(device: &Device<'_>) -> Option<GpuFacts> {
    Some(GpuFacts {
        uuid: device.uuid().ok()?,
        name: device.name().unwrap_or_default(),
        memory: Bytes(device.memory_info().map_or(0, |memory| memory.total)),
        xid: None,
    })
}

/// The other ends of a GPU's active links.
fn ends(device: &Device<'_>) -> Vec<End> {
    let end = |link: u32| {
        let link = device.link_wrapper_for(link);
        let peer = link.is_active().ok().filter(|is_active| *is_active).and(link.remote_pci_info().ok())?;
        let class =
            format!("/sys/bus/pci/devices/{:04x}:{:02x}:{:02x}.0/class", peer.domain, peer.bus, peer.device);
        let is_switch = own::read_to_string(class).is_ok_and(|class| class.starts_with(SWITCH));
        Some(if is_switch { End::Switch } else { End::Card(peer.bus_id) })
    };
    (0..MOST_LINKS).filter_map(end).collect()
}

/// The linked pairs among GPUs, each given with its bus id and the ends of its links. Through switches, two
/// GPUs share as many links as the lesser of them has to the switches, as `nvidia-smi topo -m` shows.
fn joined(cards: &[(String, Vec<End>)]) -> Vec<(usize, usize, u32)> {
    let count = |at: usize, end: &End| cards[at].1.iter().filter(|one| *one == end).count();
    let mut found = Vec::new();
    for a in 0..cards.len() {
        for b in a + 1..cards.len() {
            // Both ends report a link.
            let direct =
                count(a, &End::Card(cards[b].0.clone())).max(count(b, &End::Card(cards[a].0.clone())));
            let switched = count(a, &End::Switch).min(count(b, &End::Switch));
            let links = u32::try_from(direct + switched).unwrap_or(u32::MAX);
            found.extend((links > 0).then_some((a, b, links)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(ends: &[&[End]]) -> Vec<(String, Vec<End>)> {
        ends.iter().enumerate().map(|(at, ends)| (at.to_string(), ends.to_vec())).collect()
    }

    /// Links to these GPUs, by number.
    fn to(peers: &[usize]) -> Vec<End> {
        peers.iter().map(|peer| End::Card(peer.to_string())).collect()
    }

    #[test]
    fn direct_links_are_counted_once_though_both_ends_report_them() {
        // Four GPUs of a cube mesh, and a peer that is not among them.
        let ends = [to(&[1, 2, 3, 3, 8]), to(&[0, 2, 2, 3]), to(&[0, 1, 1, 3]), to(&[0, 0, 1, 2])];
        let found = joined(&cards(&ends.each_ref().map(Vec::as_slice)));
        assert_eq!(found, [(0, 1, 1), (0, 2, 1), (0, 3, 2), (1, 2, 2), (1, 3, 1), (2, 3, 1)]);
        let gpus = Gpus { links: found, ..Gpus::default() };
        assert_eq!([gpus.links(0, 3), gpus.links(3, 0), gpus.links(1, 1)], [2, 2, 0]);
        // One end may not report.
        assert_eq!(joined(&cards(&[&to(&[1]), &[]])), [(0, 1, 1)]);
    }

    #[test]
    fn through_switches_all_cards_are_joined_by_the_links_that_both_have() {
        let eighteen = vec![End::Switch; 18];
        let found = joined(&cards(&[eighteen.as_slice(); 8]));
        assert_eq!((found.len(), found.iter().all(|(_, _, links)| *links == 18)), (28, true));
        // A GPU has a link that is down.
        assert_eq!(joined(&cards(&[&eighteen, &eighteen[1..], &[]])), [(0, 1, 17)]);
        assert!(joined(&cards(&[&[], &[]])).is_empty());
    }
}
