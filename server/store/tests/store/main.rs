//! What the store promises, on SQLite and on PostgreSQL.

mod records;
mod runs;
mod support;
