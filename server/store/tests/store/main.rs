//! What the store promises, on SQLite and on PostgreSQL.

mod documents;
mod leases;
mod records;
mod runs;
mod speed;
mod support;
mod wishes;
