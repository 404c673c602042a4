//! Sends entries as syslog messages (RFC 5424) with their JSON as the text. Transports are TCP with octet
//! counting (RFC 6587), UDP, or the local syslog socket.
//!
//! Syslog has no acknowledgements. Over TCP, a batch counts as sent once the receiver has read to the end and
//! closed the connection. UDP and sockets guarantee nothing beyond this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use cubeloom_domain::identity::AuditEntry;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket, UnixDatagram, lookup_host};
use tokio::time::timeout;
use url::Url;

use crate::alerts::in_words;
use crate::api::audit::json_line;
use crate::time::Time;

/// Facility `log audit`.
const FACILITY: u8 = 13;
/// Severities: refused requests, and all others.
const WARNING: u8 = 4;
const INFORMATIONAL: u8 = 6;
/// Maximum size of a datagram, in bytes: the default limit of syslog daemons.
const DATAGRAM: usize = 8 << 10;
/// How long to wait for the receiver to close the connection. If it never does, the entries count as sent.
const END: Duration = Duration::from_secs(5);

/// Address of a syslog receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyslogAddress {
    /// `HOST:PORT`.
    Udp(String),
    /// `HOST:PORT`.
    Tcp(String),
    /// Datagram socket, for example `/dev/log`.
    Unix(PathBuf),
}

impl FromStr for SyslogAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH".to_owned();
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        match scheme {
            "unix" if rest.starts_with('/') => return Ok(Self::Unix(rest.into())),
            "udp" | "tcp" => {}
            _ => return Err(wrong()),
        }
        let rest = rest.trim_end_matches('/');
        let (host, port) = rest.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse::<u16>().ok().filter(|port| *port > 0);
        if host.is_empty() || host.contains('/') || port.is_none() {
            return Err(wrong());
        }
        Ok(if scheme == "udp" { Self::Udp(rest.into()) } else { Self::Tcp(rest.into()) })
    }
}

impl SyslogAddress {
    /// Sends entries of the server at `url`. `Err` says why the receiver may lack some of them.
    pub(super) async fn send(&self, entries: &[AuditEntry], url: &str) -> Result<(), String> {
        let host = host(url);
        let sent = match self {
            Self::Udp(to) => udp(to, entries, &host).await,
            Self::Tcp(to) => tcp(to, entries, &host).await,
            Self::Unix(path) => unix(path, entries, &host).await,
        };
        sent.map_err(|error| in_words(&error))
    }
}

async fn udp(to: &str, entries: &[AuditEntry], host: &str) -> std::io::Result<()> {
    let mut found = lookup_host(to).await?;
    let to = found.next().ok_or_else(|| std::io::Error::other("the host has no address"))?;
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).await?;
    socket.connect(to).await?;
    for entry in entries {
        socket.send(datagram(entry, host).as_bytes()).await?;
    }
    Ok(())
}

async fn unix(path: &std::path::Path, entries: &[AuditEntry], host: &str) -> std::io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    socket.connect(path)?;
    for entry in entries {
        socket.send(datagram(entry, host).as_bytes()).await?;
    }
    Ok(())
}

async fn tcp(to: &str, entries: &[AuditEntry], host: &str) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(to).await?;
    let mut frames = String::new();
    for entry in entries {
        let message = message(entry, host, &json_line(entry.clone()));
        frames.push_str(&format!("{} {message}", message.len()));
    }
    stream.write_all(frames.as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = [0; 1024];
    let ended = async {
        while stream.read(&mut rest).await? > 0 {}
        Ok(())
    };
    timeout(END, ended).await.unwrap_or(Ok(()))
}

/// A message that fits into a datagram. Too long ones omit the states before and after, and say so.
fn datagram(entry: &AuditEntry, host: &str) -> String {
    let whole = message(entry, host, &json_line(entry.clone()));
    if whole.len() <= DATAGRAM {
        return whole;
    }
    let mut bare =
        serde_json::to_value(crate::api::audit::AuditView::from(entry.clone())).unwrap_or_default();
    if let Some(members) = bare.as_object_mut() {
        members.retain(|name, _| name != "before" && name != "after");
        members.insert("cut".into(), Value::Bool(true));
    }
    message(entry, host, &bare.to_string())
}

/// `<PRI>1 TIME HOST APP PROCID MSGID SD MSG`.
fn message(entry: &AuditEntry, host: &str, json: &str) -> String {
    let severity = if entry.action.ends_with(".refuse") { WARNING } else { INFORMATIONAL };
    let priority = FACILITY * 8 + severity;
    let (time, action) = (Time(entry.at), word(&entry.action, 32));
    format!("<{priority}>1 {time} {host} cubeloom - {action} - {}", json.trim_end())
}

/// Host of the server's URL.
fn host(url: &str) -> String {
    let url = Url::parse(url).ok();
    word(url.as_ref().and_then(Url::host_str).unwrap_or_default(), 255)
}

/// Header field: at most `most` printable ASCII characters, `-` if empty.
fn word(text: &str, most: usize) -> String {
    let word: String = text.chars().filter(char::is_ascii_graphic).take(most).collect();
    if word.is_empty() { "-".into() } else { word }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use serde_json::json;

    use super::*;

    fn entry(action: &str, after: Value) -> AuditEntry {
        AuditEntry {
            id: "01j00000000000000000000001".into(),
            at: Timestamp(1_772_357_400_000_042),
            user_id: None,
            user_name: "ada".into(),
            via: "session".into(),
            address: "10.0.0.1".into(),
            project: None,
            action: action.into(),
            subject: "a\nb".into(),
            before: None,
            after: Some(after),
        }
    }

    #[test]
    fn a_message_has_its_head_and_one_line_of_json() {
        assert_eq!(
            datagram(&entry("run.start", json!({"n": 1})), &host("https://ml.example.org:8443")),
            "<110>1 2026-03-01T09:30:00.000042Z ml.example.org cubeloom - run.start - \
             {\"id\":\"01j00000000000000000000001\",\"at\":\"2026-03-01T09:30:00.000042Z\",\"user\":\"ada\",\
             \"via\":\"session\",\"address\":\"10.0.0.1\",\"action\":\"run.start\",\"subject\":\"a\\nb\",\
             \"after\":{\"n\":1}}"
        );
        assert!(datagram(&entry("session.refuse", json!(1)), "-").starts_with("<108>1 "));
    }

    #[test]
    fn what_does_not_fit_a_datagram_leaves_out_what_changed() {
        let long = datagram(&entry("pipeline.update", json!("x".repeat(DATAGRAM))), "-");
        assert!(long.len() < 400 && long.ends_with("\"cut\":true}"), "{long}");
    }

    #[test]
    fn addresses_are_read() {
        let read = |text: &str| text.parse::<SyslogAddress>();
        assert_eq!(read("udp://logs:514"), Ok(SyslogAddress::Udp("logs:514".into())));
        assert_eq!(read("tcp://[::1]:601/"), Ok(SyslogAddress::Tcp("[::1]:601".into())));
        assert_eq!(read("unix:///dev/log"), Ok(SyslogAddress::Unix("/dev/log".into())));
        for wrong in ["logs:514", "udp://logs", "udp://:514", "tcp://logs:0", "unix://dev/log", "http://a:1"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
