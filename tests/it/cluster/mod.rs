//! Jobs on a real cluster, which `make test-cluster` starts and describes. The tests are ignored because they
//! need it. Those of `simulated` and `bare` need no real node; all others do.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

mod bare;
mod bench;
mod causes;
mod conformance;
mod frameworkcontroller;
mod harness;
mod hostile;
mod kubectl;
mod looked_at;
mod metrics;
pub mod product;
mod proxy;
mod ray;
mod registry;
mod simulated;
mod suspend;
mod tally;
mod terminal;
mod weather;
