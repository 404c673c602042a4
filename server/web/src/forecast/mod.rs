//! Estimated starts of jobs. Simulations run on copies of the engine's scheduler states, so that they block
//! nothing.

pub(crate) mod before;
mod kept;
mod lines;
pub(crate) mod places;
mod starts;

pub(crate) use lines::{Lines, RunLines};
pub(crate) use starts::{JobStart, RunStarts, Starts};

use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::Desk;
use tokio::time::timeout;

use crate::state::Web;

/// Timeout for the engine: it may be waiting for the database.
const PATIENCE: Duration = Duration::from_secs(2);

/// A copy of a cluster's scheduler state. `None` if this server's engine does not know the cluster or does
/// not respond in time.
pub(crate) async fn desk(web: &Web, cluster: &str) -> Option<Arc<Desk>> {
    timeout(PATIENCE, web.desk(cluster)).await.ok().flatten()
}
