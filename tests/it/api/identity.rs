//! People: sign-in, sessions, tokens, links, what is audited; and the walls around all of it.

mod audit;
mod audit_export;
mod audit_stream;
mod audit_uses;
mod changes;
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
