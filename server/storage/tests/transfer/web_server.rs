//! A web server on a free port that counts what it sends, and fails on demand.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::IntoResponse;
use futures::StreamExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

/// Content and faults of the server. Tests change them between transfers.
#[derive(Clone, Default)]
pub struct Behaviour {
    pub bytes: Vec<u8>,
    pub etag: Option<&'static str>,
    /// Answers ranges with the whole file.
    pub no_ranges: bool,
    /// Answers HEAD with 405.
    pub no_head: bool,
    /// Does not send the file's length.
    pub chunked: bool,
    /// Sends this many bytes of content in total, then breaks every connection.
    pub dies_after: Option<usize>,
    /// Breaks every response after this many bytes, but keeps serving.
    pub breaks_after: Option<usize>,
    /// Answers this many requests with 503 first.
    pub busy: usize,
    /// Waits this long before each piece of 64 KiB.
    pub slow: Option<std::time::Duration>,
}

/// Requests that the server has seen.
#[derive(Default)]
pub struct Seen {
    /// `Range` of each GET, in order; empty for the whole.
    pub ranges: Vec<String>,
    /// Bytes of content passed to the connection.
    pub sent: usize,
    /// Maximum number of concurrent unfinished responses.
    pub most: usize,
    /// Path and query of each request; the whole URL when the server is used as a proxy.
    pub uris: Vec<String>,
    /// Signatures and passwords, if any.
    pub authorizations: Vec<String>,
}

impl Seen {
    /// Number of distinct requested ranges. A cancelled request may be read only after the next transfer
    /// began and requested the same range: then its bytes and its request count twice.
    pub fn different_ranges(&self) -> usize {
        self.ranges.iter().collect::<BTreeSet<_>>().len()
    }
}

#[derive(Clone, Default)]
pub struct WebServer {
    pub behaviour: Arc<Mutex<Behaviour>>,
    pub seen: Arc<Mutex<Seen>>,
    /// Number of unfinished responses.
    under_way: Arc<AtomicUsize>,
    origin: String,
}

impl WebServer {
    pub async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { behaviour: Arc::new(Mutex::new(behaviour)), origin, ..Self::default() };
        let app = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        server
    }

    /// The same over TLS, with a self-signed certificate (PEM) that clients must add.
    pub async fn start_tls(behaviour: Behaviour) -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("https://{}", tcp.local_addr().unwrap());
        let server = Self { behaviour: Arc::new(Mutex::new(behaviour)), origin, ..Self::default() };
        let app = Router::new().fallback(answer).with_state(server.clone());
        let listener = TlsListener { tcp, acceptor: Arc::new(config).into() };
        tokio::spawn(async move { axum::serve(listener, app).await });
        (server, made.cert.pem())
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.origin)
    }

    pub fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.behaviour.lock().unwrap());
    }

    /// Requests since the last call, once no response is in progress: a cancelled one may be sent for a
    /// moment longer.
    pub fn take_seen(&self) -> Seen {
        let began = std::time::Instant::now();
        while self.under_way.load(Ordering::SeqCst) > 0 {
            assert!(began.elapsed() < std::time::Duration::from_secs(60), "an answer does not end");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.tcp.accept().await.unwrap();
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

async fn answer(State(server): State<WebServer>, request: Request) -> Response<Body> {
    let behaviour = {
        let mut behaviour = server.behaviour.lock().unwrap();
        if behaviour.busy > 0 {
            behaviour.busy -= 1;
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        behaviour.clone()
    };
    {
        let mut seen = server.seen.lock().unwrap();
        seen.uris.push(request.uri().to_string());
        let given = request.headers().get(header::AUTHORIZATION);
        seen.authorizations.extend(given.map(|given| given.to_str().unwrap().to_owned()));
    }
    if request.uri().path().contains("gone") {
        return StatusCode::NOT_FOUND.into_response();
    }
    if request.uri().path().contains("secret") {
        return StatusCode::FORBIDDEN.into_response();
    }
    if request.method() == http::Method::HEAD {
        return head(&behaviour);
    }
    get(server, behaviour, request.headers())
}

fn head(behaviour: &Behaviour) -> Response<Body> {
    if behaviour.no_head {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let mut answer = Response::builder();
    if let Some(etag) = behaviour.etag {
        answer = answer.header(header::ETAG, etag);
    }
    if !behaviour.no_ranges {
        answer = answer.header(header::ACCEPT_RANGES, "bytes");
    }
    if !behaviour.chunked {
        answer = answer.header(header::CONTENT_LENGTH, behaviour.bytes.len());
    }
    answer.body(Body::empty()).unwrap()
}

fn get(server: WebServer, behaviour: Behaviour, headers: &HeaderMap) -> Response<Body> {
    let range = headers.get(header::RANGE).map(|range| range.to_str().unwrap().to_owned());
    server.seen.lock().unwrap().ranges.push(range.clone().unwrap_or_default());
    let total = behaviour.bytes.len();
    let span = range.filter(|_| !behaviour.no_ranges).map(|range| {
        let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        first.parse::<usize>().unwrap()..(last.parse::<usize>().unwrap() + 1).min(total)
    });
    let mut answer = Response::builder();
    if let Some(etag) = behaviour.etag {
        answer = answer.header(header::ETAG, etag);
    }
    if let Some(span) = &span {
        if span.start >= total {
            let unmet = answer.status(416).header(header::CONTENT_RANGE, format!("bytes */{total}"));
            return unmet.body(Body::empty()).unwrap();
        }
        let text = format!("bytes {}-{}/{total}", span.start, span.end - 1);
        answer = answer.status(206).header(header::CONTENT_RANGE, text);
    }
    let part = behaviour.bytes[span.unwrap_or(0..total)].to_vec();
    if !behaviour.chunked {
        answer = answer.header(header::CONTENT_LENGTH, part.len());
    }
    answer.body(body(server, behaviour, part)).unwrap()
}

/// Counts a response until its last piece is sent, or the client is gone.
struct UnderWay(WebServer);

impl UnderWay {
    fn new(server: WebServer) -> Self {
        let now = server.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        let mut seen = server.seen.lock().unwrap();
        seen.most = seen.most.max(now);
        drop(seen);
        Self(server)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The content in small pieces, counted, until the configured fault.
fn body(server: WebServer, behaviour: Behaviour, part: Vec<u8>) -> Body {
    let pieces: Vec<Vec<u8>> = part.chunks(64 << 10).map(<[u8]>::to_vec).collect();
    let (mut sent_here, mut left) = (0, pieces.len());
    let mut under_way = Some(UnderWay::new(server.clone()));
    Body::from_stream(futures::stream::iter(pieces).then(move |piece| {
        left -= 1;
        let last = if left == 0 { under_way.take() } else { None };
        let mut seen = server.seen.lock().unwrap();
        let dead = behaviour.dies_after.is_some_and(|limit| seen.sent + piece.len() > limit)
            || behaviour.breaks_after.is_some_and(|limit| sent_here + piece.len() > limit);
        if !dead {
            seen.sent += piece.len();
            sent_here += piece.len();
        }
        let slow = behaviour.slow;
        async move {
            if let Some(wait) = slow {
                tokio::time::sleep(wait).await;
            }
            drop(last);
            if dead { Err(std::io::Error::other("the server breaks, as it was told to")) } else { Ok(piece) }
        }
    }))
}
