//! `POST /projects/{project}/alerts/{channel}/test`

use axum::extract::State;
use cubeloom_domain::alert::{Alert, AlertKind, Delivery, DeliveryState};
use serde::Serialize;
use utoipa::ToSchema;

use super::of_route;
use crate::alerts::{send, test_message};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Result of a test message.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestView {
    /// Whether the receiver accepted the message.
    pub sent: bool,
    /// Response of the receiver, or the reason why it could not be reached.
    pub answer: String,
}

/// Sends a test message now, even if the channel is disabled, and returns the receiver's response.
#[utoipa::path(
    post,
    path = "/projects/{project}/alerts/{channel}/test",
    tag = "alerts",
    params(("project" = String, Path), ("channel" = String, Path)),
    responses(
        (status = 200, body = TestView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn test(
    State(web): State<Web>,
    caller: Caller,
    Path(names): Path<(String, String)>,
) -> ApiResult<Json<TestView>> {
    let channel = of_route(&web, &names).await?;
    let key = format!("test:{}", web.new_id());
    let alert = Alert::new(AlertKind::Test, web.now(), &channel.project, key, "test".into());
    let alert = Alert { user: Some(caller.user.name.clone()), ..alert };
    let mut delivery = Delivery::new(&channel.id, alert);
    let said = send(&web, &channel, &test_message(&web, &channel, &delivery)).await;
    let view = TestView { sent: said.is_ok(), answer: said.unwrap_or_else(|why| why) };
    delivery.state = if view.sent { DeliveryState::Sent } else { DeliveryState::Failed };
    (delivery.due_at, delivery.ended_at, delivery.tries) = (None, Some(web.now()), 1);
    delivery.answer = Some(view.answer.clone());
    let entry = audit::entry(&web, &caller, "alert.test", &channel.id);
    web.store().note_alert(&delivery, &entry).await?;
    Ok(Json(view))
}
