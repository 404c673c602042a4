//! `POST /projects/{project}/alerts`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_alerts::address::shown;
use cubeloom_domain::alert::Channel;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::{
    CHANNELS, ChannelView, RulesView, audited, check_address, check_secret, kind_of, read_rules,
};
use crate::alerts::{Part, seal};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::{Json, Path};
use crate::state::Web;

/// A channel to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewChannel {
    /// Name.
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// `webhook`, `slack`, `feishu`, `dingtalk`, `wecom` or `email`.
    pub kind: String,
    /// URL, or comma-separated addresses for email. It is stored encrypted and never shown in full again.
    pub address: String,
    /// Secret that signs messages. Only the kinds `webhook`, `feishu` and `dingtalk` sign messages.
    #[serde(default)]
    pub secret: String,
    /// Notification rules.
    pub rules: RulesView,
}

/// Creates a channel that delivers alerts of the project.
#[utoipa::path(
    post,
    path = "/projects/{project}/alerts",
    tag = "alerts",
    params(("project" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = NewChannel,
    responses(
        (status = 201, body = ChannelView, headers(("ETag" = String), ("Location" = String))),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Path(project): Path<String>,
    Json(new): Json<NewChannel>,
) -> ApiResult<Response> {
    let channel = checked(&web, &caller, project, new)?;
    if web.store().alert_channels(&channel.project).await?.len() >= CHANNELS {
        let message = format!("the project has {CHANNELS} channels, the maximum: delete one first");
        return Err(ApiError::conflict(message));
    }
    let entry = audit::entry(&web, &caller, "alert.create", &channel.id).after(audited(&channel));
    web.store().create_alert_channel(&channel, &entry).await?;
    let place = format!("/api/v1/projects/{}/alerts/{}", channel.project, channel.id);
    let view = ChannelView::from(channel);
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Tagged(1, view)).into_response())
}

fn checked(web: &Web, caller: &Caller, project: String, new: NewChannel) -> ApiResult<Channel> {
    let mut found = Found::default();
    found.line("/name", &new.name, 80);
    let kind = kind_of(web, &new.kind, &mut found);
    check_address(kind, &new.address, &mut found);
    check_secret(kind, &new.secret, &mut found);
    let rules = read_rules(new.rules, &mut found);
    found.refuse()?;
    let (id, address) = (web.new_id(), new.address.trim());
    let secret = Some(new.secret).filter(|secret| !secret.is_empty());
    Ok(Channel {
        shown: shown(kind, address),
        address: seal(web, &project, &id, Part::Address, address),
        secret: secret.map(|secret| seal(web, &project, &id, Part::Secret, &secret)),
        id,
        project,
        name: new.name,
        kind,
        rules,
        enabled: true,
        created_by: caller.user.name.clone(),
        created_at: web.now(),
        revision: 1,
    })
}
