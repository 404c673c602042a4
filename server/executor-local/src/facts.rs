//! The machine's resources for jobs.

use std::collections::BTreeMap;
use std::path::Path;

use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::executor::{Facts, NodeFacts};
use cubeloom_domain::{Bytes, Cpu};
use cubeloom_files::own;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::LocalConfig;
use crate::gpu::Gpus;

/// The name of the cluster, and of its kind.
const LOCAL: &str = "local";

/// Cores, memory and GPUs for jobs; `cpusets`: whether CPUs can be dedicated.
pub(crate) fn facts(config: &LocalConfig, gpus: &Gpus, cpusets: bool) -> Facts {
    let amount = config.capacity.as_ref();
    let node = NodeFacts {
        name: LOCAL.into(),
        cpu: amount.map_or_else(all_cores, |amount| amount.cpu),
        memory: amount.map_or_else(most_memory, |amount| amount.memory),
        gpus: match amount {
            Some(amount) => gpus.facts.iter().take(amount.gpus as usize).cloned().collect(),
            None => gpus.facts.clone(),
        },
        ..NodeFacts::default()
    };
    Facts {
        cluster: LOCAL.into(),
        kind: LOCAL.into(),
        nodes: vec![node],
        node_groups: Vec::new(),
        secrets: config.secrets.keys().cloned().collect(),
        registries: Vec::new(),
        volumes: config.volumes.iter().map(|(name, path)| (name.clone(), folder(path))).collect(),
        models: None,
        pipelines: None,
        people: None,
        limits: None,
        max_priority: BTreeMap::new(),
        priority_classes: None,
        installed_apt: Some(installed_apt()),
        dedicates_cpus: cpusets,
        kubernetes: None,
        slurm: None,
    }
}

fn folder(path: &Path) -> VolumePlace {
    VolumePlace::Folder { path: path.to_string_lossy().into_owned() }
}

/// All cores that this process may use.
pub(crate) fn all_cores() -> Cpu {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Cpu(cores as u64 * 1000)
}

/// 90 % of the machine's memory: the rest is for the system and the server.
pub(crate) fn most_memory() -> Bytes {
    Bytes(meminfo("MemTotal:").unwrap_or(0) / 10 * 9)
}

/// A line of /proc/meminfo, in bytes.
pub(crate) fn meminfo(key: &str) -> Option<u64> {
    let text = own::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Installed Debian packages; empty on another system.
pub(crate) fn installed_apt() -> Vec<String> {
    installed(&own::read_to_string("/var/lib/dpkg/status").unwrap_or_default())
}

/// The packages of dpkg's database whose files are there. Besides `installed`, also a held package, and one that waits
/// while another `apt-get` runs: dpkg(1), "Package states" and "Package selection states".
fn installed(database: &str) -> Vec<String> {
    const PRESENT: [&str; 5] =
        ["installed", "unpacked", "half-configured", "triggers-awaited", "triggers-pending"];
    let present = |entry: &&str| {
        let status = entry.lines().find_map(|line| line.strip_prefix("Status: "));
        status.and_then(|status| status.split(' ').next_back()).is_some_and(|state| PRESENT.contains(&state))
    };
    let name = |entry: &str| Some(entry.trim_start().strip_prefix("Package: ")?.lines().next()?.to_owned());
    database.split("\n\n").filter(present).filter_map(name).collect()
}

/// Raises this process's limit of open files to the maximum: a worker takes one or two.
pub(crate) fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_there_while_it_is_held_or_waits_for_triggers() {
        let entry =
            |name: &str, status: &str| format!("Package: {name}\nStatus: {status}\nPriority: optional\n\n");
        let database = entry("java", "install ok installed")
            + &entry("libc-bin", "install ok triggers-pending")
            + &entry("held", "hold ok installed")
            + &entry("removed", "deinstall ok config-files")
            + &entry("broken", "install ok half-installed");
        assert_eq!(installed(&database), ["java", "libc-bin", "held"]);
    }
}
