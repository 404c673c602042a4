//! `GET /projects/{project}/alerts`: alert channels of the project, and recent deliveries.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::alert::{AlertKind, ChannelKind};
use serde_json::json;

use super::{Frame, carried, html};
use crate::api::alerts::{ChannelView, DeliveryView};
use crate::error::ApiResult;
use crate::extract::Path;
use crate::state::Web;

/// Number of messages shown.
const LAST: usize = 50;

#[derive(Template)]
#[template(path = "alerts.html")]
struct AlertsPage {
    frame: Frame,
    channels: Vec<ChannelView>,
    deliveries: Vec<DeliveryView>,
    /// Data for the script, as JSON.
    carried: String,
}

impl AlertsPage {
    fn kind(&self, kind: &str) -> &str {
        match kind {
            "slack" => self.frame.t("alerts.slack"),
            "feishu" => self.frame.t("alerts.feishu"),
            "dingtalk" => self.frame.t("alerts.dingtalk"),
            "wecom" => self.frame.t("alerts.wecom"),
            "email" => self.frame.t("alerts.email"),
            _ => self.frame.t("alerts.webhook"),
        }
    }

    fn event(&self, kind: &str) -> &str {
        match kind {
            "run_failed" => self.frame.t("alerts.run_failed"),
            "run_recovered" => self.frame.t("alerts.run_recovered"),
            "run_late" => self.frame.t("alerts.run_late"),
            "task_waiting" => self.frame.t("alerts.task_waiting"),
            "quota_nearly_used" => self.frame.t("alerts.quota_nearly_used"),
            "budget_nearly_used" => self.frame.t("alerts.budget_nearly_used"),
            "node_set_aside" => self.frame.t("alerts.node_set_aside"),
            "size_changed" => self.frame.t("alerts.size_changed"),
            "gpu_idle" => self.frame.t("alerts.gpu_idle"),
            "task_hangs" => self.frame.t("alerts.task_hangs"),
            _ => self.frame.t("alerts.test-message"),
        }
    }

    fn outcome(&self, state: &str) -> &str {
        match state {
            "sent" => self.frame.t("alerts.sent"),
            "failed" => self.frame.t("alerts.failed"),
            _ => self.frame.t("alerts.waiting"),
        }
    }

    /// Name of the channel. Messages are deleted with their channel: one without a channel is a mail to the
    /// run's owner.
    fn channel(&self, delivery: &DeliveryView) -> String {
        match self.channels.iter().find(|channel| channel.id == delivery.channel) {
            Some(channel) => channel.name.clone(),
            None => {
                let user = delivery.user.as_deref().unwrap_or_default();
                self.frame.t_with("alerts.mail-to", [("user", user)])
            }
        }
    }
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
) -> ApiResult<Response> {
    let channels = web.store().alert_channels(&project).await?;
    let channels: Vec<ChannelView> = channels.into_iter().map(ChannelView::from).collect();
    let deliveries = web.store().alert_deliveries(&project, None, None, LAST).await?;
    let deliveries = deliveries.into_iter().map(DeliveryView::from).collect();
    let mails = web.settings().alerts.smtp.is_some();
    let kinds = ChannelKind::ALL.into_iter().filter(|kind| mails || *kind != ChannelKind::Email);
    let carried = carried(&json!({
        "project": project,
        "channels": channels,
        "kinds": kinds.map(ChannelKind::as_str).collect::<Vec<_>>(),
        "events": AlertKind::OFFERED.map(AlertKind::as_str),
    }))?;
    html(&AlertsPage { frame, channels, deliveries, carried })
}
