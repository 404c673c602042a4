//! Jobs on a real cluster: `make test-cluster` brings one up and says where it is. Without one there is nothing to run, so
//! these tests are ignored. Those of `simulated` and `bare` need no real node, all others do.

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
