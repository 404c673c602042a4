//! Identity: sign-in, sessions, tokens, links and the audit log, and the access control around them.

mod audit;
mod audit_export;
mod audit_stream;
mod audit_uses;
mod changes;
mod device;
mod etags;
mod guessing;
mod headers;
pub mod help;
mod links;
mod locked;
mod once;
mod passwords;
mod rates;
mod sessions;
mod sites;
mod tokens;
