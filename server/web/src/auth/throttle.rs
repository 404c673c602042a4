//! Throttles password guessing. Failures count per name and address, per address, and per name. After some
//! failures, each further attempt must wait twice as long as the one before. This locks no user out: an
//! address that has signed in with a name is not slowed by failures from elsewhere.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use moka::ops::compute::Op;
use moka::sync::Cache;

/// How long failures count after the last one.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);
/// How long an address stays known for a name after a sign-in.
const KNOWN: Duration = Duration::from_secs(30 * 86_400);
const MOST: u64 = 100_000;

/// Counters of sign-in attempts.
pub(crate) struct Throttle {
    pairs: Tries,
    addresses: Tries,
    names: Tries,
    /// Pairs of name and address that have signed in.
    known: Cache<String, ()>,
}

impl Throttle {
    pub(crate) fn new() -> Self {
        let seconds = Duration::from_secs;
        Self {
            pairs: Tries::new(5, seconds(15 * 60)),
            addresses: Tries::new(20, seconds(5 * 60)),
            names: Tries::new(30, seconds(30)),
            known: Cache::builder().max_capacity(MOST).time_to_live(KNOWN).build(),
        }
    }

    /// Counts an attempt. It counts as a failure until [`Throttle::succeeded`], so that concurrent attempts
    /// count too.
    ///
    /// # Errors
    /// The remaining wait, if the attempt is too early.
    pub(crate) fn tries(&self, name: &str, address: &str, now: Timestamp) -> Result<(), Duration> {
        let pair = pair(name, address);
        self.pairs.take(&pair, now)?;
        self.addresses.take(address, now)?;
        if self.known.contains_key(&pair) { Ok(()) } else { self.names.take(name, now) }
    }

    /// The last attempt succeeded.
    pub(crate) fn succeeded(&self, name: &str, address: &str) {
        let pair = pair(name, address);
        self.pairs.forget(&pair);
        self.addresses.give_back(address);
        if !self.known.contains_key(&pair) {
            self.names.give_back(name);
        }
        self.known.insert(pair, ());
    }

    /// The last attempt was right, but those before still count: the caller can make right ones at will.
    pub(crate) fn was_right(&self, name: &str, address: &str) {
        self.pairs.give_back(&pair(name, address));
        self.addresses.give_back(address);
        self.names.give_back(name);
    }
}

fn pair(name: &str, address: &str) -> String {
    format!("{address} {name}")
}

/// Counters of one kind, by key.
struct Tries {
    counts: Cache<String, Count>,
    /// Number of attempts without a delay.
    free: u32,
    /// Maximum delay.
    longest: Duration,
}

#[derive(Clone, Copy)]
struct Count {
    tries: u32,
    /// Earliest time of the next attempt.
    next: Timestamp,
}

impl Tries {
    fn new(free: u32, longest: Duration) -> Self {
        let counts = Cache::builder().max_capacity(MOST).time_to_live(REMEMBERED).build();
        Self { counts, free, longest }
    }

    fn take(&self, key: &str, now: Timestamp) -> Result<(), Duration> {
        let mut wait = Duration::ZERO;
        self.counts.entry_by_ref(key).and_compute_with(|found| {
            let before = found.map_or(Count { tries: 0, next: Timestamp(0) }, |entry| entry.into_value());
            wait = before.next.since(now);
            if !wait.is_zero() {
                return Op::Nop;
            }
            let tries = before.tries.saturating_add(1);
            // Of two concurrent attempts, the earlier can be counted last: only a delay makes it wait for the
            // other.
            let next = self.delay(tries).map_or(before.next, |delay| now.plus(delay));
            Op::Put(Count { tries, next })
        });
        if wait.is_zero() { Ok(()) } else { Err(wait) }
    }

    /// Delay before the next attempt, if any.
    fn delay(&self, tries: u32) -> Option<Duration> {
        let over = tries.checked_sub(self.free)?;
        Some(Duration::from_secs(1 << over.min(20)).min(self.longest))
    }

    fn give_back(&self, key: &str) {
        self.counts.entry_by_ref(key).and_compute_with(|found| match found.map(|entry| entry.into_value()) {
            Some(count) if count.tries > 1 => Op::Put(Count { tries: count.tries - 1, next: Timestamp(0) }),
            Some(_) => Op::Remove,
            None => Op::Nop,
        });
    }

    fn forget(&self, key: &str) {
        self.counts.invalidate(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1_000_000)
    }

    #[test]
    fn each_try_after_the_fifth_waits_twice_as_long() {
        let throttle = Throttle::new();
        for _ in 0..5 {
            assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Ok(()));
        }
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Err(Duration::from_secs(1)));
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(1)), Ok(()));
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(1)), Err(Duration::from_secs(2)));
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(3)), Ok(()));
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(4)), Err(Duration::from_secs(3)));
        // Other users and addresses are not slowed.
        assert_eq!(throttle.tries("bob", "10.0.0.1", at(4)), Ok(()));
        assert_eq!(throttle.tries("ada", "10.0.0.2", at(4)), Ok(()));
    }

    #[test]
    fn of_tries_at_once_the_order_does_not_matter() {
        let throttle = Throttle::new();
        for n in (0..5).rev() {
            assert_eq!(throttle.tries("ada", "10.0.0.1", at(n)), Ok(()));
        }
    }

    #[test]
    fn a_right_password_begins_anew() {
        let throttle = Throttle::new();
        for _ in 0..50 {
            assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Ok(()));
            throttle.succeeded("ada", "10.0.0.1");
        }
    }

    #[test]
    fn right_attempts_between_wrong_ones_do_not_help_to_guess() {
        let throttle = Throttle::new();
        for _ in 0..50 {
            assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Ok(()));
            throttle.was_right("ada", "10.0.0.1");
        }
        for _ in 0..4 {
            assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Ok(()));
        }
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Ok(()));
        throttle.was_right("ada", "10.0.0.1");
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Ok(()));
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Err(Duration::from_secs(1)));
    }

    #[test]
    fn guesses_from_many_addresses_slow_the_name_but_not_who_is_known() {
        let throttle = Throttle::new();
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Ok(()));
        throttle.succeeded("ada", "10.0.0.1");
        for n in 0..30 {
            assert_eq!(throttle.tries("ada", &format!("10.1.0.{n}"), at(0)), Ok(()));
        }
        assert!(throttle.tries("ada", "10.2.0.1", at(0)).is_err());
        assert_eq!(throttle.tries("ada", "10.0.0.1", at(0)), Ok(()));
    }

    #[test]
    fn an_address_that_tries_many_names_is_slowed() {
        let throttle = Throttle::new();
        for n in 0..20 {
            assert_eq!(throttle.tries(&format!("name-{n}"), "10.0.0.1", at(0)), Ok(()));
        }
        assert!(throttle.tries("another", "10.0.0.1", at(0)).is_err());
    }
}
