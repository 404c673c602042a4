//! Data that a project's documents are validated against: a cluster, and the project's resources there.

use cubeloom_domain::executor::Facts;

use crate::belongings;
use crate::error::{ApiError, ApiResult};

use super::Planner;

/// Facts of the named or default cluster, and what `user` can use in the project.
pub(crate) async fn facts(
    planner: &Planner,
    project: &str,
    user: &str,
    cluster: Option<&str>,
) -> ApiResult<Facts> {
    let clusters = &planner.clusters;
    let named = cluster.and_then(|name| clusters.get(name));
    let Some(cluster) = named.or_else(|| clusters.usual()) else {
        return Ok(Facts::default());
    };
    // The executor may inspect its machine for this.
    let facts = tokio::task::spawn_blocking(move || cluster.facts()).await;
    let mut facts = facts.map_err(ApiError::internal)?;
    belongings::add_to_facts(&planner.store, project, user, &mut facts).await?;
    Ok(facts)
}
