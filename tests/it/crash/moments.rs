//! Kills at random moments.

use std::time::{Duration, Instant};

use super::baseline::Baseline;
use super::figures::Figures;
use super::site::{Site, Variables};
use super::watch::{Came, Watch};

/// Maximum milliseconds from the server's resumption of work to the next kill.
const LONGEST: u64 = 250;
/// One kill in this many comes while the server starts.
const IN_RECOVERY: u64 = 5;
/// Maximum milliseconds from the server's start to a kill during startup.
const LONGEST_RECOVERY: u64 = 120;

/// Pseudo-random numbers that are the same each time (splitmix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn up_to(&mut self, millis: u64) -> Duration {
        Duration::from_micros(self.below(millis * 1000))
    }
}

/// Kills the server `kills` times, over as many runs as needed, and compares each run.
pub fn kill(
    site: &mut Site,
    baseline: &Baseline,
    kills: u64,
    numbers: &mut Numbers,
    variables: Variables<'_>,
    figures: &mut Figures,
) {
    let mut left = kills;
    while left > 0 {
        site.forget_environments();
        site.start_ready(variables);
        let mut watch = Watch::of(site.run(&baseline.document));
        while left > 0 && next_moment(site, &mut watch, numbers) == Came::Moment {
            site.kill();
            left -= 1;
            figures.random_kills += 1;
            watch.restart(site, variables);
        }
        assert_eq!(watch.wait(site, None), Came::End, "{}", site.last_log());
        site.stop();
        figures.take_times(&mut watch);
        baseline.compare(site, &watch.run, figures);
    }
}

/// Waits for the next moment to kill, unless the run ends before.
fn next_moment(site: &mut Site, watch: &mut Watch, numbers: &mut Numbers) -> Came {
    if numbers.below(IN_RECOVERY) == 0 {
        let moment = Instant::now() + numbers.up_to(LONGEST_RECOVERY);
        return watch.wait(site, Some(moment));
    }
    match watch.wait_until_back(site) {
        Some(other) => other,
        None => {
            let moment = Instant::now() + numbers.up_to(LONGEST);
            watch.wait(site, Some(moment))
        }
    }
}
