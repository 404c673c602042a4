//! The sections of `cubeloom.toml`, typed.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use cubeloom_domain::nodes::NodeRule;
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::slurm::SlurmCalls;
use cubeloom_domain::{Bytes, Cpu, Span};
use cubeloom_engine::Sharing;
use cubeloom_executor_local::{LocalConfig, Sandbox, SecretSource};
use cubeloom_monitoring::advice::Thresholds;
use serde::{Deserialize, Serialize, Serializer};

/// Everything that can be set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Where things lie.
    pub server: Server,
    /// The OpenID Connect provider at which people may sign in.
    pub oidc: Oidc,
    /// The database.
    pub database: Database,
    /// Jobs on this machine.
    pub local: Local,
    /// What the workers of this machine are kept from seeing.
    pub sandbox: Sandbox,
    /// Terminals where tasks have failed.
    pub terminals: Terminals,
    /// Usage and what it costs.
    pub accounting: Accounting,
    /// Where the audit log is sent to.
    pub audit: AuditSection,
    /// Alerts to people.
    pub alerts: Alerts,
    /// The server that takes their e-mail.
    pub smtp: Smtp,
    /// What the server tells of itself.
    pub telemetry: TelemetrySection,
    /// The engine.
    pub engine: EngineSection,
    /// How jobs of several projects share a cluster.
    pub sharing: SharingSection,
    /// Right-sizing.
    pub sizing: SizingSection,
    /// When nodes are set aside.
    pub nodes: NodesSection,
    /// When advice about cards and tasks is given.
    pub advice: Thresholds,
    /// Secrets that tasks may name.
    pub secrets: BTreeMap<String, Secret>,
    /// Folders that tasks may name as volumes.
    pub volumes: BTreeMap<String, PathBuf>,
    /// How the commands of Slurm clusters are called, by the clusters' names.
    pub slurm: BTreeMap<String, SlurmCalls>,
}

/// `[server]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// Where the web listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The address that people use, when it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The folder of the server's keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<PathBuf>,
    /// How many proxies stand before the server; the addresses that they add to `X-Forwarded-For` are believed.
    pub proxies: usize,
    /// Requests a second that each caller may send, twice as many at once; 0 for no limit.
    pub rate: u32,
    /// Connections at once; who comes then waits for one to end.
    pub connections: usize,
    /// Streams of events that one person may have open; 0 for no limit.
    pub streams: usize,
    /// Whether projects' object stores may be on this machine or on link-local addresses.
    pub private_endpoints: bool,
    /// Where the key that encrypts secrets is: `env:NAME` or `file:/path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The largest file that people may put into a volume.
    pub upload: Bytes,
    /// The data folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// The folder of the task templates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub templates: Option<PathBuf>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            url: None,
            proxies: 0,
            rate: 300,
            connections: 4096,
            streams: 50,
            private_endpoints: false,
            keys: None,
            key: None,
            upload: Bytes(64 << 30),
            data: None,
            templates: None,
        }
    }
}

/// `[oidc]`; without an issuer people sign in here only.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Oidc {
    /// The provider's issuer URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The name of this server there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub client_id: String,
    /// This server's password there: `env:NAME`, `file:/path`, or the password itself. It is never printed.
    #[serde(serialize_with = "hidden", skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// What people call the provider.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Only people with an address of one of these domains, separated by commas.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub allowed_domains: String,
    /// Whether somebody who comes for the first time is given an account.
    pub auto_create: bool,
    /// The group whose members administer the platform; nobody does by the provider's word when empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub admin_group: String,
    /// The claim that lists a person's groups.
    pub groups_claim: String,
    /// What the provider is asked for beside who somebody is, separated by spaces.
    pub scopes: String,
}

impl Default for Oidc {
    fn default() -> Self {
        Self {
            issuer: None,
            client_id: String::new(),
            client_secret: None,
            name: String::new(),
            allowed_domains: String::new(),
            auto_create: false,
            admin_group: String::new(),
            groups_claim: "groups".into(),
            scopes: "profile email".into(),
        }
    }
}

fn hidden<S: Serializer>(_: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("***")
}

/// `[database]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Database {
    /// `sqlite:/path` or `postgres://user:password@host/database`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Room that is kept for a SQLite database.
    pub reserve: Bytes,
}

impl Default for Database {
    fn default() -> Self {
        Self { url: None, reserve: Bytes(32 << 20) }
    }
}

/// `[local]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Local {
    /// What jobs may use together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// What jobs may use together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Run as root, a project's workers get this uid plus the project's number.
    pub uid_base: u32,
    /// The time between TERM and KILL.
    pub grace: Span,
    /// The workers' `PATH`.
    pub path: String,
    /// Processes and threads of one worker, at most.
    pub pids: u64,
    /// Open files of one worker, at most.
    pub nofile: u64,
    /// Free space of the data folder's disk below which nothing new starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<Bytes>,
    /// How much of each of a worker's logs is kept.
    pub log: Bytes,
    /// How much the folder of one attempt may hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_disk: Option<Bytes>,
    /// How much the workspace of one project may hold.
    pub workspace: Bytes,
    /// Whether Python packages without a wheel are built from their sources.
    pub python_sources: bool,
    /// Whether workers that an earlier server started are taken up.
    pub adoption: bool,
}

impl Default for Local {
    fn default() -> Self {
        let usual = LocalConfig::new("", "");
        Self {
            cpu: None,
            memory: None,
            uid_base: usual.uid_base,
            grace: Span(usual.grace),
            path: usual.path,
            pids: usual.pids,
            nofile: usual.nofile,
            free: None,
            log: Bytes(usual.log),
            run_disk: None,
            workspace: Bytes(usual.workspace),
            python_sources: usual.python_sources,
            adoption: usual.adoption,
        }
    }
}

/// `[terminals]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Terminals {
    /// How many there may be on this server; 0 for none.
    pub most: usize,
    /// How many of these one person may have.
    pub each: usize,
    /// How long one lasts.
    pub limit: Span,
    /// How long nothing may be typed and nothing shown.
    pub idle: Span,
    /// How long one is kept for a person whose connection is lost.
    pub away: Span,
}

impl Default for Terminals {
    fn default() -> Self {
        let seconds = |seconds| Span(std::time::Duration::from_secs(seconds));
        Self { most: 8, each: 2, limit: seconds(30 * 60), idle: seconds(10 * 60), away: seconds(30) }
    }
}

/// `[accounting]`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Accounting {
    /// What prices are in, e.g. `EUR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}

/// `[audit]`; without a receiver the log is in the database only.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditSection {
    /// `udp://HOST:PORT`, `tcp://HOST:PORT` or `unix:///PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syslog: Option<String>,
    /// The address: `env:NAME`, `file:/path`, or the address itself. It may hold a secret, and is never printed.
    #[serde(serialize_with = "hidden", skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// The value of the header `Authorization` for the webhook: `env:NAME`, `file:/path`, or the value itself.
    #[serde(serialize_with = "hidden", skip_serializing_if = "Option::is_none")]
    pub authorization: Option<String>,
}

/// `[alerts]`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Alerts {
    /// Whether receivers may be at addresses of this machine and of private networks.
    pub private_addresses: bool,
}

/// `[smtp]`; without a host no e-mail is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Smtp {
    /// The server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted.
    pub tls: Encryption,
    /// Account name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Its password: `env:NAME`, `file:/path`, or the password itself. It is never printed.
    #[serde(serialize_with = "hidden", skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Who the mails are from.
    pub from: String,
}

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encryption {
    /// After the greeting; without, nothing is sent.
    StartTls,
    /// From the first byte.
    Always,
    /// Never.
    Never,
}

impl Default for Smtp {
    fn default() -> Self {
        Self {
            host: None,
            port: 587,
            tls: Encryption::StartTls,
            user: None,
            password: None,
            from: "Cubeloom <cubeloom@localhost>".into(),
        }
    }
}

/// `[telemetry]`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetrySection {
    /// Where anybody may read the server's metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_listen: Option<SocketAddr>,
    /// Where spans are sent: the base address of a collector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<String>,
}

/// `[engine]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineSection {
    /// How long a server holds a run without saying that it lives.
    pub lease: Span,
    /// How often the database is looked at for what no wake-up announced.
    pub period: Span,
}

impl Default for EngineSection {
    fn default() -> Self {
        let seconds = |seconds| Span(std::time::Duration::from_secs(seconds));
        Self { lease: seconds(30), period: seconds(5) }
    }
}

/// `[sharing]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SharingSection {
    /// A job that has waited this long counts as one priority higher.
    pub aging: Span,
    /// After how long what was held counts half in the shares.
    pub half_life: Span,
    /// How long a job that had to give back does not borrow again.
    pub cool_down: Span,
}

impl Default for SharingSection {
    fn default() -> Self {
        let usual = Sharing::default();
        Self { aging: Span(usual.aging), half_life: Span(usual.half_life), cool_down: Span(usual.cool_down) }
    }
}

/// `[sizing]`
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SizingSection {
    /// The mode of new projects.
    pub default: SizingMode,
}

/// `[nodes]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodesSection {
    /// A node is set aside after so many attempts failed through it; 0: never.
    pub failures: usize,
    /// Within how long.
    pub within: Span,
    /// After how long it is offered to take such a node back.
    pub offer_after: Span,
}

impl Default for NodesSection {
    fn default() -> Self {
        let NodeRule { failures, within, offer_after } = NodeRule::default();
        Self { failures, within: Span(within), offer_after: Span(offer_after) }
    }
}

impl NodesSection {
    /// As the engine and the pages go by it.
    pub fn rule(&self) -> NodeRule {
        NodeRule { failures: self.failures, within: self.within.0, offer_after: self.offer_after.0 }
    }
}

/// Where a secret comes from: exactly one of both.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Secret {
    /// A variable of the server's environment.
    Env(String),
    /// A file that the server may read.
    File(PathBuf),
}

impl Secret {
    /// For the executor. A variable is read now; `None` when it is not set.
    pub fn source(&self) -> Option<SecretSource> {
        match self {
            Self::File(path) => Some(SecretSource::File(path.clone())),
            Self::Env(variable) => std::env::var(variable).ok().map(SecretSource::Value),
        }
    }
}
