//! State of the handlers.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use cubeloom_admission::Desk;
use cubeloom_domain::clusters::{ClusterFault, ClusterSettings, Clusters, MakeCluster};
use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::{BoxFuture, Executor};
use cubeloom_domain::nodes::NodeRule;
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::template::{InstalledTemplate, TemplateSet};
use cubeloom_domain::{Clock, Timestamp};
use cubeloom_monitoring::advice::Thresholds;
use cubeloom_store::Store;
use tokio::sync::{broadcast, watch};

use crate::alerts::AlertSettings;
use crate::archive::Archive;
use crate::audit::AuditLimit;
use crate::audit::stream::AuditSettings;
use crate::auth::{People, Polls, Throttle, oidc, secret};
use crate::forecast::{Lines, Starts};
use crate::limits::Rates;
use crate::live::{Hub, Seats};
use crate::metrics::AskMetrics;
use crate::monitoring::Monitor;
use crate::plan::Planner;
use crate::runs::Runs;
use crate::schedules::Schedules;
use crate::secrets::Keyring;
use crate::terminals::Terminals;

/// The web server's state, as a handle that is cheap to clone.
#[derive(Clone)]
pub struct Web(Arc<Inner>);

/// A weak handle.
pub(crate) struct WeakWeb(Weak<Inner>);

impl WeakWeb {
    /// The handle, unless the web server has stopped.
    pub(crate) fn upgrade(&self) -> Option<Web> {
        self.0.upgrade().map(Web)
    }
}

struct Inner {
    parts: Parts,
    planner: Planner,
    people: People,
    runs: Runs,
    throttle: Throttle,
    polls: Polls,
    rates: Rates,
    audit_limit: AuditLimit,
    oidc: Option<oidc::Provider>,
    live: Hub,
    seats: Seats,
    archive: Archive,
    schedules: Schedules,
    starts: Starts,
    lines: Lines,
    terminals: Terminals,
    monitor: Monitor,
}

/// Returns a copy of a cluster's scheduler state. `None` if this server's engine has none.
pub type AskDesk = dyn Fn(String) -> BoxFuture<'static, Option<Arc<Desk>>> + Send + Sync;

/// Parts of the web server.
pub struct Parts {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub clusters: Clusters,
    /// Creates executors of added clusters.
    pub make_cluster: Arc<MakeCluster>,
    /// The installed task templates. They change with their folder, and when one is installed.
    pub templates: watch::Sender<Arc<TemplateSet>>,
    /// Events of this server's runs.
    pub events: broadcast::Receiver<RunEvent>,
    /// Becomes true when the server stops, which ends streams.
    pub stopping: watch::Receiver<bool>,
    pub wake: Arc<dyn Fn() + Send + Sync>,
    /// Requests copies of the engine's scheduler states.
    pub desks: Arc<AskDesk>,
    /// Time since the engine's last scheduling cycle. `None` when the engine has stopped.
    pub last_pass: Arc<dyn Fn() -> Option<Duration> + Send + Sync>,
    /// Returns the server's own metrics.
    pub metrics: Arc<AskMetrics>,
    pub folders: Folders,
    pub keys: Keys,
    pub settings: Settings,
}

/// Absolute paths of folders on this machine.
#[derive(Clone, Debug)]
pub struct Folders {
    pub data: PathBuf,
    /// Code folders, one per digest.
    pub code: PathBuf,
    /// Folders of task templates, one per digest.
    pub templates: PathBuf,
    /// Shared storage of projects, one folder each.
    pub workspace: PathBuf,
}

#[derive(Clone)]
pub struct Keys {
    /// Signs session cookies and hook URLs. 256 random bits.
    pub signing: [u8; 32],
    /// Encrypts secrets.
    pub sealing: Keyring,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Public URL without a trailing slash: `https://cubeloom.example.org`.
    pub url: String,
    /// Number of proxies in front of the server: this many addresses at the end of `X-Forwarded-For` are
    /// trusted.
    pub proxies: usize,
    /// Requests per second for each caller, with a burst of twice as many. 0 means no limit.
    pub rate: u32,
    /// Maximum open event streams per user. 0 means no limit.
    pub streams: usize,
    /// Whether projects' object stores may have local or link-local addresses.
    pub private_endpoints: bool,
    /// Whether the configuration has the commands of Slurm clusters.
    pub slurm: bool,
    /// Maximum size of an uploaded file, in bytes.
    pub upload: u64,
    /// OpenID Connect provider for single sign-on.
    pub oidc: Option<oidc::Settings>,
    /// Terminals for failed tasks.
    pub terminals: TerminalSettings,
    /// Right-sizing mode of new projects.
    pub sizing: SizingMode,
    /// Currency of prices, if set.
    pub currency: Option<String>,
    pub alerts: AlertSettings,
    /// Receivers of the audit log.
    pub audit: AuditSettings,
    /// When nodes are cordoned, and offered again.
    pub nodes: NodeRule,
    /// Thresholds of recommendations for GPUs and tasks.
    pub advice: Thresholds,
    /// Maximum interval between scheduling cycles.
    pub period: Duration,
}

/// Settings of terminals.
#[derive(Clone, Copy, Debug)]
pub struct TerminalSettings {
    /// Maximum number of terminals on this server. 0 disables them.
    pub most: usize,
    /// Maximum number per user.
    pub each: usize,
    /// Maximum duration.
    pub limit: Duration,
    /// Inactivity timeout: nothing typed and no output.
    pub idle: Duration,
    /// How long a terminal is kept after its connection is lost.
    pub away: Duration,
}

impl Web {
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let rates = Rates::new(parts.settings.rate);
        let oidc = parts.settings.oidc.clone().map(oidc::Provider::new);
        let seats = Seats::new(parts.settings.streams);
        let terminals = Terminals::new(parts.settings.terminals);
        let planner = Planner {
            store: parts.store.clone(),
            clusters: parts.clusters.clone(),
            folders: parts.folders.clone(),
            templates: parts.templates.subscribe(),
            clock: Arc::clone(&parts.clock),
        };
        Self(Arc::new(Inner {
            parts,
            planner,
            rates,
            oidc,
            people: People::new(),
            throttle: Throttle::new(),
            polls: Polls::new(),
            audit_limit: AuditLimit::default(),
            runs: Runs::default(),
            live: Hub::new(u64::from_le_bytes(secret::random())),
            seats,
            archive: Archive::default(),
            schedules: Schedules::default(),
            starts: Starts::default(),
            lines: Lines::default(),
            terminals,
            monitor: Monitor::default(),
        }))
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        &self.0.parts.store
    }

    /// Dependencies of planning.
    pub(crate) fn planner(&self) -> &Planner {
        &self.0.planner
    }

    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.parts.clock.now()
    }

    /// Creates the executor of a cluster.
    ///
    /// # Errors
    /// Why the cluster cannot be used with these settings.
    pub(crate) fn make_cluster(
        &self,
        name: &str,
        settings: &ClusterSettings,
        kubeconfig: Option<String>,
    ) -> Result<Arc<dyn Executor>, ClusterFault> {
        (self.0.parts.make_cluster)(name, settings, kubeconfig)
    }

    #[must_use]
    pub fn clusters(&self) -> &Clusters {
        &self.0.parts.clusters
    }

    #[must_use]
    pub fn templates(&self) -> Arc<TemplateSet> {
        Arc::clone(&self.0.parts.templates.borrow())
    }

    /// Makes a stored template available.
    pub(crate) fn add_template(&self, installed: InstalledTemplate) {
        self.0.parts.templates.send_modify(|present| {
            let versions = Arc::make_mut(present).entry(installed.template.name.clone()).or_default();
            versions.insert(installed.template.version.clone(), installed);
        });
    }

    /// Subscribes to events of this server's runs.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<RunEvent> {
        self.0.parts.events.resubscribe()
    }

    pub fn wake(&self) {
        (self.0.parts.wake)();
    }

    #[must_use]
    pub fn folders(&self) -> &Folders {
        &self.0.parts.folders
    }

    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.0.parts.keys
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    /// Whether browsers use TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.settings().url.starts_with("https:")
    }

    /// Cached data of callers.
    pub(crate) fn people(&self) -> &People {
        &self.0.people
    }

    /// In-memory caches of runs.
    pub(crate) fn runs(&self) -> &Runs {
        &self.0.runs
    }

    /// OpenID Connect provider for single sign-on.
    pub(crate) fn oidc(&self) -> Option<&oidc::Provider> {
        self.0.oidc.as_ref()
    }

    pub(crate) fn rates(&self) -> &Rates {
        &self.0.rates
    }

    /// Limits frequent audit entries.
    pub(crate) fn audit_limit(&self) -> &AuditLimit {
        &self.0.audit_limit
    }

    pub(crate) fn throttle(&self) -> &Throttle {
        &self.0.throttle
    }

    /// Polls of command lines that wait for a token.
    pub(crate) fn polls(&self) -> &Polls {
        &self.0.polls
    }

    /// Listeners of live events.
    pub(crate) fn live(&self) -> &Hub {
        &self.0.live
    }

    /// Limits open event streams per user.
    pub(crate) fn seats(&self) -> &Seats {
        &self.0.seats
    }

    /// State of log archiving.
    pub(crate) fn archive(&self) -> &Archive {
        &self.0.archive
    }

    /// Wakes the task that fires schedules.
    pub(crate) fn schedules(&self) -> &Schedules {
        &self.0.schedules
    }

    pub(crate) fn starts(&self) -> &Starts {
        &self.0.starts
    }

    /// Queues within runs.
    pub(crate) fn lines(&self) -> &Lines {
        &self.0.lines
    }

    /// Requests a copy of a cluster's scheduler state from the engine.
    pub(crate) async fn desk(&self, cluster: &str) -> Option<Arc<Desk>> {
        (self.0.parts.desks)(cluster.to_owned()).await
    }

    /// Time since the engine's last scheduling cycle. `None` when the engine has stopped.
    pub(crate) fn last_pass(&self) -> Option<Duration> {
        (self.0.parts.last_pass)()
    }

    /// Returns the server's own metrics.
    pub(crate) fn ask_metrics(&self) -> &Arc<AskMetrics> {
        &self.0.parts.metrics
    }

    pub(crate) fn terminals(&self) -> &Terminals {
        &self.0.terminals
    }

    /// Cached readings of clusters' nodes and GPUs.
    pub(crate) fn monitor(&self) -> &Monitor {
        &self.0.monitor
    }

    /// Becomes true when the server stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.0.parts.stopping.clone()
    }

    /// A weak handle.
    pub(crate) fn downgrade(&self) -> WeakWeb {
        WeakWeb(Arc::downgrade(&self.0))
    }

    /// Random bytes from the kernel.
    ///
    /// # Panics
    /// If the kernel provides none: no caller could handle that.
    #[must_use]
    pub fn random<const N: usize>(&self) -> [u8; N] {
        secret::random()
    }

    /// A new ULID, in lower case.
    #[must_use]
    pub fn new_id(&self) -> String {
        secret::new_id(self.now())
    }
}
