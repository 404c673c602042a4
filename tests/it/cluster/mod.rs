//! Jobs on a real cluster with a real node: `make test-cluster` brings one up and says where it is. Without one there is
//! nothing to run, so these tests are ignored.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

mod bench;
mod cards;
mod causes;
mod conformance;
mod elastic;
mod frameworks;
mod harness;
mod kubectl;
mod product;
mod proxy;
mod simulated;
mod suspend;
mod tally;
mod weather;
