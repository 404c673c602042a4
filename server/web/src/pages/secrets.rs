//! `GET /projects/{project}/secrets`: secrets of the project and of the reader. Values are never shown.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::belongings::{Owner, SealedSecret};

use super::{Frame, html};
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::Path;
use crate::state::Web;
use crate::time::Time;

/// Example of a task that uses secrets, to copy.
fn example(frame: &Frame) -> String {
    let (variable, file) = (frame.t("secrets.example-variable"), frame.t("secrets.example-file"));
    format!(
        "tasks:\n  - name: train\n    template: python\n    secrets:\n      - hf-token                       # {variable}\n      \
         - {{name: ca, file: ca.pem}}       # {file}"
    )
}

#[derive(Template)]
#[template(path = "secrets.html")]
struct SecretsPage {
    frame: Frame,
    project: String,
    shared: Vec<SealedSecret>,
    own: Vec<SealedSecret>,
    /// Example of a task that uses a secret.
    example: String,
}

/// Viewers see only their own secrets.
pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    caller: Caller,
    Path(project): Path<String>,
) -> ApiResult<Response> {
    let shared = if frame.may_edit() {
        web.store().secrets(&Owner::Project(project.clone())).await?
    } else {
        Vec::new()
    };
    let own = web.store().secrets(&Owner::User(caller.user.id.clone())).await?;
    let example = example(&frame);
    html(&SecretsPage { frame, project, shared, own, example })
}

/// Last change of a secret's value or description.
pub(crate) fn changed(secret: &SealedSecret) -> Time {
    Time(secret.updated_at)
}
