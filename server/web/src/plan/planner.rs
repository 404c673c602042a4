//! What planning works with.

use std::sync::Arc;

use cubeloom_domain::clusters::Clusters;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Clock, Timestamp};
use cubeloom_store::Store;
use tokio::sync::watch;

use crate::state::Folders;

/// What planning works with: a handle that clones cheaply.
#[derive(Clone)]
pub struct Planner {
    /// The database.
    pub store: Store,
    /// The clusters.
    pub clusters: Clusters,
    /// Where files lie.
    pub folders: Folders,
    /// The installed task templates.
    pub templates: watch::Receiver<Arc<TemplateSet>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Planner {
    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The task templates as they are now.
    #[must_use]
    pub fn templates(&self) -> Arc<TemplateSet> {
        Arc::clone(&self.templates.borrow())
    }
}
