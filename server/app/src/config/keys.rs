//! Every key of `cubeloom.toml`: its name, its kind, and what it means.

/// How a variable's text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As it is.
    Text,
    /// A whole number.
    Number,
    /// A number from 0 to 1.
    Share,
    /// `true` or `false`.
    Flag,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The section.
    pub section: &'static str,
    /// The name in it.
    pub name: &'static str,
    /// How a variable's text is read.
    pub kind: Kind,
    /// What is in force when nobody sets it and there is no fixed value.
    pub unset: &'static str,
    /// What it means.
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

/// All of them but the names of secrets, volumes and Slurm clusters, which are free.
pub const KEYS: &[Key] = &[
    key("server", "data", Kind::Text, "see cli.md", "the data folder"),
    key("server", "templates", Kind::Text, "found beside the program", "the folder of the task templates"),
    key("server", "listen", Kind::Text, "", "the address and port of the web; port 0 takes a free one"),
    key(
        "server",
        "url",
        Kind::Text,
        "http://<listen>",
        "the address that people use, when a proxy stands before it",
    ),
    key("server", "keys", Kind::Text, "<data>/keys", "the folder of the server's keys"),
    key(
        "server",
        "key",
        Kind::Text,
        "file:<keys>/sealing",
        "where the key that encrypts secrets is, `env:NAME` or `file:/path`: 32 bytes in base64; older keys after it",
    ),
    key("server", "rate", Kind::Number, "", "requests a second that each caller may send; 0 for no limit"),
    key("server", "proxies", Kind::Number, "", "proxies before the server whose X-Forwarded-For is believed"),
    key(
        "server",
        "connections",
        Kind::Number,
        "",
        "connections at once; a quarter of them from one address where no proxy stands before the server",
    ),
    key(
        "server",
        "streams",
        Kind::Number,
        "",
        "streams of events that one person may have open; 0 for no limit",
    ),
    key(
        "server",
        "private_endpoints",
        Kind::Flag,
        "",
        "whether projects' object stores may be at addresses of this machine and at link-local ones",
    ),
    key("server", "upload", Kind::Text, "", "the largest file that people may put into a volume"),
    key(
        "oidc",
        "issuer",
        Kind::Text,
        "nobody signs in elsewhere",
        "the issuer URL of an OpenID Connect provider",
    ),
    key("oidc", "client_id", Kind::Text, "none", "the name of this server at the provider"),
    key("oidc", "client_secret", Kind::Text, "none", "its password there: env:NAME, file:/path or itself"),
    key("oidc", "name", Kind::Text, "the issuer", "what people call the provider"),
    key(
        "oidc",
        "allowed_domains",
        Kind::Text,
        "all",
        "domains of addresses that may sign in, separated by commas",
    ),
    key("oidc", "auto_create", Kind::Flag, "", "whether somebody new is given an account"),
    key(
        "oidc",
        "admin_group",
        Kind::Text,
        "none",
        "the provider's group whose members administer the platform",
    ),
    key("oidc", "groups_claim", Kind::Text, "", "the claim of the ID token that lists a person's groups"),
    key(
        "oidc",
        "scopes",
        Kind::Text,
        "",
        "scopes that the provider is asked for beside `openid`, with spaces between",
    ),
    key("database", "url", Kind::Text, "sqlite:<data>/db/cubeloom.sqlite", "sqlite:/path or postgres://..."),
    key(
        "database",
        "reserve",
        Kind::Text,
        "",
        "room that is kept beside a SQLite database, for when the disk is full; 0 for none",
    ),
    key("local", "cpu", Kind::Text, "all cores", "CPU that jobs may use together"),
    key("local", "memory", Kind::Text, "90 % of the memory", "memory that jobs may use together"),
    key("local", "uid_base", Kind::Number, "", "run as root, the uid of the first project's workers"),
    key("local", "grace", Kind::Text, "", "the time between TERM and KILL"),
    key("local", "path", Kind::Text, "", "the workers' PATH"),
    key("local", "pids", Kind::Number, "", "processes and threads of one worker, at most"),
    key("local", "nofile", Kind::Number, "", "open files of one worker, at most"),
    key(
        "local",
        "free",
        Kind::Text,
        "5 % of the disk, 2Gi at most",
        "free space of the data folder's disk below which nothing new starts",
    ),
    key(
        "local",
        "log",
        Kind::Text,
        "",
        "how much of each of a worker's logs is kept, beside its last 64 KiB; 0 for all",
    ),
    key(
        "local",
        "run_disk",
        Kind::Text,
        "half of the disk",
        "how much the folder of one attempt may hold before the attempt is stopped; 0 for no limit",
    ),
    key(
        "local",
        "workspace",
        Kind::Text,
        "",
        "how much a project's workspace may hold before nothing new of it starts; 0 for no limit",
    ),
    key(
        "local",
        "python_sources",
        Kind::Flag,
        "",
        "build Python packages that have no wheel, which runs their code",
    ),
    key("local", "adoption", Kind::Flag, "", "take up workers of an earlier server; only tests turn it off"),
    key("sandbox", "files", Kind::Flag, "", "hide the server's folder from workers, but for what is theirs"),
    key("sandbox", "processes", Kind::Flag, "", "hide the processes of other users from workers"),
    key(
        "sandbox",
        "tmp",
        Kind::Flag,
        "",
        "give the workers of each attempt a /tmp and a /dev/shm of their own",
    ),
    key(
        "sandbox",
        "network",
        Kind::Flag,
        "",
        "keep workers from connecting to other projects' workers on this machine",
    ),
    key("terminals", "most", Kind::Number, "", "terminals at failed tasks that there may be; 0 for none"),
    key("terminals", "each", Kind::Number, "", "terminals that one person may have"),
    key("terminals", "limit", Kind::Text, "", "how long a terminal lasts"),
    key("terminals", "idle", Kind::Text, "", "how long nothing may be typed in a terminal and nothing shown"),
    key("terminals", "away", Kind::Text, "", "how long a terminal is kept when its connection is lost"),
    key(
        "accounting",
        "currency",
        Kind::Text,
        "none",
        "what prices are in, as it is shown: EUR, CNY, credits",
    ),
    key(
        "audit",
        "syslog",
        Kind::Text,
        "none",
        "where the audit log is sent to by syslog: udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH",
    ),
    key(
        "audit",
        "webhook",
        Kind::Text,
        "none",
        "where it is posted to as JSON lines: env:NAME, file:/path or the address itself",
    ),
    key(
        "audit",
        "authorization",
        Kind::Text,
        "none",
        "the webhook's header Authorization: env:NAME, file:/path or the value itself",
    ),
    key(
        "alerts",
        "private_addresses",
        Kind::Flag,
        "",
        "whether receivers of alerts may be at addresses of this machine and of private networks",
    ),
    key("smtp", "host", Kind::Text, "no e-mail is sent", "the server that takes the alerts' e-mail"),
    key("smtp", "port", Kind::Number, "", "its port"),
    key("smtp", "tls", Kind::Text, "", "`starttls`, `always` (from the first byte) or `never`"),
    key("smtp", "user", Kind::Text, "none", "the account there"),
    key("smtp", "password", Kind::Text, "none", "its password: env:NAME, file:/path or itself"),
    key("smtp", "from", Kind::Text, "", "who the mails are from: an address, or `Name <address>`"),
    key(
        "telemetry",
        "metrics_listen",
        Kind::Text,
        "only at the web's address, for administrators",
        "an address and port at which anybody may read the server's metrics",
    ),
    key(
        "telemetry",
        "otlp_endpoint",
        Kind::Text,
        "no spans are sent",
        "a collector of OpenTelemetry that takes spans by OTLP over HTTP, e.g. http://localhost:4318",
    ),
    key("engine", "lease", Kind::Text, "", "how long a server holds a run without a sign of life"),
    key("engine", "period", Kind::Text, "", "how often the database is looked at for lost wake-ups"),
    key("sharing", "aging", Kind::Text, "", "how long a job waits to count as one priority higher"),
    key("sharing", "half_life", Kind::Text, "", "after how long what was held counts half in the shares"),
    key("sharing", "cool_down", Kind::Text, "", "how long who had to give back does not borrow again"),
    key(
        "nodes",
        "failures",
        Kind::Number,
        "",
        "after how many failures through a node it is set aside; 0: never",
    ),
    key("nodes", "within", Kind::Text, "", "within how long these have come"),
    key("nodes", "offer_after", Kind::Text, "", "after how long it is offered to take a node back"),
    key("advice", "idle_for", Kind::Text, "", "how long a card must have been idle to be *held and idle*"),
    key("advice", "idle_below", Kind::Share, "", "the mean use below which a card is idle"),
    key("advice", "idle_peak", Kind::Share, "", "the use above which a card was not idle, however short"),
    key("advice", "warm_up", Kind::Text, "", "how long low use means nothing after a task has begun"),
    key(
        "advice",
        "saturated_for",
        Kind::Text,
        "",
        "over how long use is looked at together with cores and storage",
    ),
    key("advice", "low_below", Kind::Share, "", "the mean use below which a card may wait for something"),
    key(
        "advice",
        "saturated_above",
        Kind::Share,
        "",
        "the share of its cores from which a task waits for the CPU",
    ),
    key("advice", "waiting_above", Kind::Share, "", "the share of time from which a task waits for storage"),
    key("advice", "dips_for", Kind::Text, "", "over how long dips of use are looked for"),
    key("advice", "dips_level", Kind::Share, "", "the use between dips from which they matter"),
    key("advice", "dip_below", Kind::Share, "", "the share of the use between dips below which there is one"),
    key("advice", "dips_least", Kind::Share, "", "the share of time that dips must take"),
    key("advice", "dips_most", Kind::Share, "", "the share of time from which dips are bursts of work"),
    key("advice", "dips_count", Kind::Number, "", "how many dips there must be"),
    key("advice", "dips_regular", Kind::Share, "", "how far distances between dips may deviate"),
    key("advice", "empty_for", Kind::Text, "", "over how long memory is looked at"),
    key("advice", "empty_below", Kind::Share, "", "the share of memory below which a card is nearly empty"),
    key("advice", "room_below", Kind::Share, "", "the mean use from which a card has no room"),
    key(
        "advice",
        "share_up_to",
        Kind::Share,
        "",
        "how much of a card, its memory and the cores may be given away",
    ),
    key("advice", "peers", Kind::Number, "", "how many workers of a role are compared"),
    key(
        "advice",
        "far_use",
        Kind::Share,
        "",
        "how far the use of a worker lies from its peers to be another one",
    ),
    key("advice", "alike_use", Kind::Share, "", "how far the use of peers that are alike lies apart"),
    key("advice", "far_share", Kind::Share, "", "by which share the power or cores of a worker are others"),
    key("advice", "far_cores", Kind::Text, "", "and by how many cores at the least"),
    key("advice", "alike_share", Kind::Share, "", "by which share the power or cores of alike peers differ"),
    key("advice", "known", Kind::Share, "", "the share of values that must be known"),
];

/// Sections whose names are free.
pub const FREE: &[&str] = &["secrets", "volumes", "slurm"];

/// The key of this name.
pub fn find(section: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.section == section && key.name == name)
}

/// What a setting means.
pub fn help(section: &str, name: &str) -> &'static str {
    match section {
        "secrets" => "a secret that tasks may name",
        "volumes" => "a folder that tasks may name",
        "slurm" => "how the commands of the Slurm cluster of this name are called, and as whom",
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
