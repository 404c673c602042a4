//! The web server with a running engine. Measures latencies at a constant rate, next to a bare handler that
//! sends the same bytes, and the cost of idle event listeners.

pub mod bare;
mod listeners;
mod load;
mod site;

use std::time::Duration;

use anyhow::Context;

use self::bare::Bare;
use self::load::{Target, constant};
use self::site::Site;
use super::Setting;
use super::figures::{Figure, median, p99, status_mib};

/// Requests per second, and for how long.
const RATE: u32 = 1000;
const LONG: Duration = Duration::from_secs(5);
/// Listeners to the events of a project.
const LISTENERS: usize = 1000;
/// Idle time of a process before its memory is read.
const QUIET: Duration = Duration::from_secs(3);

/// The whole case, against one `cubeloom serve`.
pub async fn web(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let site = Site::start(&setting.folder).await?;
    // Runs first: the listeners would reuse memory that other requests needed before, which would hide their
    // cost.
    let listeners = listeners_cost(&site).await?;
    let finished = site.finished_runs().await?;
    let busy = site.keep_busy()?;
    let mut figures = Vec::new();
    let paths = [
        ("list of runs", "/api/v1/projects/default/runs".to_owned()),
        ("one run", format!("/api/v1/runs/{finished}")),
    ];
    for (name, path) in paths {
        figures.extend(beside_bare(&site, name, &path).await?);
    }
    site.stop_run(&busy)?;
    figures.push(listeners);
    Ok(figures)
}

/// Latencies of one path, and of a handler that only sends the same body.
async fn beside_bare(site: &Site, name: &str, path: &str) -> anyhow::Result<Vec<Figure>> {
    let target = Target { address: site.address, path: path.into(), token: Some(site.token.clone()) };
    let body = load::body(&target).await.context("the server's answer")?;
    let bare = Bare::start(&body)?;
    let bare_target = Target { address: bare.address, path: path.into(), token: Some(site.token.clone()) };
    let of_bare = constant(&bare_target, RATE, LONG).await.context("the bare handler")?;
    let of_server = constant(&target, RATE, LONG).await.with_context(|| format!("GET {path}"))?;
    Ok(vec![
        Figure::baseline(&format!("{name}: body"), body.len() as f64, "B"),
        Figure::new(&format!("{name}: p50"), median(&of_server), "ms"),
        Figure::baseline(&format!("{name}: p50, bare"), median(&of_bare), "ms"),
        Figure::new(&format!("{name}: p99"), p99(&of_server), "ms"),
        Figure::baseline(&format!("{name}: p99, bare"), p99(&of_bare), "ms"),
        Figure::new(&format!("{name}: p99 over bare"), p99(&of_server) / p99(&of_bare), "times").at_most(2.0),
    ])
}

/// The server memory added by idle listeners.
async fn listeners_cost(site: &Site) -> anyhow::Result<Figure> {
    tokio::time::sleep(QUIET).await;
    let before = status_mib(site.pid(), "VmRSS");
    let target = Target {
        address: site.address,
        path: "/api/v1/projects/default/events".into(),
        token: Some(site.token.clone()),
    };
    let open = listeners::open(&target, LISTENERS).await?;
    tokio::time::sleep(QUIET).await;
    let after = status_mib(site.pid(), "VmRSS");
    drop(open);
    let name = format!("memory of {LISTENERS} idle listeners");
    Ok(Figure::new(&name, after - before, "MiB").at_most(50.0))
}
