//! The guarantees of the store, on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod active;
mod alerts;
mod audit_streams;
mod belongings;
mod device_codes;
mod disk;
mod documents;
mod ends;
mod faults;
mod figures;
mod gpu_series;
mod hangs;
mod leases;
mod lengths;
mod limits;
mod links;
mod lists;
mod log;
mod mails;
mod models;
mod nodes;
mod orders;
mod people;
mod priority_classes;
mod projects;
mod queues;
mod random;
mod records;
mod runs;
mod schedules;
mod search;
mod sizing;
mod speed;
mod support;
mod upgrade;
mod usage;
mod users;
mod versions;
mod waiting;
mod wishes;
