use super::*;

fn load(file: Option<&str>, variables: &[(&str, &str)]) -> anyhow::Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    if let Some(text) = file {
        std::fs::write(folder.path().join("cubeloom.toml"), text).unwrap();
    }
    let flags = Flags { data: Some(folder.path().into()), ..Flags::default() };
    Config::load(&flags, variables.iter().map(|(name, value)| ((*name).into(), (*value).into())))
}

fn refusal(file: Option<&str>, variables: &[(&str, &str)]) -> String {
    load(file, variables).unwrap_err().to_string()
}

#[test]
fn a_variable_is_over_the_file_and_both_are_named() {
    let file = "[local]\ncpu = 2\ngrace = \"3s\"\n[secrets]\ntoken = {env = \"TOKEN\"}\n";
    let config = load(Some(file), &[("CUBELOOM_LOCAL_CPU", "500m"), ("CUBELOOM_RUN", "x")]).unwrap();
    assert_eq!(config.settings.local.cpu.unwrap().0, 500);
    assert_eq!(config.settings.local.grace.0.as_secs(), 3);
    assert_eq!(config.origin("local", "cpu"), Origin::Variable("CUBELOOM_LOCAL_CPU".into()));
    assert!(matches!(config.origin("local", "grace"), Origin::File(_)));
    assert_eq!(config.origin("local", "pids"), Origin::Default);
    assert!(matches!(&config.settings.secrets["token"], settings::Secret::Env(name) if name == "TOKEN"));
}

#[test]
fn secrets_and_volumes_have_free_names() {
    let variables = [("CUBELOOM_SECRETS_API_KEY", "file:/etc/key"), ("CUBELOOM_VOLUMES_DATA", "/srv/data")];
    let config = load(None, &variables).unwrap();
    assert!(
        matches!(&config.settings.secrets["api-key"], settings::Secret::File(path) if path.ends_with("key"))
    );
    assert_eq!(config.settings.volumes["data"], Path::new("/srv/data"));
    assert!(refusal(None, &[("CUBELOOM_SECRETS_API_KEY", "s3cret")]).contains("env:NAME"));
}

#[test]
fn the_programs_of_slurm_clusters_are_named_by_cluster() {
    let file = "[slurm.hall]\nbecome = [\"sudo\", \"-n\", \"-u\", \"{account}\", \"--\"]\nconf = \"/etc/slurm/hall.conf\"\n";
    let config = load(Some(file), &[("CUBELOOM_SLURM_OLD_HALL", "{become = [], path = \"/opt/slurm/bin\"}")]);
    let slurm = config.unwrap().settings.slurm;
    assert_eq!(slurm["hall"].become_account[0], "sudo");
    assert_eq!(slurm["hall"].path, "/usr/local/bin:/usr/bin:/bin");
    assert_eq!(
        (slurm["old-hall"].become_account.len(), slurm["old-hall"].path.as_str()),
        (0, "/opt/slurm/bin")
    );
    for (file, field) in [
        ("[slurm.hall]\nconf = \"/etc/slurm.conf\"\n", "become"),
        ("[slurm.hall]\nbecome = [\"sudo\"]\n", "[slurm.hall] become"),
        ("[slurm.hall]\nbecome = []\npath = \"bin\"\n", "[slurm.hall] path"),
        ("[slurm.hall]\nbecome = []\nevery = 90\n", "[slurm.hall] every"),
        ("[slurm.hall]\nbecome = []\naccount = \"x\"\n", "account"),
        (
            "[slurm.hall]\nbecome = []\nslurmrestd = {url = \"https://a:1\", key = \"/k\", user = \"u\"}\n",
            "[slurm.hall] slurmrestd.url",
        ),
        ("[slurm.hall]\nbecome = []\nslurmrestd = {url = \"unix:/s\", user = \"u\"}\n", "key"),
    ] {
        assert!(refusal(Some(file), &[]).contains(field), "{file}: {}", refusal(Some(file), &[]));
    }
    assert!(refusal(None, &[("CUBELOOM_SLURM_HALL", "sudo")]).contains("write a table"));
}

#[test]
fn what_is_unknown_names_the_nearest() {
    assert!(refusal(Some("[locl]\n"), &[]).contains("did you mean `local`?"));
    assert!(refusal(Some("[local]\nmemroy = 1\n"), &[]).contains("did you mean `memory`?"));
    assert!(
        refusal(None, &[("CUBELOOM_LOCAL_MEMROY", "1")]).contains("did you mean `CUBELOOM_LOCAL_MEMORY`?")
    );
}

#[test]
fn a_wrong_value_is_named_with_its_place() {
    let why = refusal(Some("[local]\ngrace = \"soon\"\n"), &[]);
    assert!(why.contains("[local] grace") && why.contains("cubeloom.toml") && why.contains("soon"), "{why}");
    assert!(refusal(None, &[("CUBELOOM_LOCAL_UID_BASE", "many")]).contains("not a whole number"));
}

#[test]
fn what_advice_goes_by_is_a_share_or_within_the_hour_that_is_known() {
    let variables = [("CUBELOOM_ADVICE_SATURATED_ABOVE", "0.99"), ("CUBELOOM_ADVICE_IDLE_FOR", "10m")];
    let advice = load(Some("[advice]\nidle_peak = 1\npeers = 5\n"), &variables).unwrap().settings.advice;
    assert_eq!((advice.saturated_above, advice.idle_for), (0.99, 600.0));
    assert_eq!((advice.idle_peak, advice.peers, advice.known), (1.0, 5, 0.8));
    for (line, why) in [
        ("known = 1.5", "1.5 is not a number from 0 to 1"),
        ("idle_below = -0.1", "0 to 1"),
        ("dips_for = \"61m\"", "no longer than the hour"),
        ("empty_for = \"0s\"", "longer than 0"),
        ("peers = 1", "2 or more"),
        ("idel_for = \"10m\"", "did you mean `idle_for`?"),
    ] {
        let refused = refusal(Some(&format!("[advice]\n{line}\n")), &[]);
        let key = line.split(' ').next().unwrap();
        assert!(refused.contains(key) && refused.contains(why), "{refused}");
    }
    assert!(refusal(None, &[("CUBELOOM_ADVICE_KNOWN", "most")]).contains("not a number from 0 to 1"));
}

#[test]
fn the_data_folder_cannot_be_moved_by_the_file_in_it() {
    assert!(refusal(Some("[server]\ndata = \"/elsewhere\"\n"), &[]).contains("--data"));
}

#[test]
fn every_key_is_one_of_the_settings() {
    for key in KEYS {
        let value = match (key.name, key.kind) {
            ("cpu" | "far_cores", _) => "2".into(),
            ("free" | "log" | "memory" | "reserve" | "run_disk" | "upload" | "workspace", _) => "2Gi".into(),
            ("tls", _) => "always".into(),
            ("default", _) => "advise".into(),
            ("listen" | "metrics_listen", _) => "127.0.0.1:0".into(),
            ("grace" | "lease" | "period" | "limit" | "idle" | "away", _) => "2s".into(),
            ("aging" | "half_life" | "cool_down" | "within" | "offer_after", _) => "2s".into(),
            ("idle_for" | "warm_up" | "saturated_for" | "dips_for" | "empty_for", _) => "2s".into(),
            (_, keys::Kind::Text) => "x".into(),
            (_, keys::Kind::Number) => toml::Value::Integer(2),
            (_, keys::Kind::Share) => toml::Value::Float(0.5),
            (_, keys::Kind::Flag) => toml::Value::Boolean(true),
        };
        let mut layers = layers::Layers::default();
        layers.set(key.section, key.name, value, Origin::Default);
        layers.finish().unwrap_or_else(|error| panic!("{}.{}: {error}", key.section, key.name));
    }
}

#[test]
fn the_documentation_has_every_key_with_its_default_and_no_other() {
    let text = include_str!("../../../../docs/configuration.md");
    let mut section = "";
    let mut documented = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.trim_matches(['`', '[', ']']);
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", name, default, meaning, ""] = cells[..]
            && let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'))
        {
            assert!(meaning.ends_with('.'), "{name}: {meaning}");
            let default = default.split(" [").next().unwrap_or(default).trim_matches('`');
            documented.push((section.to_owned(), name.to_owned(), default.to_owned()));
        }
    }
    // A section for each Slurm cluster, by its name.
    let named: Vec<_> = documented.extract_if(.., |(section, ..)| section == "slurm.NAME").collect();
    assert_eq!(
        named.iter().map(|(_, name, _)| name.as_str()).collect::<Vec<_>>(),
        ["become", "conf", "path", "every", "slurmrestd"]
    );
    let usual = serde_json::to_value(Settings::default()).unwrap();
    let expected: Vec<(String, String, String)> = KEYS
        .iter()
        .map(|key| {
            let default = match &usual[key.section][key.name] {
                serde_json::Value::Null => key.unset.trim_end_matches(" cli.md").to_owned(),
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            (key.section.to_owned(), key.name.to_owned(), default)
        })
        .collect();
    assert_eq!(documented, expected);
}
