//! `PATCH /projects/{project}/alerts/{channel}`

use axum::extract::State;
use cubeloom_alerts::address::shown;
use cubeloom_domain::alert::Channel;
use serde::Deserialize;
use utoipa::ToSchema;

use super::of_route;
use super::view::{ChannelView, RulesView, audited, check_address, check_secret, read_rules};
use crate::alerts::{Part, seal};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Changes to apply. Omitted fields keep their values.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelChange {
    /// Name.
    #[schema(min_length = 1, max_length = 80)]
    pub name: Option<String>,
    /// Destination address.
    pub address: Option<String>,
    /// Secret that signs messages. An empty string disables signing.
    pub secret: Option<String>,
    /// Notification rules.
    pub rules: Option<RulesView>,
    /// Whether the channel is enabled. If it is disabled, its pending messages are not sent.
    pub enabled: Option<bool>,
}

/// Updates a channel. Its kind cannot be changed.
#[utoipa::path(
    patch,
    path = "/projects/{project}/alerts/{channel}",
    tag = "alerts",
    params(("project" = String, Path), ("channel" = String, Path), ("If-Match" = String, Header)),
    request_body = ChannelChange,
    responses(
        (status = 200, body = ChannelView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path(names): Path<(String, String)>,
    IfMatch(expected): IfMatch,
    Json(change): Json<ChannelChange>,
) -> ApiResult<Tagged<ChannelView>> {
    let before = of_route(&web, &names).await?;
    let mut after = with(&web, before.clone(), change)?;
    let entry = audit::entry(&web, &caller, "alert.update", &after.id);
    let entry = entry.before(audited(&before)).after(audited(&after));
    let change = web.store().update_alert_channel(&after, expected, &entry).await?;
    after.revision = changed(change, "alert channel", &after.id)?;
    Ok(Tagged(after.revision, after.into()))
}

fn with(web: &Web, mut channel: Channel, change: ChannelChange) -> ApiResult<Channel> {
    let mut found = Found::default();
    if let Some(name) = change.name {
        found.line("/name", &name, 80);
        channel.name = name;
    }
    if let Some(address) = change.address {
        check_address(channel.kind, &address, &mut found);
        channel.shown = shown(channel.kind, address.trim());
        channel.address = seal(web, &channel.project, &channel.id, Part::Address, address.trim());
    }
    if let Some(secret) = change.secret {
        check_secret(channel.kind, &secret, &mut found);
        let seal = |secret: String| seal(web, &channel.project, &channel.id, Part::Secret, &secret);
        channel.secret = Some(secret).filter(|secret| !secret.is_empty()).map(seal);
    }
    if let Some(rules) = change.rules {
        channel.rules = read_rules(rules, &mut found);
    }
    channel.enabled = change.enabled.unwrap_or(channel.enabled);
    found.refuse()?;
    Ok(channel)
}
