//! The web server of `cubeloom serve`: its keys, its listener, and the parts of the platform that it uses.

use std::fs;
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Weak};

use anyhow::Context;
use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;
use cubeloom_domain::template::TemplateSet;
use cubeloom_engine::Handle;
use cubeloom_web::alerts::{AlertSettings, SmtpSettings, SmtpTls};
use cubeloom_web::audit::stream::{AuditSettings, Webhook};
use cubeloom_web::auth::oidc;
use cubeloom_web::{Keys, Parts, Settings, TerminalSettings, Web};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config::{Config, Encryption, Origin};
use crate::connections::{self, Limits};
use crate::exit::{self, Invalid};
use crate::metrics::Sources;
use crate::platform::Platform;
use crate::telemetry;

/// How many ports after the default one are tried.
const NEXT_PORTS: u16 = 19;

/// A running web server.
pub struct RunningWeb {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The public URL.
    pub url: String,
    /// The link for the first administrator's account, while there are no users.
    pub first_link: Option<String>,
    web: Web,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Starts the web server.
pub async fn start(
    platform: &Platform,
    engine: &Arc<Handle>,
    templates: watch::Sender<Arc<TemplateSet>>,
) -> anyhow::Result<RunningWeb> {
    let server = &platform.config.settings.server;
    if !cubeloom_web::pages_are_there() {
        tracing::warn!(
            "this program was built without its pages and serves only the API: build it with `make`"
        );
    }
    let listener = listen(&platform.config).await?;
    let address = listener.local_addr()?;
    let url = server.url.clone().unwrap_or_else(|| format!("http://{address}"));
    let url = url.trim_end_matches('/').to_owned();
    let (stop, stopped) = watch::channel(false);
    let web = Web::new(parts(platform, engine, templates, stopped.clone(), url.clone())?);
    let first_link = cubeloom_web::auth::first_link(&web).await.map_err(exit::refused)?;
    let limits = Limits::of(server.connections, server.proxies);
    if let Some(wanted) = platform.config.settings.telemetry.metrics_listen {
        let listener = listen_for_metrics(wanted).await?;
        let routes = Router::new().route("/metrics", get(cubeloom_web::metrics)).with_state(web.clone());
        tokio::spawn(connections::serve(listener, routes, limits, stopped.clone()));
    }
    let routes = cubeloom_web::router(web.clone()).layer(from_fn(telemetry::continue_trace));
    let task = tokio::spawn(connections::serve(listener, routes, limits, stopped));
    Ok(RunningWeb { address, url, first_link, web, stop, task })
}

/// Binds the address of the metrics, which need no authentication.
async fn listen_for_metrics(wanted: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(wanted).await;
    let listener = listener.with_context(|| {
        format!("cannot listen on {wanted} ([telemetry] metrics_listen): free it, or choose another address")
    })?;
    tracing::info!(listen = %listener.local_addr()?, "metrics are served at /metrics, without a token");
    Ok(listener)
}

/// Selects the TLS crypto provider, once for the whole process.
pub fn choose_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Binds the address. If none is configured and the default port is in use, tries the next few ports: a new
/// user need not know about ports.
async fn listen(config: &Config) -> anyhow::Result<TcpListener> {
    let wanted = config.settings.server.listen;
    let tries = if config.origin("server", "listen") == Origin::Default { NEXT_PORTS } else { 0 };
    let mut refused = None;
    for port in wanted.port()..=wanted.port().saturating_add(tries) {
        match TcpListener::bind(SocketAddr::new(wanted.ip(), port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse => refused = Some(error),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let error = refused.unwrap_or_else(|| ErrorKind::AddrInUse.into());
    Err(error).with_context(|| {
        format!("cannot listen on {wanted}: free it, or choose another address with CUBELOOM_SERVER_LISTEN")
    })
}

impl RunningWeb {
    /// Stops accepting requests and waits shortly for those in progress. Event streams end, and their clients
    /// reconnect.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        if tokio::time::timeout(std::time::Duration::from_secs(1), &mut self.task).await.is_err() {
            self.task.abort();
        }
        cubeloom_web::audit::write_counts(&self.web).await;
    }

    /// Whether it has stopped.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }
}

fn parts(
    platform: &Platform,
    engine: &Arc<Handle>,
    templates: watch::Sender<Arc<TemplateSet>>,
    stopping: watch::Receiver<bool>,
    url: String,
) -> anyhow::Result<Parts> {
    let data = &platform.data;
    let keys = platform.config.settings.server.keys.clone().unwrap_or_else(|| data.path().join("keys"));
    let maker = platform.cluster_maker()?;
    let engine_to_wake: Weak<Handle> = Arc::downgrade(engine);
    let (engine_to_ask, engine_to_watch) = (Weak::clone(&engine_to_wake), Weak::clone(&engine_to_wake));
    let sources = Sources {
        store: platform.store.clone(),
        clusters: platform.clusters()?,
        engine: Weak::clone(&engine_to_wake),
        clock: platform.clock.clone(),
    };
    Ok(Parts {
        store: platform.store.clone(),
        clock: platform.clock.clone(),
        clusters: platform.clusters()?,
        make_cluster: Arc::new(move |name, settings, kubeconfig| maker.make(name, settings, kubeconfig)),
        templates,
        events: engine.events(),
        stopping,
        wake: Arc::new(move || {
            if let Some(engine) = engine_to_wake.upgrade() {
                engine.wake();
            }
        }),
        desks: Arc::new(move |cluster| {
            let engine = engine_to_ask.upgrade();
            Box::pin(async move { engine?.desk(&cluster).await })
        }),
        last_pass: Arc::new(move || {
            let engine = engine_to_watch.upgrade().filter(|engine| !engine.is_finished());
            engine.map(|engine| engine.last_pass())
        }),
        metrics: Arc::new(move |web| Box::pin(sources.clone().text(web))),
        folders: platform.folders(),
        keys: Keys { signing: key(&keys, "signing")?, sealing: platform.keyring()? },
        settings: settings(platform, url)?,
    })
}

fn settings(platform: &Platform, url: String) -> anyhow::Result<Settings> {
    let server = &platform.config.settings.server;
    Ok(Settings {
        url,
        proxies: server.proxies,
        rate: server.rate,
        streams: server.streams,
        upload: server.upload.0,
        private_endpoints: server.private_endpoints,
        slurm: !platform.config.settings.slurm.is_empty(),
        oidc: oidc(&platform.config)?,
        terminals: terminals(&platform.config),
        sizing: platform.config.settings.sizing.default,
        currency: platform.config.settings.accounting.currency.clone(),
        nodes: platform.config.settings.nodes.rule(),
        alerts: alerts(&platform.config)?,
        audit: audit(&platform.config)?,
        advice: platform.config.settings.advice,
        period: platform.config.settings.engine.period.0,
    })
}

fn terminals(config: &Config) -> TerminalSettings {
    let section = &config.settings.terminals;
    TerminalSettings {
        most: section.most,
        each: section.each,
        limit: section.limit.0,
        idle: section.idle.0,
        away: section.away.0,
    }
}

/// The settings of alert delivery.
fn alerts(config: &Config) -> anyhow::Result<AlertSettings> {
    let (section, smtp) = (&config.settings.alerts, &config.settings.smtp);
    let password = hidden("[smtp] password", smtp.password.as_deref())?;
    let smtp = smtp.host.clone().map(|host| SmtpSettings {
        host,
        port: smtp.port,
        tls: match smtp.tls {
            Encryption::StartTls => SmtpTls::StartTls,
            Encryption::Always => SmtpTls::Always,
            Encryption::Never => SmtpTls::Never,
        },
        account: smtp.user.clone().map(|user| (user, password.unwrap_or_default())),
        from: smtp.from.clone(),
    });
    Ok(AlertSettings { private_addresses: section.private_addresses, smtp })
}

/// The receivers of the audit log.
fn audit(config: &Config) -> anyhow::Result<AuditSettings> {
    let section = &config.settings.audit;
    let authorization = hidden("[audit] authorization", section.authorization.as_deref())?;
    let wrong = |key: &str| {
        let key = key.to_owned();
        move |why: String| Invalid::error(format!("[audit] {key}: {why}"))
    };
    let syslog = section.syslog.as_deref().map(|text| text.parse().map_err(wrong("syslog")));
    let webhook = hidden("[audit] webhook", section.webhook.as_deref())?;
    let webhook = webhook.map(|url| Webhook::new(&url, authorization.as_deref()).map_err(wrong("webhook")));
    Ok(AuditSettings { syslog: syslog.transpose()?, webhook: webhook.transpose()? })
}

/// A configured secret value, or its source: `env:NAME`, `file:/path`.
fn hidden(key: &str, source: Option<&str>) -> anyhow::Result<Option<String>> {
    let Some(text) = source else { return Ok(None) };
    Ok(Some(match text.split_once(':') {
        Some(("file", path)) => {
            let text = fs::read_to_string(path).with_context(|| format!("{key}: {path} cannot be read"))?;
            text.trim_end().to_owned()
        }
        Some(("env", name)) => {
            std::env::var(name).with_context(|| format!("{key}: the variable {name} is not set"))?
        }
        _ => text.to_owned(),
    }))
}

/// The OpenID Connect provider, if configured.
fn oidc(config: &Config) -> anyhow::Result<Option<oidc::Settings>> {
    let section = &config.settings.oidc;
    let Some(issuer) = section.issuer.clone() else { return Ok(None) };
    let client_secret = hidden("[oidc] client_secret", section.client_secret.as_deref())?;
    let domains = section.allowed_domains.split(',').map(str::trim).filter(|domain| !domain.is_empty());
    Ok(Some(oidc::Settings {
        name: if section.name.is_empty() { issuer.clone() } else { section.name.clone() },
        issuer,
        client_id: section.client_id.clone(),
        client_secret,
        allowed_domains: domains.map(ToOwned::to_owned).collect(),
        auto_create: section.auto_create,
        admin_group: Some(section.admin_group.clone()).filter(|group| !group.is_empty()),
        groups_claim: section.groups_claim.clone(),
        scopes: section.scopes.split_whitespace().map(ToOwned::to_owned).collect(),
    }))
}

/// A key of 32 bytes, in a file that only the server's user can read; created if missing.
fn key(folder: &Path, name: &str) -> anyhow::Result<[u8; 32]> {
    let path = folder.join(name);
    let explain = || format!("the key {} cannot be used", path.display());
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => make_key(folder, &path).with_context(explain)?,
        Err(error) => return Err(error).with_context(explain),
    };
    let wrong =
        |bytes: Vec<u8>| anyhow::anyhow!("it has {} bytes, not 32: restore it from a backup", bytes.len());
    bytes.try_into().map_err(wrong).with_context(explain)
}

fn make_key(folder: &Path, path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut bytes = vec![0; 32];
    for half in bytes.chunks_mut(16) {
        half.copy_from_slice(&crate::machine::entropy()?.to_le_bytes());
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    Ok(bytes)
}
