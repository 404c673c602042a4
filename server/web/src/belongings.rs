//! What belongs to a project beside pipelines and runs: its names, and what of it plans may use.

use cubeloom_domain::executor::Facts;
use cubeloom_store::{Store, StoreError};

use crate::error::{ApiError, ApiResult};
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

/// A name that tasks and addresses can hold.
///
/// # Errors
/// A refusal that says what a name is.
pub(crate) fn check_name(path: &str, name: &str) -> ApiResult<()> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let label = (1..=63).contains(&name.len())
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if label {
        return Ok(());
    }
    let message = "use at most 63 lower-case letters, digits and `-`, beginning and ending with a letter or digit";
    Err(ApiError::field(path, format!("`{name}` is not a name: {message}")))
}

/// A description that fits on a page.
///
/// # Errors
/// When it is longer than 1,000 characters.
pub(crate) fn check_description(text: &str) -> ApiResult<()> {
    match text.chars().count() {
        0..=1000 => Ok(()),
        count => Err(ApiError::field(
            "/description",
            format!("it has {count} characters: shorten it to at most 1,000"),
        )),
    }
}
