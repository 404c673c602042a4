//! The server's own metrics, as OpenMetrics: what is [counted](counted) as it happens, and what is [there](standing) when
//! somebody looks. docs/operating.md lists them all; a test holds it to what is exposed.

mod counted;
mod process;
mod standing;
#[cfg(test)]
mod tests;

use std::fmt::Error;
use std::sync::{Arc, Weak};
use std::time::Duration;

use cubeloom_domain::clusters::Clusters;
use cubeloom_domain::{Clock, measure};
use cubeloom_engine::Handle;
use cubeloom_store::Store;
use cubeloom_web::WebTally;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::registry::Registry;

use self::counted::COUNTED;
use self::process::Process;
use self::standing::Standing;

/// How long the engine may take to answer: what it holds is left out then.
const PATIENCE: Duration = Duration::from_secs(2);

/// Labels and their values, in the order in which they are shown.
type Labels = Vec<(&'static str, String)>;

/// Counts from now on.
pub fn install() {
    measure::install(|measure| COUNTED.count(measure));
}

/// Whom is asked when somebody looks.
#[derive(Clone)]
pub struct Sources {
    /// The database.
    pub store: Store,
    /// The clusters.
    pub clusters: Clusters,
    /// The engine.
    pub engine: Weak<Handle>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Sources {
    /// All metrics, as OpenMetrics text.
    pub async fn text(self, web: WebTally) -> String {
        let engine = self.engine.upgrade();
        let tally = match &engine {
            Some(engine) => tokio::time::timeout(PATIENCE, engine.tally()).await.ok().flatten(),
            None => None,
        };
        let standing = Standing {
            tally,
            last_pass: engine.map(|engine| engine.last_pass()),
            connections: self.store.connections(),
            clusters: self.clusters.all().into_iter().map(|(name, one)| (name, one.standing())).collect(),
            web,
            process: Process::read(),
            now: self.clock.now(),
        };
        // Writing to a text does not fail.
        text(&COUNTED.registry, &standing.registry()).unwrap_or_default()
    }
}

fn text(counted: &Registry, standing: &Registry) -> Result<String, Error> {
    let mut text = String::new();
    encode_registry(&mut text, counted)?;
    encode_registry(&mut text, standing)?;
    encode_eof(&mut text)?;
    Ok(text)
}
