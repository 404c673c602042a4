//! Whether the API server answers at all. Requests wait for a minute, as webhooks may take half of one, and a watch says nothing
//! for as long as nothing happens: where packets go nowhere, neither tells soon.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::clusters::Standing;
use tokio::time::{sleep, timeout};

use crate::cluster::Cluster;
use crate::error::Refused;

/// How often it is asked, and how long the answer may take, which is in its memory.
const OFTEN: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(8);

/// Asks for as long as the server runs. Its version is told to anybody: that says nothing of what this server may do.
pub async fn keep(cluster: Arc<Cluster>) {
    let client = cluster.client().await;
    loop {
        sleep(OFTEN).await;
        match timeout(ANSWER, client.apiserver_version()).await {
            Err(_) => {
                let hangs = Refused::ForNow(format!("no answer within {} seconds", ANSWER.as_secs()));
                cluster.standing.failed("asking its version", &hangs);
            }
            // It goes on as it was, or something else tells that it does not.
            Ok(Ok(_)) if matches!(cluster.standing.now(), Standing::Away { .. }) => {
                cluster.standing.answered()
            }
            Ok(_) => {}
        }
    }
}
