//! What the store promises, on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod documents;
mod faults;
mod leases;
mod people;
mod random;
mod records;
mod runs;
mod speed;
mod support;
mod wishes;
