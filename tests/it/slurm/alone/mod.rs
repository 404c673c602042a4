//! What needs the tests' cluster for itself: parts of it are stopped, nodes are lost, requests are counted.

mod bound;
mod closed;
mod load;
mod rest;
mod weather;
