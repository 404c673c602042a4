//! Facts about the machine that the program runs on.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use cubeloom_domain::{Bytes, Cpu};

pub fn program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot find the program's own file")
}

/// The program at a path where workers can start it: the file itself, or a copy in the data folder if other
/// users cannot reach it.
pub fn program_for_workers(tools: &Path) -> anyhow::Result<PathBuf> {
    let program = program()?;
    if !rustix::process::geteuid().is_root() || open_to_all(&program) {
        return Ok(program);
    }
    let found = fs::metadata(&program).with_context(|| format!("{} cannot be read", program.display()))?;
    // One copy per build: a server's shims continue to use theirs after an upgrade.
    let copy = tools.join(format!("cubeloom-{:x}-{:x}", found.len(), found.mtime()));
    if !copy.exists() {
        let aside = copy.with_extension(std::process::id().to_string());
        fs::copy(&program, &aside)
            .and_then(|_| fs::set_permissions(&aside, fs::Permissions::from_mode(0o755)))
            .and_then(|()| fs::rename(&aside, &copy))
            .with_context(|| format!("{} cannot be created", copy.display()))?;
    }
    Ok(copy)
}

/// The program of the workers' shims: `cubeloom-shim` next to this one, or this one itself if that is missing
/// or of another version. Root starts shims: unlike workers, they need no copy.
pub fn shim() -> anyhow::Result<PathBuf> {
    let program = program()?;
    let small = program.with_file_name("cubeloom-shim");
    let version = Command::new(&small).arg("--version").env_clear().stdin(Stdio::null()).output();
    let found = version.map(|output| String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    if found.as_ref().is_ok_and(|version| version == env!("CARGO_PKG_VERSION")) {
        return Ok(small);
    }
    let found = found.unwrap_or_else(|error| error.to_string());
    tracing::warn!(
        program = %small.display(), %found,
        "cubeloom-shim is missing or of another version: cubeloom is the shim, and tasks start more slowly"
    );
    Ok(program)
}

/// Whether all users can read a file and enter its parent folders.
fn open_to_all(path: &Path) -> bool {
    let allows = |path: &Path, bits: u32| fs::metadata(path).is_ok_and(|found| found.mode() & bits == bits);
    allows(path, 0o005) && path.ancestors().skip(1).all(|folder| allows(folder, 0o001))
}

/// 128 random bits.
pub fn entropy() -> anyhow::Result<u128> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .context("/dev/urandom cannot be read")?;
    Ok(u128::from_le_bytes(bytes))
}

/// The name of the user, or the uid without a name.
pub fn user() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid-{uid}"))
}

/// The lease owner: this data folder on this machine, the same after a restart.
pub fn owner(data: &Path) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host}:{}", data.display())
}

/// The CPUs that this process may use.
pub fn all_cores() -> Cpu {
    Cpu(std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64 * 1000)
}

/// 90 % of the memory: the rest is for the system.
pub fn most_memory() -> Bytes {
    let system = rustix::system::sysinfo();
    Bytes((system.totalram as u64).saturating_mul(u64::from(system.mem_unit)) / 10 * 9)
}
