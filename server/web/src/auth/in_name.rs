//! Checks whether a user may still start runs: schedules and hooks run as that user.

use cubeloom_domain::identity::{Role, User};

use crate::error::ApiResult;
use crate::state::Web;

/// Why a user may no longer start runs of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MayNot {
    /// The account was deleted.
    Gone,
    /// The account is disabled.
    Disabled,
    /// The user is not an editor of the project.
    NoEditor,
}

impl MayNot {
    /// Code of the reason.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Gone => "user_gone",
            Self::Disabled => "user_disabled",
            Self::NoEditor => "user_no_editor",
        }
    }

    /// Predicate of an error message about the user.
    pub(crate) fn said(self) -> &'static str {
        match self {
            Self::Gone => "no longer has an account",
            Self::Disabled => "may no longer sign in",
            Self::NoEditor => "may no longer start its runs",
        }
    }
}

/// The user, if they may start runs of the project now.
pub(crate) async fn in_name_of(web: &Web, project: &str, name: &str) -> ApiResult<Result<User, MayNot>> {
    let Some(user) = web.store().user_by_name(name).await? else { return Ok(Err(MayNot::Gone)) };
    if user.disabled {
        return Ok(Err(MayNot::Disabled));
    }
    let role = web.store().role(project, &user.id).await?;
    Ok(if user.admin || role >= Some(Role::Editor) { Ok(user) } else { Err(MayNot::NoEditor) })
}
