//! Counts of what there is, for those who look at the server from outside: however often they ask, the loop is not held up.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::core::Tally;

/// How old counts may be: to count is to look at every instance in memory.
const OLD: Duration = Duration::from_secs(1);

/// What was counted last.
#[derive(Default)]
pub struct Counted(Option<(Instant, Arc<Tally>)>);

impl Counted {
    /// What there is `now`; `count` is asked only when nothing was counted lately.
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
