//! Polls Slurm, once for all attempts: job states, accounting records of jobs that are no longer listed, and
//! nodes. However many attempts there are, this takes less than two requests a second.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use tokio::time::{Instant, MissedTickBehavior};

use crate::cluster::Cluster;
use crate::commands::Trouble;
use crate::seen::{Who, accounted, listed};

/// Poll interval of the nodes; and of the jobs, if there are none.
const SELDOM: Duration = Duration::from_secs(30);
/// Maximum number of names per query of accounting: command lines are limited.
const NAMES: usize = 1000;

/// Polls until the server ends.
pub async fn keep(cluster: Arc<Cluster>) {
    let every = cluster.config.every;
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut jobs_at, mut nodes_at, mut asked_at) = (None, None, None);
    let due = |at: Option<Instant>, after: Duration| at.is_none_or(|at| at.elapsed() >= after);
    loop {
        ticks.tick().await;
        if !cluster.attempts().is_empty() || due(jobs_at, SELDOM) {
            jobs_at = Some(Instant::now());
            jobs(&cluster).await;
        }
        if due(asked_at, every * 2) {
            let asked = cluster.board.asked(NAMES);
            if !asked.is_empty() {
                asked_at = Some(Instant::now());
                account(&cluster, &asked).await;
            }
        }
        // While the cluster is unreachable, retry soon.
        let is_away = cluster.facts().nodes.is_empty();
        if due(nodes_at, if is_away { every * 5 } else { SELDOM }) {
            nodes_at = Some(Instant::now());
            if let Ok(seen) = cluster.speech.nodes().await {
                cluster.saw(seen);
            }
        }
    }
}

async fn jobs(cluster: &Cluster) {
    let number = cluster.board.begin();
    match cluster.speech.jobs().await {
        Ok(seen) => {
            cluster.stands(None);
            cluster.board.listed(number, listed(seen, &cluster.board.ids()));
        }
        Err(Trouble::Away(why) | Trouble::Refused(why)) => cluster.stands(Some(why)),
    }
}

async fn account(cluster: &Cluster, asked: &HashMap<AttemptKey, Who>) {
    // By ids, since jobs can be renamed; by name if no id is known.
    let ids: Vec<&str> = asked.values().flat_map(|who| who.ids.iter().map(String::as_str)).collect();
    let nameless = asked.values().filter(|who| who.ids.is_empty());
    let names: Vec<&str> = nameless.map(|who| who.name.as_str()).collect();
    let mut text = String::new();
    for by in [format!("--jobs={}", ids.join(",")), format!("--name={}", names.join(","))] {
        if by.ends_with('=') {
            continue;
        }
        match cluster.commands.sacct(&by).await {
            Ok(said) => text += &said,
            // A cluster without accounting knows nothing more.
            Err(Trouble::Refused(_)) => {}
            Err(Trouble::Away(why)) => {
                tracing::warn!(cluster = cluster.config.name, why, "accounting is unreachable");
                return;
            }
        }
    }
    cluster.board.accounted(asked, &accounted(&text));
}
