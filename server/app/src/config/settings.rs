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

/// All settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub server: Server,
    /// The OpenID Connect provider for sign-in.
    pub oidc: Oidc,
    pub database: Database,
    pub local: Local,
    /// What the workers of this machine cannot see.
    pub sandbox: Sandbox,
    /// Terminals in failed tasks.
    pub terminals: Terminals,
    /// Usage and its cost.
    pub accounting: Accounting,
    /// Receivers of the audit log.
    pub audit: AuditSection,
    pub alerts: Alerts,
    /// The e-mail server of alerts.
    pub smtp: Smtp,
    /// Metrics and traces of the server.
    pub telemetry: TelemetrySection,
    pub engine: EngineSection,
    /// How jobs of several projects share a cluster.
    pub sharing: SharingSection,
    pub sizing: SizingSection,
    /// When nodes are cordoned.
    pub nodes: NodesSection,
    /// Thresholds of advice about GPUs and tasks.
    pub advice: Thresholds,
    /// Secrets available to tasks.
    pub secrets: BTreeMap<String, Secret>,
    /// Folders available to tasks as volumes.
    pub volumes: BTreeMap<String, PathBuf>,
    /// The transport of Slurm commands, by cluster name.
    pub slurm: BTreeMap<String, SlurmCalls>,
}

/// `[server]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address of the web server; port 0 selects a free one.
    pub listen: SocketAddr,
    /// The public URL, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The folder of the server's keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<PathBuf>,
    /// How many proxies precede the server; the addresses that they add to `X-Forwarded-For` are trusted.
    pub proxies: usize,
    /// Requests per second of each client, with bursts of twice as many; 0 for no limit.
    pub rate: u32,
    /// Maximum number of connections; further ones wait until one ends.
    pub connections: usize,
    /// Maximum number of event streams per user; 0 for no limit.
    pub streams: usize,
    /// Whether projects' object stores may be on this machine or on link-local addresses.
    pub private_endpoints: bool,
    /// The encryption key of secrets: `env:NAME` or `file:/path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Maximum size of a file that users upload to a volume.
    pub upload: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
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

/// `[oidc]`; without an issuer users sign in only here.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Oidc {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The client id of this server at the provider.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub client_id: String,
    /// The client secret: `env:NAME`, `file:/path`, or the secret itself. It is never printed.
    #[serde(serialize_with = "hidden", skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The display name of the provider.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Only users with an address in one of these domains, separated by commas.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub allowed_domains: String,
    /// Whether a new user gets an account at the first sign-in.
    pub auto_create: bool,
    /// The group whose members are administrators of the platform; if empty, the provider makes no user one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub admin_group: String,
    /// The claim with a user's groups.
    pub groups_claim: String,
    /// Scopes besides `openid`, separated by spaces.
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
    /// Disk space reserved for a SQLite database.
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
    /// The CPUs that all jobs together may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// The memory that all jobs together may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// When run as root, a project's workers get this uid plus the project's number.
    pub uid_base: u32,
    /// The time between TERM and KILL.
    pub grace: Span,
    /// The workers' `PATH`.
    pub path: String,
    /// Maximum number of processes and threads of one worker.
    pub pids: u64,
    /// Maximum number of open files of one worker.
    pub nofile: u64,
    /// New jobs start only while the data folder's disk has this much free space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<Bytes>,
    /// Maximum stored size of each of a worker's logs.
    pub log: Bytes,
    /// Maximum size of the folder of one attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_disk: Option<Bytes>,
    /// Maximum size of the workspace of one project.
    pub workspace: Bytes,
    /// Whether Python packages without a wheel are built from source.
    pub python_sources: bool,
    /// Whether workers started by an earlier server are adopted.
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
    /// Maximum number on this server; 0 for none.
    pub most: usize,
    /// Maximum number per user.
    pub each: usize,
    /// Maximum duration of a terminal.
    pub limit: Span,
    /// Timeout without input and output.
    pub idle: Span,
    /// How long a terminal stays after its connection is lost.
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
    /// The currency of prices, e.g. `EUR`.
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
    /// The URL: `env:NAME`, `file:/path`, or the URL itself. It may contain a secret, and is never printed.
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
    /// Whether receivers may have addresses of this machine and of private networks.
    pub private_addresses: bool,
}

/// `[smtp]`; without a host no e-mail is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Smtp {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub port: u16,
    /// The encryption of the connection.
    pub tls: Encryption,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Its password: `env:NAME`, `file:/path`, or the password itself. It is never printed.
    #[serde(serialize_with = "hidden", skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// The sender of the mails.
    pub from: String,
}

/// The encryption of a connection.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encryption {
    /// After the greeting; without support for it, no mail is sent.
    StartTls,
    /// From the first byte.
    Always,
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
    /// The address of the server's metrics, without authentication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_listen: Option<SocketAddr>,
    /// The base URL of a collector for spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<String>,
}

/// `[engine]`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineSection {
    /// How long a server has a run without renewing its lease.
    pub lease: Span,
    /// The interval of database polls, for changes without a wake-up.
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
    /// A pending job gains one priority per this interval.
    pub aging: Span,
    /// The half-life of past usage in the shares.
    pub half_life: Span,
    /// How long a preempted job may not borrow again.
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
    /// The number of attempts that must fail because of a node before it is cordoned; 0: never.
    pub failures: usize,
    /// The time window of these failures.
    pub within: Span,
    /// When to suggest to uncordon such a node.
    pub offer_after: Span,
}

impl Default for NodesSection {
    fn default() -> Self {
        let NodeRule { failures, within, offer_after } = NodeRule::default();
        Self { failures, within: Span(within), offer_after: Span(offer_after) }
    }
}

impl NodesSection {
    /// The rule for the engine and the pages.
    pub fn rule(&self) -> NodeRule {
        NodeRule { failures: self.failures, within: self.within.0, offer_after: self.offer_after.0 }
    }
}

/// The source of a secret: exactly one of both.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Secret {
    /// An environment variable of the server.
    Env(String),
    /// A file that the server can read.
    File(PathBuf),
}

impl Secret {
    /// For the executor. Reads a variable now; `None` if it is not set.
    pub fn source(&self) -> Option<SecretSource> {
        match self {
            Self::File(path) => Some(SecretSource::File(path.clone())),
            Self::Env(variable) => std::env::var(variable).ok().map(SecretSource::Value),
        }
    }
}
