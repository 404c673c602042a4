//! Web connections: their maximum number, and timeouts for their requests. A client that opens many idle
//! connections cannot lock out others.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt;

/// The timeout of a request's head, and of an idle connection.
const HEAD: Duration = Duration::from_secs(30);
/// Maximum unsent data per connection in the kernel, in bytes, not counting data in flight.
const UNSENT: u32 = 256 << 10;
/// The wait after a failed accept, for instance because of too many open files.
const AGAIN: Duration = Duration::from_secs(1);

/// Maximum number of rejections in progress, and of bytes read from each.
const GOING: usize = 64;
const REST: u64 = 64 << 10;

/// The response to a client with too many connections.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n\
    content-type: text/plain\r\ncontent-length: 52\r\n\r\nYou have too many connections open: close some first";

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In total.
    connections: usize,
    /// Per address; `None` if all come from a proxy's address.
    each: Option<usize>,
    /// The timeout of a request's head.
    head: Duration,
}

impl Limits {
    /// At most `connections`; a quarter of them per address, unless proxies hide the clients.
    pub fn of(connections: usize, proxies: usize) -> Self {
        let connections = connections.max(4);
        Self { connections, each: (proxies == 0).then_some(connections / 4), head: HEAD }
    }
}

/// Accepts connections until stopped, then waits until the open ones have their responses.
pub async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) {
    let (mut open, doors) = (JoinSet::new(), Doors::new(limits));
    loop {
        let (stream, peer, place) = tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => break,
            Some(_) = open.join_next(), if !open.is_empty() => continue,
            guest = doors.next(&listener) => guest,
        };
        open.spawn(answer(stream, peer, routes.clone(), limits.head, stopped.clone(), place));
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// Serves the requests of one connection; after a stop, only the current one.
async fn answer(
    stream: TcpStream,
    peer: SocketAddr,
    routes: Router,
    head: Duration,
    mut stopped: watch::Receiver<bool>,
    place: Place,
) {
    // Events are small and should arrive immediately.
    let _ = stream.set_nodelay(true);
    // Data for a slow reader must not pile up in the kernel either: later it gets the state at that time.
    let _ = SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let routes = routes.clone();
        async move { Ok::<_, Infallible>(routes.oneshot(request).await.unwrap_or_else(|never| match never {})) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = async { drop(stopped.wait_for(|stop| *stop).await) } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection has ended");
    }
    drop(place);
}

/// The open connections.
struct Doors {
    all: Arc<Semaphore>,
    /// Number of connections per address.
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
    each: Option<usize>,
    /// Permits for rejections in progress.
    going: Arc<Semaphore>,
}

/// The permit of a connection, until it ends.
struct Place {
    _of_all: OwnedSemaphorePermit,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
    address: IpAddr,
}

impl Doors {
    fn new(limits: Limits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.connections)),
            taken: Arc::default(),
            each: limits.each,
            going: Arc::new(Semaphore::new(GOING)),
        }
    }

    /// The next admitted connection. At the limit, others wait in the kernel's backlog.
    async fn next(&self, listener: &TcpListener) -> (TcpStream, SocketAddr, Place) {
        loop {
            let Ok(of_all) = Arc::clone(&self.all).acquire_owned().await else {
                // The semaphore is never closed.
                std::future::pending::<()>().await;
                continue;
            };
            match listener.accept().await {
                Ok((stream, peer)) => match self.place(peer.ip(), of_all) {
                    Some(place) => return (stream, peer, place),
                    None => self.turn_away(stream),
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// Sends a rejection, unless too many are in progress, and closes the connection.
    fn turn_away(&self, mut stream: TcpStream) {
        let Ok(turn) = Arc::clone(&self.going).try_acquire_owned() else { return };
        tokio::spawn(async move {
            // Unread data would cause a reset before the client reads the response.
            let farewell = async {
                stream.write_all(TURNED_AWAY).await?;
                stream.shutdown().await?;
                tokio::io::copy(&mut (&mut stream).take(REST), &mut tokio::io::sink()).await
            };
            let _ = tokio::time::timeout(AGAIN, farewell).await;
            drop(turn);
        });
    }

    /// A permit for another connection from an address, if it may have one.
    fn place(&self, address: IpAddr, of_all: OwnedSemaphorePermit) -> Option<Place> {
        let address = whose(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(address).or_default();
        if self.each.is_some_and(|each| *count >= each) {
            return None;
        }
        *count += 1;
        Some(Place { _of_all: of_all, taken: Arc::clone(&self.taken), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

/// The IPv6 addresses of one customer share their first 64 bits.
fn whose(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => Ipv6Addr::from_bits(long.to_bits() >> 64 << 64).into(),
        short => short,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::TcpStream as Plain;

    use axum::routing::get;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A server that responds with `here` under these limits; it ends with the runtime.
    async fn started(limits: Limits) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let routes = Router::new().route("/", get(async || "here"));
        tokio::spawn(async move {
            serve(listener, routes, limits, stopped).await;
            drop(stop);
        });
        address
    }

    /// The server's output until it closes the connection, or until the timeout.
    fn said(stream: &mut Plain, patience: Duration) -> Option<String> {
        stream.set_read_timeout(Some(patience)).unwrap();
        let mut text = Vec::new();
        match stream.read_to_end(&mut text) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
            _ => Some(String::from_utf8_lossy(&text).into_owned()),
        }
    }

    fn ask(address: SocketAddr) -> Option<String> {
        let mut stream = Plain::connect(address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        said(&mut stream, PATIENCE)
    }

    /// On a busy machine even this may once exceed the limits, or come before a permit is free.
    fn until_answered(address: SocketAddr) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while !ask(address).is_some_and(|text| text.ends_with("here")) {
            assert!(std::time::Instant::now() < deadline, "it is not answered");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_head_that_comes_slowly_ends_its_connection() {
        let limits = Limits { head: Duration::from_millis(300), ..Limits::of(100, 0) };
        let address = started(limits).await;
        tokio::task::spawn_blocking(move || {
            let mut silent = Plain::connect(address).unwrap();
            let mut slow = Plain::connect(address).unwrap();
            for piece in ["GET / HTTP/1.1\r\n", "host: x\r\n", "x-one: 1\r\n", "x-two: 2\r\n"] {
                // The server may have closed before the last of them.
                let _ = slow.write_all(piece.as_bytes());
                std::thread::sleep(Duration::from_millis(120));
            }
            for stream in [&mut silent, &mut slow] {
                let text = said(stream, PATIENCE).expect("the connection ends");
                assert!(!text.contains("here"), "{text}");
            }
            until_answered(address);
        })
        .await
        .unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_address_does_not_take_the_places_of_others() {
        let address = started(Limits::of(16, 0)).await;
        tokio::task::spawn_blocking(move || {
            let held: Vec<Plain> = (0..4).map(|_| Plain::connect(address).unwrap()).collect();
            let told = ask(address).expect("an answer");
            assert!(told.starts_with("HTTP/1.1 503") && told.ends_with("close some first"), "{told}");
            let length: usize = told.split("content-length: ").nth(1).unwrap()[..2].parse().unwrap();
            assert_eq!(told.split("\r\n\r\n").nth(1).unwrap().len(), length);
            drop(held);
            until_answered(address);
        })
        .await
        .unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn behind_a_proxy_all_wait_for_a_place_of_all() {
        let address = started(Limits::of(4, 1)).await;
        tokio::task::spawn_blocking(move || {
            let held: Vec<Plain> = (0..4).map(|_| Plain::connect(address).unwrap()).collect();
            let mut waiting = Plain::connect(address).unwrap();
            waiting.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
            assert_eq!(said(&mut waiting, Duration::from_millis(300)), None);
            drop(held);
            let text = said(&mut waiting, PATIENCE);
            assert!(text.is_some_and(|text| text.ends_with("here")));
        })
        .await
        .unwrap();
    }

    #[test]
    fn a_network_of_version_six_counts_as_one() {
        let of = |text: &str| whose(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:aaaa::1"), of("2001:db8:1:2:bbbb::2"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
