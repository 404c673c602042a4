//! Control groups: where they are, and the group of one worker.
//!
//! Uses version 2 if its controllers are available; otherwise version 1, as on a hybrid machine.

mod cpuset;
mod detect;
mod entrance;
mod group;
pub(crate) mod network;
mod own;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) use cpuset::Cpusets;
pub use detect::{Hierarchy, detect};
pub(crate) use entrance::{Entrance, Forked};
pub(crate) use group::waited;
pub(crate) use own::Own;

/// The folder below each hierarchy's root that contains all our groups.
const PARENT: &str = "cubeloom";
/// Version 2's, for workers whose connections are not isolated. It is separate because a program attached to
/// a group also applies to all groups below it, including another server's.
const OPEN_PARENT: &str = "cubeloom-open";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "version", rename_all = "snake_case")]
pub enum Cgroup {
    /// One folder in each controller's hierarchy.
    V1 {
        /// Memory: limits, counters, and the list of processes.
        memory: PathBuf,
        /// CPU shares and quota.
        cpu: Option<PathBuf>,
        /// The number of processes.
        pids: Option<PathBuf>,
        /// Dedicated CPUs, if it has some.
        #[serde(default)]
        cpuset: Option<PathBuf>,
        /// Version 2's, without controllers: it shows the kernel the owner of a socket.
        #[serde(default)]
        sockets: Option<PathBuf>,
    },
    /// One folder.
    V2 {
        /// The folder of the group.
        path: PathBuf,
    },
}
