//! Caches the engine's counts, so that frequent scrapes do not block the engine's loop.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::core::Tally;

/// Maximum age of the counts: counting visits every instance in memory.
const OLD: Duration = Duration::from_secs(1);

/// The latest counts.
#[derive(Default)]
pub struct Counted(Option<(Instant, Arc<Tally>)>);

impl Counted {
    /// The counts as of `now`; `count` is called only if the latest ones are too old.
    pub fn of(&mut self, now: Instant, count: impl FnOnce() -> Tally) -> Arc<Tally> {
        match &self.0 {
            Some((at, tally)) if now.duration_since(*at) < OLD => Arc::clone(tally),
            _ => {
                let tally = Arc::new(count());
                self.0 = Some((now, Arc::clone(&tally)));
                tally
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_counted_once_for_all_who_ask_within_a_second() {
        let (mut counted, mut times) = (Counted::default(), 0);
        let began = Instant::now();
        let mut ask = |after: Duration| {
            counted.of(began + after, || {
                times += 1;
                Tally { runs: [("running", times)].into(), ..Tally::default() }
            })
        };
        let first = ask(Duration::ZERO);
        for n in 0..1000 {
            assert!(Arc::ptr_eq(&first, &ask(Duration::from_millis(n))));
        }
        assert_eq!(ask(OLD).runs["running"], 2);
    }
}
