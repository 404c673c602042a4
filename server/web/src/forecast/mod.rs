//! When jobs may start. The engine's desks are asked, by copies of them: what is simulated holds up nothing.

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

/// How long the engine is waited for: it may be waiting for the database.
const PATIENCE: Duration = Duration::from_secs(2);

/// A copy of a cluster's desk. `None` where the engine of this server knows no such cluster, or does not answer now.
pub(crate) async fn desk(web: &Web, cluster: &str) -> Option<Arc<Desk>> {
    timeout(PATIENCE, web.desk(cluster)).await.ok().flatten()
}
