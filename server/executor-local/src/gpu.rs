//! Graphics cards as NVML tells them. Its library is loaded while running; without it there are none.

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::GpuFacts;
use cubeloom_files::own;
use nvml_wrapper::{Device, Nvml};

/// The most NVLinks that a card has.
const MOST_LINKS: u32 = 18;
/// How the kernel calls the class of an NVSwitch: a bridge of no kind that it knows.
const SWITCH: &str = "0x0680";

/// The cards and which of them are neighbours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gpus {
    /// The cards, by NVML's index.
    pub(crate) facts: Vec<GpuFacts>,
    /// Pairs that are joined by so many links.
    pub(crate) links: Vec<(usize, usize, u32)>,
}

/// What a link of a card leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    /// The card with this bus.
    Card(String),
    /// A switch.
    Switch,
}

impl Gpus {
    /// The number of links between two cards.
    pub(crate) fn links(&self, a: usize, b: usize) -> u32 {
        let joins = |(one, other, _): &&(usize, usize, u32)| (*one, *other) == (a.min(b), a.max(b));
        self.links.iter().find(joins).map_or(0, |(_, _, count)| *count)
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
        let bus = |device: &Device<'_>| device.pci_info().map_or_else(|_| String::new(), |pci| pci.bus_id);
        // Links name cards by their place among those that say what they are: one that has fallen off the bus does not.
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

/// What the links of a card that are up lead to.
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

/// The pairs of cards, each with its bus and the ends of its links, that are joined. Through switches as many links join two as
/// both have to them, which is what `nvidia-smi topo -m` tells.
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

    /// Links to these cards, by number.
    fn to(peers: &[usize]) -> Vec<End> {
        peers.iter().map(|peer| End::Card(peer.to_string())).collect()
    }

    #[test]
    fn direct_links_are_counted_once_though_both_ends_report_them() {
        // Four cards of a cube mesh, and a peer that is none of ours.
        let ends = [to(&[1, 2, 3, 3, 8]), to(&[0, 2, 2, 3]), to(&[0, 1, 1, 3]), to(&[0, 0, 1, 2])];
        let found = joined(&cards(&ends.each_ref().map(Vec::as_slice)));
        assert_eq!(found, [(0, 1, 1), (0, 2, 1), (0, 3, 2), (1, 2, 2), (1, 3, 1), (2, 3, 1)]);
        let gpus = Gpus { links: found, ..Gpus::default() };
        assert_eq!([gpus.links(0, 3), gpus.links(3, 0), gpus.links(1, 1)], [2, 2, 0]);
        // One end may not tell.
        assert_eq!(joined(&cards(&[&to(&[1]), &[]])), [(0, 1, 1)]);
    }

    #[test]
    fn through_switches_all_cards_are_joined_by_the_links_that_both_have() {
        let eighteen = vec![End::Switch; 18];
        let found = joined(&cards(&[eighteen.as_slice(); 8]));
        assert_eq!((found.len(), found.iter().all(|(_, _, links)| *links == 18)), (28, true));
        // A card has a link that is down.
        assert_eq!(joined(&cards(&[&eighteen, &eighteen[1..], &[]])), [(0, 1, 17)]);
        assert!(joined(&cards(&[&[], &[]])).is_empty());
    }
}
