//! Dependencies of planning.

use std::sync::Arc;

use cubeloom_domain::clusters::Clusters;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Clock, Timestamp};
use cubeloom_store::Store;
use tokio::sync::watch;

use crate::state::Folders;

/// Dependencies of planning, as a handle that is cheap to clone.
#[derive(Clone)]
pub struct Planner {
    pub store: Store,
    pub clusters: Clusters,
    pub folders: Folders,
    /// The installed task templates.
    pub templates: watch::Receiver<Arc<TemplateSet>>,
    pub clock: Arc<dyn Clock>,
}

impl Planner {
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    #[must_use]
    pub fn templates(&self) -> Arc<TemplateSet> {
        Arc::clone(&self.templates.borrow())
    }
}
