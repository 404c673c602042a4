//! What runs by itself runs in somebody's name: whether they may still start it.

use cubeloom_domain::identity::{Role, User};

use crate::error::ApiResult;
use crate::state::Web;

/// Why somebody may not start runs of a project any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MayNot {
    /// Their account is gone.
    Gone,
    /// The user may not sign in.
    Disabled,
    /// They are no editor of the project.
    NoEditor,
}

impl MayNot {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Gone => "user_gone",
            Self::Disabled => "user_disabled",
            Self::NoEditor => "user_no_editor",
        }
    }

    /// The end of a sentence about them.
    pub(crate) fn said(self) -> &'static str {
        match self {
            Self::Gone => "has no account any more",
            Self::Disabled => "may not sign in any more",
            Self::NoEditor => "may not start its runs any more",
        }
    }
}

/// Somebody, when they may start runs of a project as they are now.
pub(crate) async fn in_name_of(web: &Web, project: &str, name: &str) -> ApiResult<Result<User, MayNot>> {
    let Some(user) = web.store().user_by_name(name).await? else { return Ok(Err(MayNot::Gone)) };
    if user.disabled {
        return Ok(Err(MayNot::Disabled));
    }
    let role = web.store().role(project, &user.id).await?;
    Ok(if user.admin || role >= Some(Role::Editor) { Ok(user) } else { Err(MayNot::NoEditor) })
}
