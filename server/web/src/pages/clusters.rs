//! `GET /clusters`: capacity and allocations of each cluster, and the task templates that can run there.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::{Frame, html};
use crate::api::clusters::view::{AmountView, ClusterDetail, ClusterView};
use crate::auth::Caller;
use crate::clusters;
use crate::error::ApiResult;
use crate::state::Web;

#[derive(Template)]
#[template(path = "clusters.html")]
struct ClustersPage {
    frame: Frame,
    clusters: Vec<ClusterDetail>,
    /// Whether Slurm clusters can be added.
    slurm: bool,
}

pub(crate) async fn page(State(web): State<Web>, frame: Frame, caller: Caller) -> ApiResult<Response> {
    let mut found = Vec::new();
    for (name, _) in web.clusters().all() {
        found.push(clusters::detail(&web, &caller, &name).await?);
    }
    let slurm = web.settings().slurm;
    html(&ClustersPage { frame, clusters: found, slurm })
}

/// Allocated share of one resource.
struct Share {
    name: &'static str,
    used: String,
    all: String,
    /// From 0 to 100.
    percent: f64,
}

impl ClustersPage {
    /// Whether an administrator added it: the local machine is always present.
    fn is_added(&self, cluster: &ClusterView) -> bool {
        cluster.kind != "local"
    }

    /// Text key of a cluster's state.
    fn standing(&self, state: &str) -> &'static str {
        match state {
            "connected" => "clusters.connected",
            "away" => "clusters.away",
            "refused" => "clusters.refused",
            "given_up" => "clusters.is-given-up",
            _ => "clusters.unknown",
        }
    }

    /// CPU, memory and GPUs, if present.
    fn shares(&self, cluster: &ClusterDetail) -> Vec<Share> {
        let AmountView { cpu, memory, gpus } = cluster.cluster.capacity;
        let used = cluster.cluster.used;
        let share = |name, used: f64, all: f64, text: fn(f64) -> String| Share {
            name,
            used: text(used),
            all: text(all),
            percent: if all > 0.0 { (used / all * 100.0).clamp(0.0, 100.0) } else { 0.0 },
        };
        let mut shares = vec![
            share("clusters.cpu", used.cpu, cpu, cores),
            share("clusters.memory", used.memory as f64, memory as f64, gibibytes),
        ];
        if gpus > 0 {
            shares.push(share("clusters.gpus", used.gpus.into(), gpus.into(), cores));
        }
        shares
    }

    /// Allocated resources as one line.
    fn amount(&self, amount: &AmountView) -> String {
        let cards = if amount.gpus > 0 { format!(", {} GPU", amount.gpus) } else { String::new() };
        format!("{} CPU, {}{cards}", cores(amount.cpu), gibibytes(amount.memory as f64))
    }
}

/// At most two decimals, without trailing zeros.
fn cores(amount: f64) -> String {
    let text = format!("{amount:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn gibibytes(amount: f64) -> String {
    format!("{:.1} GiB", amount / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_say_no_more_than_they_mean() {
        assert_eq!(["2", "0.5", "10"], [cores(2.0), cores(0.5), cores(10.0)].each_ref().map(String::as_str));
        assert_eq!(gibibytes(1.5 * 1024.0 * 1024.0 * 1024.0), "1.5 GiB");
    }
}
