//! Delivers alerts: messages, senders, and the task that sends due messages from the database.
//!
//! Alerts are written to the database where they occur ([`cubeloom_store`]). Message formats and signatures
//! are in [`cubeloom_alerts`].

mod http;
mod idle;
mod keys;
mod quota;
mod send;
mod session;
mod smtp;
mod task;
mod text;

use std::fmt;

pub(crate) use http::in_words;
pub(crate) use keys::{Part, name as sealed_as, seal};
pub(crate) use send::send;
pub(crate) use task::start;
pub(crate) use text::test_message;

#[derive(Clone, Debug, Default)]
pub struct AlertSettings {
    /// Whether receivers may have local or private addresses.
    pub private_addresses: bool,
    /// Mail server. `None` disables e-mail.
    pub smtp: Option<SmtpSettings>,
}

#[derive(Clone)]
pub struct SmtpSettings {
    /// Host name.
    pub host: String,
    pub port: u16,
    /// Encryption of the connection.
    pub tls: SmtpTls,
    /// User name and password, if the server requires them.
    pub account: Option<(String, String)>,
    /// Sender: an address, or `Name <address>`.
    pub from: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// TLS from the first byte.
    Always,
    /// STARTTLS. Without it, nothing is sent.
    StartTls,
    /// Unencrypted, for a server on the same machine.
    Never,
}

/// Omits the password.
impl fmt::Debug for SmtpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, tls, from, .. } = self;
        f.debug_struct("SmtpSettings")
            .field("host", host)
            .field("port", port)
            .field("tls", tls)
            .field("from", from)
            .finish_non_exhaustive()
    }
}
