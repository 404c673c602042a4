//! Ports: libraries that bind to the wildcard address need an exclusive one.

use std::collections::HashSet;
use std::net::{Ipv4Addr, TcpListener};

use cubeloom_files::own;

/// Ports for leases: above the well-known services, and outside of the kernel's ephemeral range.
pub(super) struct Range {
    first: u16,
    count: u16,
}

const FIRST: u16 = 20_000;
/// Default of the kernel's ephemeral range.
const EPHEMERAL: (u16, u16) = (32_768, 60_999);

impl Range {
    /// The larger part of 20000-65535 outside the ephemeral range.
    pub(super) fn of_this_machine() -> Self {
        let text = own::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
        let mut bounds = text.split_whitespace().filter_map(|bound| bound.parse().ok());
        let (low, high) = bounds.next().zip(bounds.next()).unwrap_or(EPHEMERAL);
        Self::beside(low, high)
    }

    fn beside(low: u16, high: u16) -> Self {
        let below = low.saturating_sub(FIRST);
        let above = u16::MAX - high;
        match (below, above) {
            // The kernel's range covers everything: the check at lease time must suffice.
            (0..100, 0..100) => Self { first: FIRST, count: u16::MAX - FIRST },
            _ if below >= above => Self { first: FIRST, count: below },
            _ => Self { first: high + 1, count: above },
        }
    }

    /// The next port without a lease or listener, round-robin.
    pub(super) fn next_free(&self, next: &mut u16, taken: &HashSet<u16>) -> Option<u16> {
        (0..self.count).find_map(|_| {
            *next = next.wrapping_add(1) % self.count;
            let port = self.first + *next;
            let free = !taken.contains(&port) && TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok();
            free.then_some(port)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_lie_beside_the_ephemeral_range() {
        let range = Range::beside(32_768, 60_999);
        assert_eq!((range.first, range.count), (20_000, 12_768));
        let range = Range::beside(10_000, 60_999);
        assert_eq!((range.first, range.count), (61_000, 4_536));
    }

    #[test]
    fn a_port_that_somebody_listens_on_is_passed_over() {
        let range = Range::of_this_machine();
        let (mut next, taken) = (500, HashSet::new());
        let port = range.next_free(&mut next, &taken).unwrap();
        let _listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap();
        let mut again = next.wrapping_sub(1);
        assert_ne!(range.next_free(&mut again, &taken).unwrap(), port);
    }
}
