//! Copies of desks for those who ask what would be: however often they ask, the loop is not held up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::Desk;
use tokio::time::Instant;

use crate::core::Core;

/// A desk with more jobs is not copied for everybody who asks.
const LARGE: usize = 1000;
/// How old a copy of a large desk may be.
const OLD: Duration = Duration::from_secs(2);

/// The copies of large desks that were made last.
#[derive(Default)]
pub struct Copies(BTreeMap<String, (Instant, Arc<Desk>)>);

impl Copies {
    /// The desk of a cluster.
    pub fn of(&mut self, core: &Core, cluster: &str) -> Option<Arc<Desk>> {
        let now = Instant::now();
        self.0.retain(|_, (made, _)| now.duration_since(*made) < OLD);
        if let Some((_, copy)) = self.0.get(cluster) {
            return Some(Arc::clone(copy));
        }
        let copy = Arc::new(core.desk(cluster)?);
        if copy.waiting() + copy.holding() > LARGE {
            self.0.insert(cluster.to_owned(), (now, Arc::clone(&copy)));
        }
        Some(copy)
    }
}
