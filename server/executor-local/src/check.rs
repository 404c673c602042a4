//! The capabilities of this machine, line by line, for `cubeloom check`.

use std::path::Path;

use cubeloom_domain::Bytes;
use cubeloom_files::own;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;

use crate::cgroup::{Cpusets, Hierarchy, detect};
use crate::config::{LocalConfig, Sandbox};
use crate::facts::{all_cores, installed_apt, most_memory, raise_open_files};
use crate::folders::closed_parent;
use crate::gpu::Gpus;
use crate::python::{UV_VERSION, find_uv, probe};
use crate::sandbox::Walls;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// In display order.
    pub lines: Vec<CheckLine>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckLine {
    pub name: String,
    pub ok: bool,
    /// What was found.
    pub detail: String,
    /// How to fix it, or what would be better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Warn about less free disk space than this, in bytes.
const LITTLE_DISK: u64 = 2 << 30;
/// Warn about fewer open files than this: a gang of 1,000 workers takes about as many.
const FEW_FILES: u64 = 4096;

/// Runs all checks. Blocking; changes nothing but the parent folder of the control groups.
#[must_use]
pub fn check(config: &LocalConfig) -> CheckReport {
    raise_open_files();
    let user = rustix::process::geteuid().is_root().then_some(config.uid_base);
    let mut lines =
        vec![capacity(config), cgroups(config), users(user), sandbox(config), folders(config, user)];
    lines.extend([python(config, user), uv(config), gpus(), disk(&config.data), disk_limits(config)]);
    lines.extend([files(), processes()]);
    lines.extend(packages(&config.apt));
    CheckReport { lines }
}

fn line(name: &str, ok: bool, detail: impl Into<String>, hint: Option<String>) -> CheckLine {
    CheckLine { name: name.into(), ok, detail: detail.into(), hint }
}

fn capacity(config: &LocalConfig) -> CheckLine {
    let (cpu, memory) = match &config.capacity {
        Some(amount) => (amount.cpu, amount.memory),
        None => (all_cores(), most_memory()),
    };
    line("for jobs", true, format!("{cpu} cores, {} of memory", size(memory.0)), None)
}

fn cgroups(config: &LocalConfig) -> CheckLine {
    let name = "control groups";
    let hierarchy = detect(config.sandbox.network);
    let cpuset =
        if Cpusets::of(&hierarchy).is_some() { ", cpuset" } else { "; no cpuset: no dedicated CPUs" };
    match hierarchy {
        Hierarchy::V2(_) => line(name, true, format!("version 2: memory, cpu, pids{cpuset}"), None),
        Hierarchy::V1 { cpu, pids, .. } => {
            let others = [("cpu", cpu), ("pids", pids)];
            let has: Vec<&str> =
                others.iter().filter(|(_, path)| path.is_some()).map(|(name, _)| *name).collect();
            line(name, true, format!("version 1: memory, {}{cpuset}", has.join(", ")), None)
        }
        Hierarchy::None(why) => line(
            name,
            false,
            format!("{why}; memory is limited by resource limits and by sampling, CPU is not"),
            Some("run the server as root, or in a systemd unit with Delegate=yes".into()),
        ),
    }
}

fn users(user: Option<u32>) -> CheckLine {
    match user {
        Some(base) => line("workers' user", true, format!("uid {base} and higher, one per project"), None),
        None => {
            let own = rustix::process::geteuid().as_raw();
            let detail =
                format!("uid {own}, the same as the server: workers can read everything that the server can");
            line(
                "workers' user",
                false,
                detail,
                Some("run the server as root, so that each project has a uid".into()),
            )
        }
    }
}

fn sandbox(config: &LocalConfig) -> CheckLine {
    let name = "sandbox";
    let (walls, lacking) = Walls::of(config.sandbox, &detect(config.sandbox.network));
    let detail = match walls {
        Walls::Parts(Sandbox { files, processes, tmp, network }) => {
            let parts = [
                (files, "the server's folder"),
                (processes, "other projects' processes"),
                (tmp, "the machine's /tmp and /dev/shm"),
                (network, "other projects' ports"),
            ];
            let hidden: Vec<&str> = parts.iter().filter(|(holds, _)| *holds).map(|(_, what)| *what).collect();
            format!("workers cannot see {}", hidden.join(", "))
        }
        Walls::Landlock => {
            "Landlock: workers cannot open files of other projects in the server's folder".into()
        }
        Walls::None => "workers see everything that their uid can access".into(),
    };
    match lacking {
        None => line(name, true, detail, None),
        Some(why) => {
            let hint = "run the server as root on Linux 5.8 or newer, in a container with CAP_SYS_ADMIN, CAP_BPF and CAP_NET_ADMIN";
            line(name, false, format!("{why}; {detail}"), Some(hint.into()))
        }
    }
}

fn folders(config: &LocalConfig, user: Option<u32>) -> CheckLine {
    let name = "data folder";
    let there = config.data.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    match user.and_then(|user| closed_parent(there, user)) {
        None => line(name, true, format!("workers can access {}", config.data.display()), None),
        Some(closed) => {
            let detail = format!("workers cannot enter {}", closed.display());
            let hint = format!("run `chmod o+x {}`, or choose another folder with --data", closed.display());
            line(name, false, detail, Some(hint))
        }
    }
}

fn python(config: &LocalConfig, user: Option<u32>) -> CheckLine {
    match probe("python3", &config.path, user) {
        Ok(found) => line("python", true, format!("{}, {}", found.path.display(), found.version), None),
        Err(why) => line("python", false, why, Some("apt-get install python3 python3-venv".into())),
    }
}

fn uv(config: &LocalConfig) -> CheckLine {
    match find_uv(&config.data) {
        Some(path) => line("uv", true, path.display().to_string(), None),
        None => {
            let detail =
                format!("not installed; uv {UV_VERSION} is downloaded when a template first needs packages");
            line("uv", true, detail, None)
        }
    }
}

fn gpus() -> CheckLine {
    match Gpus::find() {
        Ok(found) if found.facts.is_empty() => line("GPUs", true, "none", None),
        Ok(found) => {
            let names: Vec<String> =
                found.facts.iter().map(|gpu| format!("{} ({})", gpu.name, size(gpu.memory.0))).collect();
            line("GPUs", true, names.join(", "), None)
        }
        Err(why) => line("GPUs", true, format!("none: {why}"), None),
    }
}

fn disk(data: &Path) -> CheckLine {
    let there = data.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    match rustix::fs::statvfs(there) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let hint =
                (free < LITTLE_DISK).then(|| "free some space, or choose another folder with --data".into());
            line("disk", free >= LITTLE_DISK, format!("{} free in {}", size(free), there.display()), hint)
        }
        Err(error) => line("disk", false, format!("{}: {error}", there.display()), None),
    }
}

fn disk_limits(config: &LocalConfig) -> CheckLine {
    let run = match config.run_disk {
        Some(0) => "no limit per attempt".into(),
        Some(bytes) => format!("{} per attempt", size(bytes)),
        None => "half of the disk per attempt".into(),
    };
    let workspace = match config.workspace {
        0 => "no limit per workspace".into(),
        bytes => format!("{} per workspace", size(bytes)),
    };
    line("disk limits", true, format!("{run}, {workspace}"), None)
}

fn files() -> CheckLine {
    let most = getrlimit(Resource::Nofile).current;
    let ok = most.is_none_or(|most| most >= FEW_FILES);
    let detail = most.map_or("no limit".into(), |most| format!("at most {most}"));
    let hint = (!ok).then(|| format!("raise it with `ulimit -Hn {}`", FEW_FILES * 4));
    line("open files", ok, detail, hint)
}

fn processes() -> CheckLine {
    let kernel: Option<u64> =
        own::read_to_string("/proc/sys/kernel/pid_max").ok().and_then(|text| text.trim().parse().ok());
    let most = [getrlimit(Resource::Nproc).current, kernel].into_iter().flatten().min();
    let ok = most.is_none_or(|most| most >= FEW_FILES);
    let detail = most.map_or("no limit".into(), |most| format!("at most {most}"));
    let hint = (!ok).then(|| format!("raise it with `ulimit -u {}`", FEW_FILES * 4));
    line("processes", ok, detail, hint)
}

fn packages(wanted: &[String]) -> Option<CheckLine> {
    if wanted.is_empty() {
        return None;
    }
    let installed = installed_apt();
    let missing: Vec<&str> =
        wanted.iter().filter(|name| !installed.contains(name)).map(String::as_str).collect();
    Some(match missing.is_empty() {
        true => line("Debian packages", true, wanted.join(", "), None),
        false => line(
            "Debian packages",
            false,
            format!("templates need {}", missing.join(", ")),
            Some(format!("apt-get install {}", missing.join(" "))),
        ),
    })
}

/// A human-readable amount of memory or disk.
#[allow(clippy::cast_precision_loss, reason = "shown with one digit behind the point")]
fn size(bytes: u64) -> String {
    let gib = Bytes(bytes).0 as f64 / f64::from(1u32 << 30);
    format!("{gib:.1} GiB")
}
