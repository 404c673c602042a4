//! PostgreSQL for tests: Debian's server, started as a non-root user on a free port, with one database per
//! test.
//!
//! All test processes of one user share a server, which lives as long as the test runs that use it. A
//! watchdog waits for the end of every nextest registered in `runs/`, and for the shared lock of tests
//! without nextest. The kernel releases a lock however its process ends. Then the watchdog stops the server
//! and removes its folder.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::ports::{self, Port};

/// The superuser for test connections; local connections need no password.
const USER: &str = "cubeloom";

/// An in-memory file system.
const MEMORY: &str = "/dev/shm";
/// Maximum size of the server's folder, in bytes.
const ROOM: u64 = 2 << 30;

/// Waits for the last user of folder `$1`, then stops the server with pid `$2` and removes the folder's
/// content.
const WATCHDOG: &str = r#"
lives() {
    case "$(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)" in
        '' | Z*) return 1 ;;
    esac
    [ "$(cat "/proc/$1/comm")" = postgres ]
}
exec 9>>"$1/users.lock"
while sleep 1; do
    for run in "$1"/runs/*; do
        [ -e "$run" ] || continue
        [ "$(cat "/proc/${run##*/}/comm" 2>/dev/null)" != cargo-nextest ] || continue 2
        rm -f "$run"
    done
    flock --nonblock --exclusive 9 || continue
    if lives "$2"; then kill -INT "$2"; fi
    while lives "$2"; do sleep 0.1; done
    rm -rf "$1/data" "$1/port"
    exit
done
"#;

/// An empty database, dropped on drop.
pub struct Database {
    name: String,
    server: &'static Server,
}

impl Database {
    /// Creates a database, and starts the server if none runs.
    ///
    /// # Panics
    /// If that fails; the message says what to do.
    #[must_use]
    pub fn create() -> Self {
        static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let server = match SERVER.get_or_init(Server::join) {
            Ok(server) => server,
            Err(reason) => panic!("{reason}"),
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let database = Self { name: format!("test_{}_{count}", std::process::id()), server };
        if let Err(reason) = database.tool("createdb", &[]) {
            panic!("no database could be made: {reason}");
        }
        database
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{}", self.server.port, self.name)
    }

    /// Runs SQL in it as the superuser.
    ///
    /// # Panics
    /// If the statement fails.
    pub fn execute(&self, sql: &str) {
        // The options precede the database's name.
        if let Err(reason) = self.tool("psql", &["--quiet", "--set=ON_ERROR_STOP=1", "--command", sql]) {
            panic!("{reason}: {sql}");
        }
    }

    /// Runs one of PostgreSQL's client programs on it.
    fn tool(&self, program: &str, options: &[&str]) -> Result<(), String> {
        let port = self.server.port.to_string();
        let mut command = Command::new(self.server.programs.join(program));
        command.args(["--host", "127.0.0.1", "--port", &port, "--username", USER]);
        run(command.args(options).arg(&self.name))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // If it fails, the database is removed with the server.
        let _ = self.tool("dropdb", &["--force", "--if-exists"]);
    }
}

/// A separate server for one test, which may be stopped and started; removed on drop.
pub struct Cluster {
    folder: PathBuf,
    port: u16,
    programs: PathBuf,
    _lock: File,
}

impl Cluster {
    /// Creates and starts one.
    ///
    /// # Panics
    /// If that fails; the message says what to do.
    #[must_use]
    pub fn create() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cubeloom-test-cluster-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        Self::make(folder).unwrap_or_else(|reason| panic!("{reason}"))
    }

    fn make(folder: PathBuf) -> Result<Self, String> {
        let programs = programs()?;
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let lock = open(&folder.join("users.lock"))?;
        lock.lock_shared().map_err(|error| format!("users.lock: {error}"))?;
        let port = start(&programs, &folder, Durability::Power)?;
        Ok(Self { folder, port, programs, _lock: lock })
    }

    /// The URL of its database.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/postgres", self.port)
    }

    /// Kills it immediately, like a crash.
    ///
    /// # Panics
    /// If it does not run.
    pub fn stop(&self) {
        if let Err(reason) = self.end() {
            panic!("{reason}");
        }
    }

    /// Restarts it, at the same address.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(&self) {
        let started = serve(&self.programs, &self.folder, account(), self.port, Durability::Power)
            .and_then(|pid| watch(&self.folder, pid, None))
            .and_then(|()| ready(&self.programs, &self.folder, self.port));
        if let Err(reason) = started {
            panic!("{reason}");
        }
    }

    fn end(&self) -> Result<(), String> {
        let mut stop = unprivileged(Command::new(self.programs.join("pg_ctl")), account());
        run(stop.args(["stop", "--mode=immediate", "--pgdata"]).arg(self.folder.join("data")))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It may be stopped already; otherwise its watchdog stops it.
        let _ = self.end();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The failures that a commit survives.
#[derive(Clone, Copy)]
enum Durability {
    /// The end of any process. No test cuts the power.
    Process,
    /// A power cut, as in production.
    Power,
}

impl Durability {
    fn fsync(self) -> &'static str {
        match self {
            Self::Process => "fsync=off",
            Self::Power => "fsync=on",
        }
    }
}

/// The server, and the lock that keeps it up as long as this process lives.
struct Server {
    port: u16,
    programs: PathBuf,
    _lock: File,
}

impl Server {
    /// Joins the running server, or starts one.
    fn join() -> Result<Self, String> {
        let programs = programs()?;
        let folder = folder()?;
        let lock = open(&folder.join("users.lock"))?;
        lock.lock_shared().map_err(|error| format!("users.lock: {error}"))?;
        register(&folder)?;
        let starting = open(&folder.join("start.lock"))?;
        starting.lock().map_err(|error| format!("start.lock: {error}"))?;
        let port = match running(&folder) {
            Some(port) => port,
            None => start(&programs, &folder, Durability::Process)?,
        };
        Ok(Self { port, programs, _lock: lock })
    }
}

/// Keeps the server until the end of this process's test run.
fn register(folder: &Path) -> Result<(), String> {
    let Some(run) = test_run() else { return Ok(()) };
    let runs = folder.join("runs");
    fs::create_dir_all(&runs).map_err(|error| format!("{}: {error}", runs.display()))?;
    open(&runs.join(run)).map(drop)
}

/// The pid of the nextest that started this process, directly or through a wrapper script.
fn test_run() -> Option<String> {
    let mut pid = std::process::id().to_string();
    for _ in 0..4 {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if field("Name:") == Some("cargo-nextest") {
            return Some(pid);
        }
        pid = field("PPid:")?.to_owned();
    }
    None
}

/// The folder with the programs of the newest version.
fn programs() -> Result<PathBuf, String> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin")))
        })
        .filter(|(_, programs)| programs.join("initdb").exists())
        .max();
    newest
        .map(|(_, programs)| programs)
        .ok_or_else(|| "PostgreSQL is not installed: run `apt-get install postgresql`".into())
}

/// Memory, if there is room for the databases of concurrent tests. On a disk, ext4 spends two thirds of the
/// server's time on inodes for new databases: it avoids those just freed by dropped ones.
fn parent() -> PathBuf {
    let memory = PathBuf::from(MEMORY);
    let free = rustix::fs::statvfs(&memory).map_or(0, |found| found.f_bavail * found.f_frsize);
    if free >= ROOM { memory } else { std::env::temp_dir() }
}

/// The folder shared by this user's test processes. It is not below the build folder, because another user
/// must reach it.
fn folder() -> Result<PathBuf, String> {
    let own = fs::metadata("/proc/self").map_err(|error| format!("/proc/self: {error}"))?.uid();
    let folder = parent().join(format!("cubeloom-test-postgres-{own}"));
    let shown = folder.display();
    fs::create_dir_all(&folder).map_err(|error| format!("{shown}: {error}"))?;
    match fs::symlink_metadata(&folder) {
        Ok(found) if found.is_dir() && found.uid() == own => Ok(folder),
        Ok(_) => Err(format!("{shown} belongs to somebody else: remove it")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

fn open(path: &Path) -> Result<File, String> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// The port of the server in the folder, if it responds.
fn running(folder: &Path) -> Option<u16> {
    let port = fs::read_to_string(folder.join("port")).ok()?.parse().ok()?;
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok().map(|_| port)
}

fn start(programs: &Path, folder: &Path, durability: Durability) -> Result<u16, String> {
    let data = folder.join("data");
    if data.exists() {
        fs::remove_dir_all(&data).map_err(|error| format!("{}: {error}", data.display()))?;
    }
    fs::create_dir(&data).map_err(|error| format!("{}: {error}", data.display()))?;
    let account = account();
    if let Some((user, group)) = account {
        chown(&data, Some(user), Some(group)).map_err(|error| format!("{}: {error}", data.display()))?;
    }
    let mut initdb = unprivileged(Command::new(programs.join("initdb")), account);
    initdb.args(["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", "--username", USER, "-D"]);
    run(initdb.arg(&data))?;
    let Port { number: port, lock } = ports::reserve()?;
    let pid = serve(programs, folder, account, port, durability)?;
    watch(folder, pid, Some(lock))?;
    ready(programs, folder, port)?;
    fs::write(folder.join("port"), port.to_string()).map_err(|error| format!("port: {error}"))?;
    Ok(port)
}

/// Starts the server in its own process group.
fn serve(
    programs: &Path,
    folder: &Path,
    account: Option<(u32, u32)>,
    port: u16,
    durability: Durability,
) -> Result<u32, String> {
    let log = File::create(folder.join("log")).map_err(|error| format!("log: {error}"))?;
    let same_log = log.try_clone().map_err(|error| format!("log: {error}"))?;
    let mut server = unprivileged(Command::new(programs.join("postgres")), account);
    let port = format!("port={port}");
    for setting in [
        "listen_addresses=127.0.0.1",
        &port,
        "unix_socket_directories=",
        "max_connections=400",
        "shared_buffers=64MB",
        durability.fsync(),
        "synchronous_commit=on",
    ] {
        server.args(["-c", setting]);
    }
    server.arg("-D").arg(folder.join("data")).stdout(log).stderr(same_log).process_group(0);
    server.spawn().map(|child| child.id()).map_err(|error| format!("postgres: {error}"))
}

/// The first watchdog inherits the port's lock: the port stays reserved as long as the server is in use.
fn watch(folder: &Path, server: u32, port: Option<File>) -> Result<(), String> {
    let mut watchdog = Command::new("sh");
    watchdog.args(["-c", WATCHDOG, "watchdog"]).arg(folder).arg(server.to_string()).current_dir("/");
    watchdog
        .stdin(port.map_or_else(Stdio::null, Stdio::from))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    watchdog.spawn().map(|_| ()).map_err(|error| format!("sh: {error}"))
}

/// Waits until the server accepts connections.
fn ready(programs: &Path, folder: &Path, port: u16) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut last = String::new();
    while Instant::now() < deadline {
        let mut command = Command::new(programs.join("pg_isready"));
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--username", USER]);
        match run(&mut command) {
            Ok(()) => return Ok(()),
            Err(reason) => last = reason,
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut log = String::new();
    let _ = File::open(folder.join("log")).and_then(|mut file| file.read_to_string(&mut log));
    Err(format!("PostgreSQL does not take connections: {last}\n{log}"))
}

/// The server's user when this process is root, which PostgreSQL refuses.
fn account() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").ok()?.uid() != 0 {
        return None;
    }
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    let find = |name: &str| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    find("postgres").or_else(|| find("nobody"))
}

fn unprivileged(mut command: Command, account: Option<(u32, u32)>) -> Command {
    if let Some((user, group)) = account {
        command.uid(user).gid(group);
    }
    command.current_dir("/").stdin(Stdio::null());
    command
}

/// Runs a command to its end; its output is the reason of a failure.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{name}: {}: {}", output.status, String::from_utf8_lossy(&said).trim()))
}
