use std::sync::Arc;

use cubeloom_admission::Settings;
use cubeloom_domain::clusters::Clusters;
use cubeloom_domain::executor::Executor;
use cubeloom_domain::{Clock, Timestamp};
use cubeloom_store::{Lease, Store};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::Instant;

use super::{Engine, EngineConfig, EngineError};
use crate::copies::Copies;
use crate::core::Core;
use crate::counted::Counted;
use crate::elsewhere::Elsewhere;
use crate::handle::Handle;

impl Engine {
    /// Starts the engine over these clusters, by name. `runs` starts the runs of other pipelines that tasks
    /// trigger. Without it, such tasks stay pending.
    pub async fn start(
        config: EngineConfig,
        store: Store,
        clusters: Clusters,
        runs: Option<Arc<dyn Executor>>,
        clock: Arc<dyn Clock>,
    ) -> Result<Handle, EngineError> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(4096);
        let (stop, stopping) = watch::channel(false);
        store.release_all(&config.owner).await.map_err(EngineError::Start)?;
        let (passed, last_pass) = watch::channel(Instant::now());
        let lease = Lease { owner: config.owner.clone() };
        // A live server renews its leases within this time, and looks at the store far more often.
        let settings = Settings { elsewhere: config.lease * 2, ..config.sharing.clone() };
        let node_rule = config.nodes.clone();
        let mut engine = Self {
            config,
            store,
            clock,
            clusters,
            runs,
            core: Core::new(settings, node_rule),
            lease,
            renew_at: Timestamp::default(),
            began: Instant::now(),
            has_strays: false,
            wished: Vec::new(),
            store_by: None,
            elsewhere: Elsewhere::default(),
            desks: Copies::default(),
            counted: Counted::default(),
            passed,
            sender: sender.clone(),
            events: events.clone(),
        };
        engine.join_clusters().await;
        let task = tokio::spawn(engine.run(receiver, stopping));
        Ok(Handle { stop, wake: sender, events, passed: last_pass, task })
    }
}
