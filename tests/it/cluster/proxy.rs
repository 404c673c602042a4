//! A proxy between a server and the cluster's API server that injects faults: no response, lost responses,
//! expired watches, overload, and rejected credentials.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cubeloom_executor_kubernetes::Access;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HOST};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use kube::Client;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

type Answer = Response<UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>>;

/// The injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Requests are answered.
    Fine,
    /// Connections break, and new ones are refused.
    Away,
    /// Connections stay open without responses.
    Hangs,
    /// Every other request gets a 429.
    Busy,
    /// Every request gets a 429.
    Full,
    /// Requests are executed, but the response to any write is a 504.
    Lost,
    /// Credentials are rejected with a 401.
    Strangers,
    /// Watches get a 410 event in their stream, as from API servers.
    Old,
    /// Watches are refused with a 410 status instead.
    Gone,
}

pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    weather: watch::Sender<Weather>,
    refused: AtomicUsize,
    listed: AtomicUsize,
}

impl Proxy {
    /// Starts a proxy to the cluster of this kubeconfig, on the current runtime.
    pub async fn start(kubeconfig: &str) -> Self {
        let access = Access::Kubeconfig { text: kubeconfig.to_owned(), context: None };
        let client = access.client("test").await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            client,
            weather: watch::Sender::new(Weather::Fine),
            refused: 0.into(),
            listed: 0.into(),
        });
        tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared }
    }

    /// A kubeconfig that points to the proxy.
    pub fn kubeconfig(&self) -> String {
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": format!("http://{}", self.address)}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        })
        .to_string()
    }

    /// Changes the fault. Open requests and watches break off.
    pub fn becomes(&self, weather: Weather) {
        self.shared.weather.send_replace(weather);
    }

    /// The number of list requests.
    pub fn listed(&self) -> usize {
        self.shared.listed.load(Ordering::Relaxed)
    }

    /// The number of requests that failed because of a fault.
    pub fn refused(&self) -> usize {
        self.shared.refused.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        if *shared.weather.borrow() == Weather::Away {
            shared.refused.fetch_add(1, Ordering::Relaxed);
        } else {
            tokio::spawn(serve(stream, Arc::clone(&shared)));
        }
    }
}

/// Serves a connection until the fault changes.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let mut weather = shared.weather.subscribe();
    let present = *weather.borrow_and_update();
    let service =
        service_fn(|request| async { Ok::<_, Infallible>(answer(&shared, present, request).await) });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        _ = &mut connection => return,
        _ = weather.changed() => {}
    }
    // Neither end notices a connection whose packets are dropped, whatever follows.
    if *weather.borrow() == Weather::Hangs {
        std::future::pending().await
    }
}

async fn answer(shared: &Shared, weather: Weather, request: Request<Incoming>) -> Answer {
    let watches = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    let asks = request.method() == Method::GET;
    let refuse = |code: u16, reason: &str| {
        shared.refused.fetch_add(1, Ordering::Relaxed);
        status(code, reason)
    };
    match weather {
        Weather::Hangs => std::future::pending().await,
        Weather::Strangers => return refuse(401, "Unauthorized"),
        Weather::Gone if watches => return refuse(410, "Expired"),
        Weather::Old if watches => {
            shared.refused.fetch_add(1, Ordering::Relaxed);
            let event = json!({"type": "ERROR", "object": failure(410, "Expired")});
            return answer_of(200, &format!("{event}\n"));
        }
        Weather::Full => return refuse(429, "TooManyRequests"),
        Weather::Busy if rand() => return refuse(429, "TooManyRequests"),
        _ => {}
    }
    if asks && request.uri().query().is_some_and(|query| query.contains("labelSelector")) && !watches {
        shared.listed.fetch_add(1, Ordering::Relaxed);
    }
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(HOST);
    parts.headers.remove(AUTHORIZATION);
    let Ok(body) = body.collect().await else { return status(400, "BadRequest") };
    let request = Request::from_parts(parts, body.to_bytes().to_vec().into());
    match shared.client.send(request).await {
        Ok(_) if weather == Weather::Lost && !asks => refuse(504, "Timeout"),
        Ok(answer) => answer.map(|body| body.map_err(Into::into).boxed_unsync()),
        Err(error) => panic!("the API server does not answer the proxy: {error}"),
    }
}

/// True for one in two, without a regular pattern.
fn rand() -> bool {
    cubeloom_testkit::conformance::random().is_multiple_of(2)
}

/// A response in the API server's format.
fn status(code: u16, reason: &str) -> Answer {
    answer_of(code, &failure(code, reason).to_string())
}

fn failure(code: u16, reason: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "code": code, "reason": reason, "message": format!("the test says {reason}"),
    })
}

fn answer_of(code: u16, text: &str) -> Answer {
    let body = Full::new(Bytes::from(text.to_owned())).map_err(|never| match never {});
    Response::builder()
        .status(code)
        .header("Content-Type", "application/json")
        .body(body.boxed_unsync())
        .unwrap()
}
