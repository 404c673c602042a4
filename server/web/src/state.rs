//! What handlers work with.

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
use crate::auth::{People, Throttle, oidc, secret};
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

/// The web's state: a handle that clones cheaply.
#[derive(Clone)]
pub struct Web(Arc<Inner>);

/// A handle that does not keep the web.
pub(crate) struct WeakWeb(Weak<Inner>);

impl WeakWeb {
    /// The web, while there is one.
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

/// Gives a copy of the desk of a cluster: nothing where the engine of this server knows none.
pub type AskDesk = dyn Fn(String) -> BoxFuture<'static, Option<Arc<Desk>>> + Send + Sync;

/// What the web is made of.
pub struct Parts {
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The clusters.
    pub clusters: Clusters,
    /// Makes the executors of clusters that are added.
    pub make_cluster: Arc<MakeCluster>,
    /// The installed task templates; they change when their folder does, and when one is installed.
    pub templates: watch::Sender<Arc<TemplateSet>>,
    /// What happens to the runs of this server.
    pub events: broadcast::Receiver<RunEvent>,
    /// Becomes true when the server ends: streams end then by themselves.
    pub stopping: watch::Receiver<bool>,
    /// Wakes the engine: something is wanted.
    pub wake: Arc<dyn Fn() + Send + Sync>,
    /// Asks the engine for copies of its desks.
    pub desks: Arc<AskDesk>,
    /// How long ago the engine's last pass ended; none when it has ended.
    pub last_pass: Arc<dyn Fn() -> Option<Duration> + Send + Sync>,
    /// Gives the server's own metrics.
    pub metrics: Arc<AskMetrics>,
    /// Where files lie.
    pub folders: Folders,
    /// The server's keys.
    pub keys: Keys,
    /// What is configured.
    pub settings: Settings,
}

/// Absolute folders of this machine.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The data folder.
    pub data: PathBuf,
    /// Copies of pipelines' folders, one a digest.
    pub code: PathBuf,
    /// The task templates' folders, one a digest.
    pub templates: PathBuf,
    /// The projects' shared storage, one folder a project.
    pub workspace: PathBuf,
}

/// The server's keys.
#[derive(Clone)]
pub struct Keys {
    /// Signs session cookies and hooks' URLs; 256 random bits.
    pub signing: [u8; 32],
    /// Encrypt secrets.
    pub sealing: Keyring,
}

/// What is configured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address that people use, without a slash at the end: `https://cubeloom.example.org`.
    pub url: String,
    /// How many proxies stand before the server: so many addresses at the end of `X-Forwarded-For` are believed.
    pub proxies: usize,
    /// Requests a second that each caller may send, twice as many at once; 0 for no limit.
    pub rate: u32,
    /// Streams of events that one person may have open; 0 for no limit.
    pub streams: usize,
    /// Whether projects' object stores may be at addresses of this machine and at link-local ones.
    pub private_endpoints: bool,
    /// Whether the settings say of clusters of Slurm how their commands are called.
    pub slurm: bool,
    /// The largest file that is taken into a volume, in bytes.
    pub upload: u64,
    /// The OpenID Connect provider at which people may sign in.
    pub oidc: Option<oidc::Settings>,
    /// Terminals where tasks have failed.
    pub terminals: TerminalSettings,
    /// Right-sizing mode of new projects.
    pub sizing: SizingMode,
    /// What prices are in, where that is told.
    pub currency: Option<String>,
    /// Alerts to people.
    pub alerts: AlertSettings,
    /// Where the audit log is sent to.
    pub audit: AuditSettings,
    /// When nodes are set aside, and offered again.
    pub nodes: NodeRule,
    /// When advice about cards and tasks is given.
    pub advice: Thresholds,
    /// How often the engine makes a pass at least.
    pub period: Duration,
}

/// What is configured of terminals.
#[derive(Clone, Copy, Debug)]
pub struct TerminalSettings {
    /// How many there may be on this server; 0 for none.
    pub most: usize,
    /// How many of these one person may have.
    pub each: usize,
    /// How long one lasts.
    pub limit: Duration,
    /// How long nothing may be typed and nothing shown.
    pub idle: Duration,
    /// How long it is kept for a person whose connection is lost.
    pub away: Duration,
}

impl Web {
    /// Puts the parts together.
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

    /// The database.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.0.parts.store
    }

    /// What planning works with.
    pub(crate) fn planner(&self) -> &Planner {
        &self.0.planner
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.parts.clock.now()
    }

    /// Makes the executor of a cluster.
    ///
    /// # Errors
    /// Why it cannot be used as it is described.
    pub(crate) fn make_cluster(
        &self,
        name: &str,
        settings: &ClusterSettings,
        kubeconfig: Option<String>,
    ) -> Result<Arc<dyn Executor>, ClusterFault> {
        (self.0.parts.make_cluster)(name, settings, kubeconfig)
    }

    /// The clusters.
    #[must_use]
    pub fn clusters(&self) -> &Clusters {
        &self.0.parts.clusters
    }

    /// The installed task templates.
    #[must_use]
    pub fn templates(&self) -> Arc<TemplateSet> {
        Arc::clone(&self.0.parts.templates.borrow())
    }

    /// Adds a template that was stored to those that can be used.
    pub(crate) fn add_template(&self, installed: InstalledTemplate) {
        self.0.parts.templates.send_modify(|present| {
            let versions = Arc::make_mut(present).entry(installed.template.name.clone()).or_default();
            versions.insert(installed.template.version.clone(), installed);
        });
    }

    /// What happens to the runs of this server from now on.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<RunEvent> {
        self.0.parts.events.resubscribe()
    }

    /// Tells the engine that something is wanted.
    pub fn wake(&self) {
        (self.0.parts.wake)();
    }

    /// Where files lie.
    #[must_use]
    pub fn folders(&self) -> &Folders {
        &self.0.parts.folders
    }

    /// The server's keys.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.0.parts.keys
    }

    /// What is configured.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    /// Whether browsers speak to the server over TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.settings().url.starts_with("https:")
    }

    /// What is known of those who call.
    pub(crate) fn people(&self) -> &People {
        &self.0.people
    }

    /// What is kept in memory of runs.
    pub(crate) fn runs(&self) -> &Runs {
        &self.0.runs
    }

    /// The OpenID Connect provider at which people may sign in.
    pub(crate) fn oidc(&self) -> Option<&oidc::Provider> {
        self.0.oidc.as_ref()
    }

    /// How many requests callers may send.
    pub(crate) fn rates(&self) -> &Rates {
        &self.0.rates
    }

    /// Entries of the audit log of which there may be many.
    pub(crate) fn audit_limit(&self) -> &AuditLimit {
        &self.0.audit_limit
    }

    /// Slows down who guesses passwords.
    pub(crate) fn throttle(&self) -> &Throttle {
        &self.0.throttle
    }

    /// Who listens to what.
    pub(crate) fn live(&self) -> &Hub {
        &self.0.live
    }

    /// How many streams of events people have open.
    pub(crate) fn seats(&self) -> &Seats {
        &self.0.seats
    }

    /// How the copying of logs stands.
    pub(crate) fn archive(&self) -> &Archive {
        &self.0.archive
    }

    /// What wakes the schedules.
    pub(crate) fn schedules(&self) -> &Schedules {
        &self.0.schedules
    }

    /// When jobs may start.
    pub(crate) fn starts(&self) -> &Starts {
        &self.0.starts
    }

    /// Who waits for others of its own run.
    pub(crate) fn lines(&self) -> &Lines {
        &self.0.lines
    }

    /// Asks the engine for a copy of a cluster's desk.
    pub(crate) async fn desk(&self, cluster: &str) -> Option<Arc<Desk>> {
        (self.0.parts.desks)(cluster.to_owned()).await
    }

    /// How long ago the engine's last pass ended; none when it has ended.
    pub(crate) fn last_pass(&self) -> Option<Duration> {
        (self.0.parts.last_pass)()
    }

    /// Gives the server's own metrics.
    pub(crate) fn ask_metrics(&self) -> &Arc<AskMetrics> {
        &self.0.parts.metrics
    }

    /// The terminals that are open.
    pub(crate) fn terminals(&self) -> &Terminals {
        &self.0.terminals
    }

    /// What was seen of the clusters' nodes and cards.
    pub(crate) fn monitor(&self) -> &Monitor {
        &self.0.monitor
    }

    /// Becomes true when the server ends.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.0.parts.stopping.clone()
    }

    /// A handle that does not keep the web.
    pub(crate) fn downgrade(&self) -> WeakWeb {
        WeakWeb(Arc::downgrade(&self.0))
    }

    /// Random bytes from the kernel.
    ///
    /// # Panics
    /// When the kernel gives none, which no caller could do anything about.
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
