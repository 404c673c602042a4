//! Alerts on their way to people: what their messages say, how each is sent, and the task that sends what the database holds.
//!
//! What is told is written to the database by whoever knows of it ([`cubeloom_store`]); forms and signatures are
//! [`cubeloom_alerts`]'s.

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

/// What is configured of alerts.
#[derive(Clone, Debug, Default)]
pub struct AlertSettings {
    /// Whether receivers may be at addresses of this machine and of private networks.
    pub private_addresses: bool,
    /// How e-mail is sent; none is without.
    pub smtp: Option<SmtpSettings>,
}

/// A server that takes e-mail.
#[derive(Clone)]
pub struct SmtpSettings {
    /// Name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How what is said to it is kept from others.
    pub tls: SmtpTls,
    /// The account there, when one is needed: its name and its password.
    pub account: Option<(String, String)>,
    /// Who the mails are from: an address, or `Name <address>`.
    pub from: String,
}

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// From its first byte.
    Always,
    /// After the greeting; without, nothing is sent.
    StartTls,
    /// Never: for a server on the same machine.
    Never,
}

/// The password is not shown.
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
