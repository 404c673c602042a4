//! Clients for stores and web servers, created once per transfer from the given credentials.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use opendal::layers::TimeoutLayer;
use opendal::{HttpTransporter, OperationContext, Operator, services};
use opendal_http_transport_reqwest::ReqwestTransport;

use super::error::TransferError;
use super::location::{StoreKind, StorePath};
use super::wall::{Outside, Walled};

/// Default idle timeout of a server before a call is aborted and retried.
pub(crate) const SILENCE: Duration = Duration::from_secs(60);
/// Factor for uploads of a part: the server is silent until it has all of it.
const SENDING: u32 = 5;
const CONNECT: Duration = Duration::from_secs(10);

/// Opens stores by bucket or host, and caches them.
pub struct Stores {
    env: BTreeMap<String, String>,
    /// Created on demand: loading the machine's certificates takes longer than copying a small file.
    reader: OnceLock<reqwest::Client>,
    sender: OnceLock<reqwest::Client>,
    operators: Mutex<HashMap<(StoreKind, String), Operator>>,
    /// Whether [`super::wall`] restricts the stores' addresses.
    walled: bool,
    silence: Duration,
}

impl Stores {
    /// `env` has the credentials under the names that the vendors' own tools use (see the README of the
    /// template).
    pub fn new(env: BTreeMap<String, String>) -> Self {
        Self {
            env,
            reader: OnceLock::new(),
            sender: OnceLock::new(),
            operators: Mutex::default(),
            walled: false,
            silence: SILENCE,
        }
    }

    /// The same with another idle timeout.
    #[must_use]
    pub fn silent_for(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// The same for stores that a user has named: it blocks addresses of this machine and of its internal
    /// network.
    pub fn walled(env: BTreeMap<String, String>) -> Self {
        Self { walled: true, ..Self::new(env) }
    }

    /// The client for plain web servers.
    pub(crate) fn http(&self) -> Result<&reqwest::Client, TransferError> {
        self.client(&self.reader, self.silence)
    }

    /// Idle timeout of a call.
    pub(super) fn silence(&self) -> Duration {
        self.silence
    }

    /// The client for uploads.
    pub(super) fn sender(&self) -> Result<&reqwest::Client, TransferError> {
        self.client(&self.sender, self.silence * SENDING)
    }

    fn client<'a>(
        &self,
        place: &'a OnceLock<reqwest::Client>,
        silence: Duration,
    ) -> Result<&'a reqwest::Client, TransferError> {
        match place.get() {
            Some(made) => Ok(made),
            // Created twice at worst, by two concurrent files.
            None => client(&self.env, silence, self.walled).map(|made| place.get_or_init(|| made)),
        }
    }

    /// The store of `path`, for reading and listing, without retries.
    pub(crate) async fn reading(&self, path: &StorePath) -> Result<Operator, TransferError> {
        reach(path).await?;
        Ok(self
            .operator(path)?
            .layer(TimeoutLayer::new().with_timeout(self.silence).with_io_timeout(self.silence)))
    }

    /// The store of `path`, for writing. It retries internally, since only the store's client can repeat a
    /// part of an upload.
    pub(crate) async fn writing(&self, path: &StorePath, attempts: u32) -> Result<Operator, TransferError> {
        reach(path).await?;
        // HDFS accepts small packets, and its client hangs while the name node is unreachable.
        let patience = if path.kind == StoreKind::Hdfs { self.silence } else { self.silence * SENDING };
        let timeout = TimeoutLayer::new().with_timeout(self.silence).with_io_timeout(patience);
        Ok(self.operator(path)?.layer(timeout).layer(super::retry::layer(attempts)))
    }

    pub(super) fn operator(&self, path: &StorePath) -> Result<Operator, TransferError> {
        let key = (path.kind, path.authority.clone());
        let mut operators = self.operators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = operators.get(&key) {
            return Ok(known.clone());
        }
        let built = self.build(path).map_err(|error| {
            let url = super::location::Location::Store(path.clone()).to_string();
            TransferError::store(&url, path.kind.credential_names(), &error)
        })?;
        let transport = ReqwestTransport::new(self.sender()?.clone());
        let transport = if self.walled {
            HttpTransporter::new(Walled(transport))
        } else {
            HttpTransporter::new(transport)
        };
        let operator = built.with_context(OperationContext::new().with_http_transport(transport));
        operators.insert(key, operator.clone());
        Ok(operator)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn build(&self, path: &StorePath) -> opendal::Result<Operator> {
        let host = &path.authority;
        match path.kind {
            StoreKind::S3 => self.s3(host),
            StoreKind::Cos => self.cos(host),
            StoreKind::Oss => self.oss(host),
            StoreKind::Hdfs => {
                Operator::new(services::HdfsNative::default().root("/").name_node(&format!("hdfs://{host}")))
            }
            StoreKind::WebHdfs => self.webhdfs(&format!("http://{host}")),
            StoreKind::SecureWebHdfs => self.webhdfs(&format!("https://{host}")),
        }
    }

    fn s3(&self, bucket: &str) -> opendal::Result<Operator> {
        let region = self.get("AWS_REGION").or(self.get("AWS_DEFAULT_REGION")).unwrap_or("us-east-1");
        // The library's own credential discovery reads the environment and queries the cloud's metadata
        // server.
        let mut s3 = services::S3::default()
            .bucket(bucket)
            .region(region)
            .disable_config_load()
            .disable_ec2_metadata();
        s3 = match self.get("AWS_ENDPOINT_URL_S3").or(self.get("AWS_ENDPOINT_URL")) {
            Some(endpoint) => s3.endpoint(endpoint),
            None => s3.enable_virtual_host_style(),
        };
        match (self.get("AWS_ACCESS_KEY_ID"), self.get("AWS_SECRET_ACCESS_KEY")) {
            (Some(id), Some(secret)) => s3 = s3.access_key_id(id).secret_access_key(secret),
            _ => s3 = s3.skip_signature(),
        }
        if let Some(token) = self.get("AWS_SESSION_TOKEN") {
            s3 = s3.session_token(token);
        }
        Operator::new(s3)
    }

    fn cos(&self, bucket: &str) -> opendal::Result<Operator> {
        let mut cos = services::Cos::default().bucket(bucket).disable_config_load();
        if let Some(endpoint) = self.get("COS_ENDPOINT") {
            cos = cos.endpoint(endpoint);
        }
        if let (Some(id), Some(key)) = (self.get("COS_SECRET_ID"), self.get("COS_SECRET_KEY")) {
            cos = cos.secret_id(id).secret_key(key);
        }
        if let Some(token) = self.get("COS_SESSION_TOKEN") {
            cos = cos.security_token(token);
        }
        Operator::new(cos)
    }

    fn oss(&self, bucket: &str) -> opendal::Result<Operator> {
        let mut oss = services::Oss::default().bucket(bucket);
        if let Some(endpoint) = self.get("OSS_ENDPOINT") {
            oss = oss.endpoint(endpoint);
        }
        match (self.get("OSS_ACCESS_KEY_ID"), self.get("OSS_ACCESS_KEY_SECRET")) {
            (Some(id), Some(secret)) => oss = oss.access_key_id(id).access_key_secret(secret),
            _ => oss = oss.skip_signature(),
        }
        if let Some(token) = self.get("OSS_SESSION_TOKEN") {
            oss = oss.security_token(token);
        }
        Operator::new(oss)
    }

    fn webhdfs(&self, endpoint: &str) -> opendal::Result<Operator> {
        let mut hdfs = services::Webhdfs::default().root("/").endpoint(endpoint);
        if let Some(user) = self.get("HADOOP_USER_NAME") {
            hdfs = hdfs.user_name(user);
        }
        // Files become visible under their name by a rename; until then they are here. It has no leading
        // slash.
        Operator::new(hdfs.atomic_write_dir("tmp/.cubeloom-transfer/"))
    }
}

/// Checks that the name node is reachable, since the HDFS client waits for minutes. A name without a port is
/// a name service, whose hosts only the client's own configuration has.
pub(super) async fn reach(path: &StorePath) -> Result<(), TransferError> {
    if path.kind != StoreKind::Hdfs || !path.authority.contains(':') {
        return Ok(());
    }
    let mut why = String::new();
    for host in path.authority.split(',') {
        match tokio::time::timeout(CONNECT, tokio::net::TcpStream::connect(host)).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => why = error.to_string(),
            Err(_) => why = format!("no answer after {} s", CONNECT.as_secs()),
        }
    }
    Err(TransferError::NoConnection { url: super::location::Location::Store(path.clone()).to_string(), why })
}

fn client(
    env: &BTreeMap<String, String>,
    silence: Duration,
    walled: bool,
) -> Result<reqwest::Client, TransferError> {
    // A second call fails because the provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (proxies, extra) = (proxies(env)?, certificates(env)?);
    let begin = || {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("cubeloom/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(silence)
            .no_proxy();
        // A redirect may lead to an IP address, which bypasses the resolver.
        let builder = match walled {
            true => builder.dns_resolver(Arc::new(Outside)).redirect(reqwest::redirect::Policy::none()),
            false => builder,
        };
        proxies.iter().cloned().fold(builder, reqwest::ClientBuilder::proxy)
    };
    let built = begin().tls_certs_merge(extra.clone()).build();
    // Minimal machines have no CA certificates; plain HTTP must still work there.
    let built = built.or_else(|_| begin().tls_certs_only(extra).build());
    built.map_err(|error| TransferError::http("the HTTP client", error))
}

fn proxies(env: &BTreeMap<String, String>) -> Result<Vec<reqwest::Proxy>, TransferError> {
    let find =
        |name: &str| env.get(name).or_else(|| env.get(&name.to_ascii_lowercase())).filter(|v| !v.is_empty());
    let except = find("NO_PROXY").map(String::as_str).unwrap_or_default();
    let except = reqwest::NoProxy::from_string(&format!("localhost,127.0.0.0/8,::1,{except}"));
    let mut found = Vec::new();
    if let Some(url) = find("HTTP_PROXY") {
        found.push(reqwest::Proxy::http(url).map_err(|error| TransferError::http("HTTP_PROXY", error))?);
    }
    if let Some(url) = find("HTTPS_PROXY") {
        found.push(reqwest::Proxy::https(url).map_err(|error| TransferError::http("HTTPS_PROXY", error))?);
    }
    Ok(found.into_iter().map(|proxy| proxy.no_proxy(except.clone())).collect())
}

/// Additional CA certificates: a PEM file named by AWS_CA_BUNDLE or SSL_CERT_FILE.
fn certificates(env: &BTreeMap<String, String>) -> Result<Vec<reqwest::Certificate>, TransferError> {
    let Some(file) = env.get("AWS_CA_BUNDLE").or_else(|| env.get("SSL_CERT_FILE")).filter(|v| !v.is_empty())
    else {
        return Ok(Vec::new());
    };
    let pem = std::fs::read(file).map_err(|error| TransferError::io(file.as_ref(), 0, error))?;
    reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| TransferError::http(file, error))
}
