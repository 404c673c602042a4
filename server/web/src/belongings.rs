//! What belongs to a project and a person beside pipelines and runs, as plans may use it.

use cubeloom_domain::executor::Facts;
use cubeloom_store::{Store, StoreError};

use crate::secrets;

/// Adds to what a cluster has the secrets that a run of `user` in `project` may use, so that planning knows them.
///
/// # Errors
/// When the database does not answer.
pub async fn add_to_facts(
    store: &Store,
    project: &str,
    user: &str,
    facts: &mut Facts,
) -> Result<(), StoreError> {
    let mut names = secrets::names(store, project, user).await?;
    names.extend(std::mem::take(&mut facts.secrets));
    facts.secrets = names.into_iter().collect();
    Ok(())
}
