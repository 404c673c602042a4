//! `GET /projects/{project}/import`: converts files of another platform to documents. The script sends them
//! to the API.

use askama::Template;
use axum::response::Response;

use super::{Frame, html};
use crate::error::ApiResult;
use crate::extract::Path;

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    frame: Frame,
    project: String,
}

pub(crate) async fn show(frame: Frame, Path(project): Path<String>) -> ApiResult<Response> {
    html(&ImportPage { frame, project })
}
