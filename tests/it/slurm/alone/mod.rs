//! Tests that need the test cluster to themselves: they stop daemons, fail nodes and count requests.

mod bound;
mod closed;
mod load;
mod rest;
mod weather;
