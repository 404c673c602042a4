//! Loopback addresses: each server claims one block 127.B.0.0/16, and its workers get addresses from it.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::Ipv4Addr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

/// The first block; the addresses below are in common use.
const FIRST: u8 = 16;
const BLOCKS: u8 = 238;

/// A block that this server has exclusively while it runs.
pub(super) struct Block {
    second: u8,
    /// Abstract socket names are per network namespace, like loopback addresses, and the kernel releases them
    /// when the process ends.
    _claim: UnixDatagram,
}

impl Block {
    /// Claims a block. A data folder prefers the same one each time, so that after a restart the addresses of
    /// running workers stay reserved.
    pub(super) fn take(data: &Path) -> Option<Self> {
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let preferred = u8::try_from(hasher.finish() % u64::from(BLOCKS)).unwrap_or(0);
        (0..BLOCKS).find_map(|step| {
            let number = u8::try_from((u16::from(preferred) + u16::from(step)) % u16::from(BLOCKS)).ok()?;
            let second = FIRST + number;
            let name = SocketAddr::from_abstract_name(format!("cubeloom-127.{second}")).ok()?;
            UnixDatagram::bind_addr(&name).ok().map(|claim| Self { second, _claim: claim })
        })
    }

    /// Number of the block.
    pub(super) fn number(&self) -> u8 {
        self.second - FIRST
    }

    /// The next unused address, round-robin.
    pub(super) fn next_free(&self, next: &mut u16, taken: &HashSet<Ipv4Addr>) -> Option<Ipv4Addr> {
        (0..=u16::MAX).find_map(|_| {
            *next = next.wrapping_add(1);
            let [third, fourth] = next.to_be_bytes();
            let address = Ipv4Addr::new(127, self.second, third, fourth);
            (!matches!(fourth, 0 | 255) && !taken.contains(&address)).then_some(address)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_side_by_side_have_different_blocks() {
        let (one, two) = (Block::take(Path::new("/same")).unwrap(), Block::take(Path::new("/same")).unwrap());
        assert_ne!(one.second, two.second);
        let (mut next, mut taken) = (u16::MAX - 1, HashSet::new());
        let first = one.next_free(&mut next, &taken).unwrap();
        taken.insert(first);
        assert_eq!(first.octets(), [127, one.second, 0, 1]);
        assert_eq!(one.next_free(&mut next, &taken).unwrap().octets()[3], 2);
    }
}
