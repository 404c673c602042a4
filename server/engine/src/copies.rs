//! Copies of schedulers for what-if queries, made so that frequent queries do not block the engine's loop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::Desk;
use tokio::time::Instant;

use crate::core::Core;

/// A scheduler with more jobs is not copied for every query.
const LARGE: usize = 1000;
/// Maximum age of a copy of a large scheduler.
const OLD: Duration = Duration::from_secs(2);

/// The latest copies of large schedulers.
#[derive(Default)]
pub struct Copies(BTreeMap<String, (Instant, Arc<Desk>)>);

impl Copies {
    /// The scheduler of a cluster. `None` for an unknown cluster.
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
