//! The part of SMTP (RFC 5321, 3207, 4954) needed to submit one message to one server.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Maximum length of a line, and maximum number of lines of a response.
const LONGEST: u64 = 4096;
const LINES: usize = 100;

trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A connection to an SMTP server.
pub(super) struct Session(BufReader<Box<dyn Wire>>);

impl Session {
    /// Connects, and waits for the server's greeting.
    pub(super) async fn open(host: &str, port: u16, encrypted: bool) -> Result<Self, String> {
        let stream = TcpStream::connect((host, port)).await;
        let stream = stream.map_err(|error| format!("the mail server cannot be reached: {error}"))?;
        let wire: Box<dyn Wire> =
            if encrypted { tls(trusting()?, host, stream).await? } else { Box::new(stream) };
        let mut session = Self(BufReader::new(wire));
        session.answer(220).await?;
        Ok(session)
    }

    /// Sends `EHLO`. Returns the server's extensions.
    pub(super) async fn greet(&mut self) -> Result<String, String> {
        self.say("EHLO cubeloom", 250).await
    }

    /// Upgrades to TLS, or fails.
    pub(super) async fn encrypt(self, host: &str, offered: &str) -> Result<Self, String> {
        self.encrypt_by(trusting()?, host, offered).await
    }

    async fn encrypt_by(
        mut self,
        config: Arc<ClientConfig>,
        host: &str,
        offered: &str,
    ) -> Result<Self, String> {
        if !offers(offered, "STARTTLS", "") {
            return Err("the mail server does not offer STARTTLS: set [smtp] tls to what it supports".into());
        }
        self.say("STARTTLS", 220).await?;
        // Data from before the TLS handshake could be injected.
        if !self.0.buffer().is_empty() {
            return Err("the mail server did not encrypt the connection after STARTTLS".into());
        }
        Ok(Self(BufReader::new(tls(config, host, self.0.into_inner()).await?)))
    }

    /// Authenticates with a mechanism that the server supports.
    pub(super) async fn sign_in(&mut self, offered: &str, user: &str, password: &str) -> Result<(), String> {
        if offers(offered, "AUTH", "PLAIN") {
            let word = STANDARD.encode(format!("\0{user}\0{password}"));
            return self.say(&format!("AUTH PLAIN {word}"), 235).await.map(drop);
        }
        self.say("AUTH LOGIN", 334).await?;
        self.say(&STANDARD.encode(user), 334).await?;
        self.say(&STANDARD.encode(password), 235).await.map(drop)
    }

    /// Sends a line. Returns the response, whose code must match `wanted` or begin with it.
    pub(super) async fn say(&mut self, line: &str, wanted: u16) -> Result<String, String> {
        self.send(format!("{line}\r\n").as_bytes()).await?;
        self.answer(wanted).await
    }

    /// Sends the message. A dot at the start of a line is doubled, as a single one ends the message.
    pub(super) async fn body(&mut self, text: &str) -> Result<String, String> {
        let text = format!("\r\n{}", text.trim_end_matches("\r\n")).replace("\r\n.", "\r\n..");
        self.send(format!("{}\r\n.\r\n", &text[2..]).as_bytes()).await?;
        self.answer(250).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let wire = self.0.get_mut();
        let sent = async {
            wire.write_all(bytes).await?;
            wire.flush().await
        };
        sent.await.map_err(|error: std::io::Error| format!("the connection was lost: {error}"))
    }

    /// Reads a response: lines `250-word`, the last one `250 word`.
    async fn answer(&mut self, wanted: u16) -> Result<String, String> {
        let mut said: Vec<String> = Vec::new();
        for _ in 0..LINES {
            let mut line = String::new();
            let read = (&mut self.0).take(LONGEST).read_line(&mut line).await;
            match read {
                Ok(0) => return Err("the mail server ended the connection".into()),
                Ok(_) => {}
                Err(error) => return Err(format!("the connection was lost: {error}")),
            }
            let line = line.trim_end().replace(char::is_control, " ");
            let goes_on = line.as_bytes().get(3) == Some(&b'-');
            said.push(line);
            if !goes_on {
                break;
            }
        }
        let all = said.join("\n");
        if all.starts_with(&wanted.to_string()) {
            Ok(all)
        } else {
            Err(format!("the mail server responded: {all}"))
        }
    }
}

/// Whether the `EHLO` response has a keyword with this parameter.
fn offers(offered: &str, keyword: &str, parameter: &str) -> bool {
    offered.lines().any(|line| {
        let mut words = line.get(4..).unwrap_or_default().split_whitespace();
        words.next().is_some_and(|word| word.eq_ignore_ascii_case(keyword))
            && (parameter.is_empty() || words.any(|word| word.eq_ignore_ascii_case(parameter)))
    })
}

fn unencrypted(why: &dyn std::fmt::Display) -> String {
    format!("the connection cannot be encrypted: {why}")
}

/// Trusts the CAs of this machine.
fn trusting() -> Result<Arc<ClientConfig>, String> {
    // A second call fails because the first one installed the provider, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    ClientConfig::with_platform_verifier().map(Arc::new).map_err(|error| unencrypted(&error))
}

async fn tls(
    config: Arc<ClientConfig>,
    host: &str,
    wire: impl Wire + 'static,
) -> Result<Box<dyn Wire>, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| unencrypted(&error))?;
    let stream = TlsConnector::from(config).connect(name, wire).await;
    Ok(Box::new(stream.map_err(|error| unencrypted(&error))?))
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::PrivateKeyDer;
    use rustls::{RootCertStore, ServerConfig};
    use tokio::io::{DuplexStream, duplex};
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// Runs a session with a server that sends this. Returns what the client sent.
    async fn with(server: &str, work: impl AsyncFnOnce(&mut Session)) -> String {
        let (near, mut far) = duplex(1 << 16);
        far.write_all(server.as_bytes()).await.unwrap();
        let mut session = Session(BufReader::new(Box::new(near)));
        work(&mut session).await;
        drop(session);
        let mut heard = String::new();
        far.read_to_string(&mut heard).await.unwrap();
        heard
    }

    #[tokio::test]
    async fn answers_of_several_lines_are_read_whole_and_refusals_are_told() {
        with(
            "250-mail.example.org\r\n250-AUTH PLAIN LOGIN\r\n250 STARTTLS\r\n550 no such\r\n",
            async |session| {
                let offered = session.greet().await.unwrap();
                assert!(offers(&offered, "starttls", "") && offers(&offered, "AUTH", "login"));
                assert!(!offers(&offered, "AUTH", "XOAUTH2") && !offers(&offered, "SIZE", ""));
                let refused = session.say("RCPT TO:<x@y.de>", 25).await.unwrap_err();
                assert_eq!(refused, "the mail server responded: 550 no such");
            },
        )
        .await;
    }

    const HOST: &str = "mail.example.org";

    /// A server certificate from the test's own CA, and a client that trusts this CA.
    fn certified() -> (TlsAcceptor, Arc<ClientConfig>) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let made = rcgen::generate_simple_self_signed(vec![HOST.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let chain = vec![made.cert.der().clone()];
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let server = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
        let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        (TlsAcceptor::from(Arc::new(server)), Arc::new(client))
    }

    /// A server that accepts a mail, encrypted from the first byte or after STARTTLS. Returns what it
    /// received.
    async fn mail_server(far: DuplexStream, acceptor: TlsAcceptor, first: bool) -> std::io::Result<String> {
        let mut plain = BufReader::new(far);
        if !first {
            for says in ["250-mail\r\n250 STARTTLS\r\n", "220 go\r\n"] {
                plain.read_line(&mut String::new()).await?;
                plain.write_all(says.as_bytes()).await?;
            }
        }
        let mut secret = BufReader::new(acceptor.accept(plain.into_inner()).await?);
        let mut heard = String::new();
        for says in ["250-mail\r\n250 AUTH PLAIN\r\n", "235 welcome\r\n"] {
            secret.read_line(&mut heard).await?;
            secret.write_all(says.as_bytes()).await?;
        }
        secret.flush().await?;
        Ok(heard)
    }

    #[tokio::test]
    async fn a_password_is_said_over_an_encrypted_connection_to_whom_the_machine_trusts() {
        for first in [true, false] {
            let (acceptor, trust) = certified();
            let (near, far) = duplex(1 << 16);
            let server = tokio::spawn(mail_server(far, acceptor, first));
            let mut session = match first {
                true => Session(BufReader::new(tls(trust, HOST, near).await.unwrap())),
                false => {
                    let mut session = Session(BufReader::new(Box::new(near)));
                    let offered = session.greet().await.unwrap();
                    session.encrypt_by(trust, HOST, &offered).await.unwrap()
                }
            };
            let offered = session.greet().await.unwrap();
            session.sign_in(&offered, "ada", "s3cret").await.unwrap();
            let heard = server.await.unwrap().unwrap();
            assert_eq!(
                heard,
                format!("EHLO cubeloom\r\nAUTH PLAIN {}\r\n", STANDARD.encode("\0ada\0s3cret"))
            );
        }
    }

    #[tokio::test]
    async fn nothing_is_said_to_a_server_that_is_not_trusted_or_has_another_name() {
        let (_, others) = certified();
        for (trust, host) in [(Some(others), HOST), (None, "other.example.org")] {
            let (acceptor, own) = certified();
            let (near, far) = duplex(1 << 16);
            let server = tokio::spawn(mail_server(far, acceptor, true));
            let refused = tls(trust.unwrap_or(own), host, near).await.err().unwrap();
            assert!(refused.starts_with("the connection cannot be encrypted"), "{refused}");
            assert!(server.await.unwrap().is_err());
        }
    }

    #[tokio::test]
    async fn a_server_without_encryption_is_told_nothing() {
        let heard = with("250 mail\r\n", async |session| {
            let offered = session.greet().await.unwrap();
            let (near, _far) = duplex(64);
            let bare = Session(BufReader::new(Box::new(near)));
            let refused = bare.encrypt_by(certified().1, HOST, &offered).await.err().unwrap();
            assert!(refused.contains("does not offer STARTTLS"), "{refused}");
        })
        .await;
        assert_eq!(heard, "EHLO cubeloom\r\n");
    }

    #[tokio::test]
    async fn a_point_alone_does_not_end_the_message() {
        let heard = with("250 taken\r\n", async |session| {
            assert_eq!(session.body(".a\r\n.\r\nb.\r\n").await.unwrap(), "250 taken");
        })
        .await;
        assert_eq!(heard, "..a\r\n..\r\nb.\r\n.\r\n");
    }
}
