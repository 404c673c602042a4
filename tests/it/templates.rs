//! The shipped task templates and the examples, on the real program: real processes, packages and protocols.
//!
//! The required Debian packages are listed in the templates (`local.apt`) and in `tests/support`; `make test`
//! installs them. Tests of templates with large packages are ignored: `make test-templates` runs them.

mod approval;
mod copies;
mod digits;
mod elastic;
mod examples;
mod full;
mod hdfs;
mod horovod;
mod http;
mod indexed;
mod jax;
mod kafka;
mod kaldi;
mod layouts;
pub mod ledger;
mod media;
mod model;
mod mpi;
mod mxnet;
mod nni;
mod paddle;
mod pipeline;
pub mod processes;
mod python;
mod pytorch;
mod queue;
mod ray;
mod recommenders;
pub mod rig;
mod spark;
mod sql;
mod tensorflow;
mod transfer;
mod web;
mod wenet;
mod xgboost;
