//! Alerts about cordoned nodes, to every project that may use their cluster.

use std::collections::BTreeSet;

use cubeloom_domain::alert::{Alert, AlertKind, Channel};
use cubeloom_domain::nodes::NodeAside;
use sqlx::AnyConnection;

use super::channels::listening;
use super::raise::tell;
use crate::error::StoreError;
use crate::projects::places;

/// Alerts about a node that is being cordoned.
pub(crate) async fn node_aside(connection: &mut AnyConnection, aside: &NodeAside) -> Result<(), StoreError> {
    let wants = |channel: &Channel| channel.rules.events.contains(&AlertKind::NodeSetAside);
    let channels: Vec<Channel> = listening(connection, None).await?.into_iter().filter(wants).collect();
    let told: BTreeSet<&str> = channels.iter().map(|channel| channel.project.as_str()).collect();
    for project in told {
        if !places(connection, project).await?.is_some_and(|places| places.allow_any_of(&aside.of.cluster)) {
            continue;
        }
        let topic = format!("node:{}:{}", aside.of.cluster, aside.of.node);
        let key = format!("{topic}:{}", aside.since.0);
        let alert = Alert {
            sentence: Some(aside.sentence()),
            ..Alert::new(AlertKind::NodeSetAside, aside.since, project, key, topic)
        };
        let of_project: Vec<_> =
            channels.iter().filter(|channel| channel.project == project).cloned().collect();
        tell(connection, &of_project, &alert).await?;
    }
    Ok(())
}
