//! Control groups: where they are, and the group of one worker.
//!
//! Version 2 is used where its controllers can be had; else version 1's, as on a hybrid machine.

mod detect;
mod entrance;
mod group;
pub(crate) mod network;
mod own;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use detect::{Hierarchy, detect};
pub(crate) use entrance::{Entrance, Forked};
pub(crate) use group::waited;
pub(crate) use own::Own;

/// The folder below each hierarchy's root that all of our groups lie in.
const PARENT: &str = "cubeloom";
/// Version 2's, for workers whose connections are not kept apart: what is attached to a group holds for all below it, also those
/// of another server.
const OPEN_PARENT: &str = "cubeloom-open";

/// One worker's control group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "version", rename_all = "snake_case")]
pub enum Cgroup {
    /// One folder in each controller's own hierarchy.
    V1 {
        /// Memory: limits, counts, and the list of processes.
        memory: PathBuf,
        /// The CPU's share and quota.
        cpu: Option<PathBuf>,
        /// The number of processes.
        pids: Option<PathBuf>,
        /// Version 2's, without controllers: by it the kernel knows whose sockets are whose.
        #[serde(default)]
        sockets: Option<PathBuf>,
    },
    /// One folder.
    V2 {
        /// The folder.
        path: PathBuf,
    },
}
