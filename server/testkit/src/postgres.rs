//! PostgreSQL for tests: Debian's server, started as a non-root user on a free port, a database for each test.
//!
//! All test processes of one user share a server. It lives as long as the test runs that use it: a watchdog waits for
//! the end of every nextest that is registered in `runs/`, and for the shared lock of tests that run without nextest.
//! The kernel releases a lock however its process ends. Then the watchdog stops the server and removes its folder.

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

/// The superuser that tests connect as; connections from this machine need no password.
const USER: &str = "cubeloom";

/// A file system in memory.
const MEMORY: &str = "/dev/shm";
/// What the server's folder may grow to, in bytes.
const ROOM: u64 = 2 << 30;

/// Waits for the last user of folder `$1`, then ends the server of process `$2` and removes the folder's content.
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

/// An empty database; it goes when this does.
pub struct Database {
    name: String,
    server: &'static Server,
}

impl Database {
    /// Makes a database, and starts the server if none runs.
    ///
    /// # Panics
    /// When that is impossible; the sentence says what to do.
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

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{}", self.server.port, self.name)
    }

    /// Runs SQL in it, as the superuser.
    ///
    /// # Panics
    /// When that is refused.
    pub fn execute(&self, sql: &str) {
        // The options go before the database's name.
        if let Err(reason) = self.tool("psql", &["--quiet", "--set=ON_ERROR_STOP=1", "--command", sql]) {
            panic!("{reason}: {sql}");
        }
    }

    /// Runs one of PostgreSQL's own client programs on it.
    fn tool(&self, program: &str, options: &[&str]) -> Result<(), String> {
        let port = self.server.port.to_string();
        let mut command = Command::new(self.server.programs.join(program));
        command.args(["--host", "127.0.0.1", "--port", &port, "--username", USER]);
        run(command.args(options).arg(&self.name))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Should it fail, the database goes with the server.
        let _ = self.tool("dropdb", &["--force", "--if-exists"]);
    }
}

/// A server of a test's own, which may be stopped and started; it goes when this does.
pub struct Cluster {
    folder: PathBuf,
    port: u16,
    programs: PathBuf,
    _lock: File,
}

impl Cluster {
    /// Makes and starts one.
    ///
    /// # Panics
    /// When that is impossible; the sentence says what to do.
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

    /// The address of its database.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/postgres", self.port)
    }

    /// Ends it at once, as a crash would.
    ///
    /// # Panics
    /// When it does not run.
    pub fn stop(&self) {
        if let Err(reason) = self.end() {
            panic!("{reason}");
        }
    }

    /// Starts it again, at the same address.
    ///
    /// # Panics
    /// When it does not start.
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
        // It may be stopped; should it go on, its watchdog ends it.
        let _ = self.end();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What a commit survives.
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

/// The server, and the lock that keeps it up for as long as this process lives.
struct Server {
    port: u16,
    programs: PathBuf,
    _lock: File,
}

impl Server {
    /// Joins the server that runs, or starts one.
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

/// Keeps the server until the test run that this process belongs to has ended.
fn register(folder: &Path) -> Result<(), String> {
    let Some(run) = test_run() else { return Ok(()) };
    let runs = folder.join("runs");
    fs::create_dir_all(&runs).map_err(|error| format!("{}: {error}", runs.display()))?;
    open(&runs.join(run)).map(drop)
}

/// The process id of the nextest that started this process, directly or through a wrapper script.
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

/// The folder with the newest version's programs.
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

/// Memory, where there is room for the databases of tests that run at once: on a disk, ext4 spends two thirds of the server's
/// time on finding numbers for the files of new databases that those of dropped ones have not just had.
fn parent() -> PathBuf {
    let memory = PathBuf::from(MEMORY);
    let free = rustix::fs::statvfs(&memory).map_or(0, |found| found.f_bavail * found.f_frsize);
    if free >= ROOM { memory } else { std::env::temp_dir() }
}

/// The folder that test processes of this user share. Not below the build folder: another user must reach it.
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

/// The port of the server that the folder tells of, if it answers.
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

/// Starts the server in a process group of its own.
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

/// The first watchdog inherits the port's lock: the port stays reserved for as long as somebody uses the server.
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

/// Waits until the server takes connections.
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

/// Whom the server runs as when this is root, which PostgreSQL refuses.
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

/// Runs a command to its end; what it wrote is the reason when it fails.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{name}: {}: {}", output.status, String::from_utf8_lossy(&said).trim()))
}
