//! Whether the API server answers at all. Requests wait for a minute, as webhooks may take half of one, and a watch is silent
//! for as long as nothing happens: where packets are lost, neither notices soon.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::cluster::Cluster;
use crate::error::Refused;

/// How often its version is requested, and how long the answer may take, which is in its memory.
const OFTEN: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(8);

/// Asks for as long as the server runs. Every account may read the version: a refusal says nothing of what this server may do.
pub async fn keep(cluster: Arc<Cluster>) {
    let mut hangs = false;
    loop {
        sleep(OFTEN).await;
        let client = cluster.client().await;
        match timeout(ANSWER, client.apiserver_version()).await {
            Err(_) => {
                hangs = true;
                let refused = Refused::ForNow(format!("no answer within {} seconds", ANSWER.as_secs()));
                cluster.standing.failed("asking its version", &refused);
                cluster.watches.begin_again();
            }
            Ok(answer) => {
                // Connections of before may be lost without either end knowing of it.
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
