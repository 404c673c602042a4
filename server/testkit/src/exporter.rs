//! An exporter for tests, scraped by a real Prometheus: it serves recorded text, with the values of a
//! scenario.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The output of a dcgm-exporter with pod labels for two GPUs. `cl-train-0123456789-worker-0` has the first,
/// no pod the second, which reports no power. The format is that of its default counters.
pub const DCGM: &str = include_str!("../recorded/dcgm.prom");

#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub name: &'a str,
    /// The index of the GPU.
    pub gpu: &'a str,
    /// The recorded value.
    pub value: f64,
}

/// The current value of each series; `None` omits it.
type Scenario = Box<dyn Fn(&Line<'_>) -> Option<f64> + Send>;

/// The served content: none while the exporter is down.
struct Part {
    text: String,
    scenario: Scenario,
    is_away: bool,
    has_ended: bool,
}

/// A running exporter, stopped on drop.
pub struct Exporter {
    address: SocketAddr,
    part: Arc<Mutex<Part>>,
}

impl Exporter {
    /// Serves the recorded text.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn of(text: impl Into<String>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("its address");
        let scenario: Scenario = Box::new(|line| Some(line.value));
        let part = Part { text: text.into(), scenario, is_away: false, has_ended: false };
        let part = Arc::new(Mutex::new(part));
        let served = Arc::clone(&part);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let part = lock(&served);
                match (part.has_ended, part.is_away) {
                    (true, _) => return,
                    (false, true) => {}
                    (false, false) => drop(answer(stream, &part.told())),
                }
            }
        });
        Self { address, part }
    }

    /// `host:port`, the form of a Prometheus target.
    #[must_use]
    pub fn target(&self) -> String {
        self.address.to_string()
    }

    /// Serves another text from now on.
    pub fn tell(&self, text: impl Into<String>) {
        lock(&self.part).text = text.into();
    }

    /// From now on the scenario sets each series, or omits it with `None`.
    pub fn play(&self, scenario: impl Fn(&Line<'_>) -> Option<f64> + Send + 'static) {
        lock(&self.part).scenario = Box::new(scenario);
    }

    /// Stops responding, or responds again.
    pub fn be_away(&self, is_away: bool) {
        lock(&self.part).is_away = is_away;
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        lock(&self.part).has_ended = true;
        // Its thread waits for a connection.
        let _ = TcpStream::connect(self.address);
    }
}

impl Part {
    fn told(&self) -> String {
        let mut told = String::new();
        for line in self.text.lines() {
            let Some((series, value)) = line.rsplit_once(' ').filter(|_| !line.starts_with('#')) else {
                let _ = writeln!(told, "{line}");
                continue;
            };
            let name = series.split('{').next().unwrap_or_default();
            let gpu = series.split("gpu=\"").nth(1).and_then(|rest| rest.split('"').next());
            let value = value.parse().unwrap_or(f64::NAN);
            if let Some(value) = (self.scenario)(&Line { name, gpu: gpu.unwrap_or_default(), value }) {
                let _ = writeln!(told, "{series} {value}");
            }
        }
        told
    }
}

fn answer(mut stream: TcpStream, body: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let (mut request, mut part) = (Vec::new(), [0; 1024]);
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut part)? {
            0 => break,
            count => request.extend_from_slice(&part[..count]),
        }
    }
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/plain; version=0.0.4";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn lock(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}
