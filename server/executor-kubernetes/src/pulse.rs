//! Whether the API server responds at all. Requests may wait a minute, since webhooks may take half of one,
//! and a watch is silent while nothing changes. If packets are lost, neither notices soon.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::cluster::Cluster;
use crate::error::Refused;

/// Poll interval of the API server's version, and timeout of the response, which it has in memory.
const OFTEN: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(8);

/// Polls for as long as the server runs. Every service account may read the version: a refusal says nothing
/// about this server's rights.
pub async fn keep(cluster: Arc<Cluster>) {
    let mut hangs = false;
    loop {
        sleep(OFTEN).await;
        let client = cluster.client().await;
        match timeout(ANSWER, client.apiserver_version()).await {
            Err(_) => {
                hangs = true;
                let refused = Refused::ForNow(format!("no response within {} seconds", ANSWER.as_secs()));
                cluster.standing.failed("reading its version", &refused);
                cluster.watches.begin_again();
            }
            Ok(answer) => {
                // Earlier connections may be dead without either end knowing.
                if std::mem::take(&mut hangs) {
                    cluster.watches.begin_again();
                    if answer.is_ok() {
                        cluster.standing.answered();
                    }
                }
            }
        }
    }
}
