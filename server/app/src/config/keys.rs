//! Every key of `cubeloom.toml`: its name, its type, and its description.

/// How the text of an environment variable is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unchanged.
    Text,
    Number,
    /// A number from 0 to 1.
    Share,
    /// `true` or `false`.
    Flag,
}

#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub section: &'static str,
    /// The name in its section.
    pub name: &'static str,
    /// How the text of an environment variable is parsed.
    pub kind: Kind,
    /// Description of the default, for a key without a fixed value.
    pub unset: &'static str,
    pub help: &'static str,
}

const fn key(
    section: &'static str,
    name: &'static str,
    kind: Kind,
    unset: &'static str,
    help: &'static str,
) -> Key {
    Key { section, name, kind, unset, help }
}

/// All keys, except the names of secrets, volumes and Slurm clusters.
pub const KEYS: &[Key] = &[
    key("server", "data", Kind::Text, "see cli.md", "Data folder"),
    key("server", "templates", Kind::Text, "next to the program", "Folder of the task templates"),
    key("server", "listen", Kind::Text, "", "Address and port of the web server; port 0 picks a free one"),
    key("server", "url", Kind::Text, "http://<listen>", "URL that users enter, such as that of a proxy"),
    key("server", "keys", Kind::Text, "<data>/keys", "Folder of the server's keys"),
    key(
        "server",
        "key",
        Kind::Text,
        "file:<keys>/sealing",
        "Key that encrypts secrets, as `env:NAME` or `file:/path`: 32 bytes in base64; old keys after it",
    ),
    key(
        "server",
        "rate",
        Kind::Number,
        "",
        "Maximum requests per second per token, user or address; 0 is no limit",
    ),
    key(
        "server",
        "proxies",
        Kind::Number,
        "",
        "Number of proxies in front of the server whose X-Forwarded-For is trusted",
    ),
    key(
        "server",
        "connections",
        Kind::Number,
        "",
        "Maximum concurrent connections; without a proxy, one address may use a quarter of them",
    ),
    key("server", "streams", Kind::Number, "", "Maximum open event streams per user; 0 is no limit"),
    key(
        "server",
        "private_endpoints",
        Kind::Flag,
        "",
        "Allow projects' object stores at loopback, link-local and metadata addresses",
    ),
    key("server", "upload", Kind::Text, "", "Maximum size of a file that users upload to a volume"),
    key("oidc", "issuer", Kind::Text, "no single sign-on", "Issuer URL of the OpenID Connect provider"),
    key("oidc", "client_id", Kind::Text, "none", "Client id of this server at the provider"),
    key(
        "oidc",
        "client_secret",
        Kind::Text,
        "none",
        "Client secret of this server: env:NAME, file:/path or the secret itself",
    ),
    key("oidc", "name", Kind::Text, "the issuer", "Name of the provider on the sign-in button"),
    key(
        "oidc",
        "allowed_domains",
        Kind::Text,
        "all",
        "Allow only users with a verified address in these domains, separated by commas",
    ),
    key("oidc", "auto_create", Kind::Flag, "", "Create an account at a user's first sign-in"),
    key("oidc", "admin_group", Kind::Text, "none", "The provider's group of administrators"),
    key("oidc", "groups_claim", Kind::Text, "", "Claim of the ID token with a user's groups"),
    key("oidc", "scopes", Kind::Text, "", "Scopes to request in addition to `openid`, separated by spaces"),
    key(
        "database",
        "url",
        Kind::Text,
        "sqlite:<data>/db/cubeloom.sqlite",
        "sqlite:/path or postgres://user:password@host/database",
    ),
    key(
        "database",
        "reserve",
        Kind::Text,
        "",
        "Disk space reserved next to a SQLite database, for a full disk; 0 turns it off",
    ),
    key("local", "cpu", Kind::Text, "all cores", "Total CPU for jobs"),
    key("local", "memory", Kind::Text, "90 % of the memory", "Total memory for jobs"),
    key(
        "local",
        "uid_base",
        Kind::Number,
        "",
        "If the server runs as root, the uid of the first project's workers",
    ),
    key("local", "grace", Kind::Text, "", "Time between TERM and KILL"),
    key("local", "path", Kind::Text, "", "PATH of the workers"),
    key("local", "pids", Kind::Number, "", "Maximum number of processes and threads per worker"),
    key("local", "nofile", Kind::Number, "", "Maximum number of open files per worker"),
    key(
        "local",
        "free",
        Kind::Text,
        "5 % of the disk, 2Gi at most",
        "Minimum free space on the data folder's disk; below it, no task starts on this machine",
    ),
    key(
        "local",
        "log",
        Kind::Text,
        "",
        "Maximum size of a worker's standard output, and of its standard error; 0 is no limit",
    ),
    key(
        "local",
        "run_disk",
        Kind::Text,
        "half of the disk",
        "Maximum size of an attempt's folder; a larger attempt is stopped; 0 is no limit",
    ),
    key(
        "local",
        "workspace",
        Kind::Text,
        "",
        "Maximum size of each project's workspace; above it, no task of the project starts; 0 is no limit",
    ),
    key(
        "local",
        "python_sources",
        Kind::Flag,
        "",
        "Build Python packages that have no wheel, which executes their code",
    ),
    key(
        "local",
        "adoption",
        Kind::Flag,
        "",
        "Adopt workers of an earlier server process; only tests turn it off",
    ),
    key("sandbox", "files", Kind::Flag, "", "Hide the server's folder from a worker, except its own files"),
    key("sandbox", "processes", Kind::Flag, "", "Show a worker only processes of its project"),
    key("sandbox", "tmp", Kind::Flag, "", "Give each attempt its own /tmp and /dev/shm"),
    key("sandbox", "network", Kind::Flag, "", "Block connections to other projects' workers on this machine"),
    key("terminals", "most", Kind::Number, "", "Maximum number of terminals on this server; 0 for none"),
    key("terminals", "each", Kind::Number, "", "Maximum number of terminals per user"),
    key("terminals", "limit", Kind::Text, "", "Maximum duration of a terminal"),
    key("terminals", "idle", Kind::Text, "", "Maximum time without input or output"),
    key("terminals", "away", Kind::Text, "", "How long a terminal stays open after its connection is lost"),
    key(
        "accounting",
        "currency",
        Kind::Text,
        "none",
        "Displayed currency of prices, e.g. EUR, CNY or credits",
    ),
    key(
        "audit",
        "syslog",
        Kind::Text,
        "none",
        "Syslog receiver of the audit log: udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH",
    ),
    key(
        "audit",
        "webhook",
        Kind::Text,
        "none",
        "URL that receives audit entries as JSON lines: env:NAME, file:/path or the URL itself",
    ),
    key(
        "audit",
        "authorization",
        Kind::Text,
        "none",
        "The webhook's Authorization header: env:NAME, file:/path or the value itself",
    ),
    key(
        "alerts",
        "private_addresses",
        Kind::Flag,
        "",
        "Allow receivers of alerts at addresses of this machine and of private networks",
    ),
    key("smtp", "host", Kind::Text, "no e-mail is sent", "Host name of the mail server"),
    key("smtp", "port", Kind::Number, "", "Port of the mail server"),
    key("smtp", "tls", Kind::Text, "", "`starttls`, `always` (implicit TLS) or `never`"),
    key("smtp", "user", Kind::Text, "none", "User name at the mail server"),
    key(
        "smtp",
        "password",
        Kind::Text,
        "none",
        "Password of this user: env:NAME, file:/path or the password itself",
    ),
    key("smtp", "from", Kind::Text, "", "Sender of the mails: an address, or `Name <address>`"),
    key(
        "telemetry",
        "metrics_listen",
        Kind::Text,
        "at the web address, for administrators only",
        "Address and port that serve the server's metrics without authentication",
    ),
    key(
        "telemetry",
        "otlp_endpoint",
        Kind::Text,
        "no traces are sent",
        "Base URL of an OpenTelemetry collector for traces (OTLP over HTTP), e.g. http://localhost:4318",
    ),
    key(
        "engine",
        "lease",
        Kind::Text,
        "",
        "Lease time of a run; without a renewal, another server takes over the run",
    ),
    key("engine", "period", Kind::Text, "", "Polling interval of the database, in case a wake-up is lost"),
    key("sharing", "aging", Kind::Text, "", "Pending time that raises a job's effective priority by one"),
    key("sharing", "half_life", Kind::Text, "", "Half-life of past usage in a project's share"),
    key("sharing", "cool_down", Kind::Text, "", "Time during which a preempted job does not borrow again"),
    key("sizing", "default", Kind::Text, "", "Right-sizing mode of new projects: off, advise or auto"),
    key(
        "nodes",
        "failures",
        Kind::Number,
        "",
        "Number of failed attempts caused by a node after which it is cordoned; 0: never",
    ),
    key("nodes", "within", Kind::Text, "", "Period in which failed attempts count"),
    key("nodes", "offer_after", Kind::Text, "", "Time after which uncordoning is offered"),
    key("advice", "idle_for", Kind::Text, "", "Minimum idle time of an allocated GPU"),
    key("advice", "idle_below", Kind::Share, "", "Mean use below which a GPU is idle"),
    key("advice", "idle_peak", Kind::Share, "", "Use above which a GPU is not idle, even for a moment"),
    key("advice", "warm_up", Kind::Text, "", "How long low use is ignored after the start"),
    key(
        "advice",
        "saturated_for",
        Kind::Text,
        "",
        "Period in which use is compared with CPU and storage, and workers of a role with each other",
    ),
    key("advice", "low_below", Kind::Share, "", "Mean use below which a GPU may be input-bound"),
    key("advice", "saturated_above", Kind::Share, "", "Share of its CPUs from which a task is CPU-bound"),
    key(
        "advice",
        "waiting_above",
        Kind::Share,
        "",
        "Share of time spent waiting for storage from which a task is storage-bound",
    ),
    key("advice", "dips_for", Kind::Text, "", "Period that is searched for stalls"),
    key("advice", "dips_level", Kind::Share, "", "Minimum use between stalls"),
    key(
        "advice",
        "dip_below",
        Kind::Share,
        "",
        "Share of the use between stalls below which a drop is a stall",
    ),
    key("advice", "dips_least", Kind::Share, "", "Minimum share of time spent in stalls"),
    key(
        "advice",
        "dips_most",
        Kind::Share,
        "",
        "Maximum share of time spent in stalls; above it, the GPU works in bursts",
    ),
    key("advice", "dips_count", Kind::Number, "", "Minimum number of stalls"),
    key(
        "advice",
        "dips_regular",
        Kind::Share,
        "",
        "Maximum deviation of the intervals between stalls, as a share of their mean",
    ),
    key("advice", "empty_for", Kind::Text, "", "Period in which GPU memory is checked"),
    key(
        "advice",
        "empty_below",
        Kind::Share,
        "",
        "Maximum share of memory in use at which GPU memory is nearly empty",
    ),
    key(
        "advice",
        "room_below",
        Kind::Share,
        "",
        "Mean use from which a GPU cannot be shared, even if its memory is nearly empty",
    ),
    key(
        "advice",
        "share_up_to",
        Kind::Share,
        "",
        "Maximum share of GPU use, GPU memory and CPUs for processes that share a GPU",
    ),
    key("advice", "peers", Kind::Number, "", "Minimum number of workers of a role for a comparison"),
    key(
        "advice",
        "far_use",
        Kind::Share,
        "",
        "Difference in use from its peers that makes a worker an outlier",
    ),
    key("advice", "alike_use", Kind::Share, "", "Maximum difference in use among the peers"),
    key(
        "advice",
        "far_share",
        Kind::Share,
        "",
        "Relative difference in power or CPU that makes a worker an outlier",
    ),
    key("advice", "far_cores", Kind::Text, "", "Minimum difference in CPUs that makes a worker an outlier"),
    key(
        "advice",
        "alike_share",
        Kind::Share,
        "",
        "Maximum relative difference in power or CPU among the peers",
    ),
    key("advice", "known", Kind::Share, "", "Minimum share of values that must be present"),
];

/// Sections whose keys are names that users choose.
pub const FREE: &[&str] = &["secrets", "volumes", "slurm"];

pub fn find(section: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.section == section && key.name == name)
}

/// The description of a setting.
pub fn help(section: &str, name: &str) -> &'static str {
    match section {
        "secrets" => "Secret for tasks to use",
        "volumes" => "Volume for tasks to use",
        "slurm" => "How to call the commands of the Slurm cluster with this name, and as which account",
        _ => find(section, name).map_or("", |key| key.help),
    }
}

/// `; did you mean ...?` for a section or a key.
pub fn hint<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known
        .map(|name| (strsim::damerau_levenshtein(text, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 3)
        .min();
    nearest.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default()
}
