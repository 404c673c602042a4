//! What a project's documents are checked against: a cluster, and what the project has there.

use cubeloom_domain::executor::Facts;

use crate::belongings;
use crate::error::{ApiError, ApiResult};

use super::Planner;

/// What the named cluster has, or the usual one, and what `user` may use in the project.
///
/// # Errors
/// When the database does not answer.
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
    // An executor may look at its machine for this.
    let facts = tokio::task::spawn_blocking(move || cluster.facts()).await;
    let mut facts = facts.map_err(ApiError::internal)?;
    belongings::add_to_facts(&planner.store, project, user, &mut facts).await?;
    Ok(facts)
}
