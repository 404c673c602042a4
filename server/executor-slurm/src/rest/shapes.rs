//! The formats of slurmrestd: only this module knows them, so differences between API versions stay here.
//!
//! v0.0.38 passes each field of a job to the parser of `sbatch`'s options, so values are written as on its
//! command line. It supports `no_requeue`, although its specification does not mention it: `requeue`,
//! whatever its value, means yes. Later versions write a number as `{"set": true, "infinite": false,
//! "number": 1}` and a state as a list; both forms are read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::options::Asked;
use crate::nodes::SeenNode;
use crate::seen::{SeenJob, State};
use crate::speech::Given;

/// Options with a text value, and their fields.
const TEXTS: [(&str, &str); 15] = [
    ("account", "account"),
    ("comment", "comment"),
    ("constraint", "constraints"),
    ("exclude", "exclude_nodes"),
    ("gpus-per-task", "gpus_per_task"),
    ("gres", "gres"),
    ("job-name", "name"),
    ("mem", "memory_per_node"),
    ("mem-per-cpu", "memory_per_cpu"),
    ("nodes", "nodes"),
    ("open-mode", "open_mode"),
    ("output", "standard_output"),
    ("partition", "partition"),
    ("qos", "qos"),
    ("time", "time_limit"),
];

/// Options with a number.
const NUMBERS: [(&str, &str); 4] = [
    ("cpus-per-task", "cpus_per_task"),
    ("ntasks", "tasks"),
    ("ntasks-per-node", "tasks_per_node"),
    ("threads-per-core", "threads_per_core"),
];

/// Options without a value.
const FLAGS: [(&str, &str); 4] = [
    ("hold", "hold"),
    ("no-requeue", "no_requeue"),
    ("spread-job", "spread_job"),
    ("use-min-nodes", "minimum_nodes"),
];

/// The request body: the script, and its options.
///
/// # Errors
/// An option has no field; a sentence.
pub fn submission(
    given: &Given<'_>,
    components: &[Vec<Asked>],
    variables: &BTreeMap<String, String>,
) -> Result<Value, String> {
    let mut jobs = Vec::new();
    for component in components {
        let mut job = Map::new();
        for (name, value) in component {
            let (field, value) = field(name, value.as_deref())?;
            job.insert(field.to_owned(), value);
        }
        if let Some(account) = given.counted_as {
            job.insert("account".into(), account.into());
        }
        job.insert("current_working_directory".into(), "/".into());
        job.insert("environment".into(), json!(variables));
        jobs.push(Value::Object(job));
    }
    let script = given.text;
    Ok(match jobs.len() {
        1 => json!({"script": script, "job": jobs.remove(0)}),
        _ => json!({"script": script, "jobs": jobs}),
    })
}

fn field(name: &str, value: Option<&str>) -> Result<(&'static str, Value), String> {
    let of = |table: &[(&str, &'static str)]| {
        table.iter().find(|(option, _)| *option == name).map(|(_, field)| *field)
    };
    let found = match value {
        Some(text) => of(&TEXTS).map(|field| (field, Value::from(text))).or_else(|| {
            let number: u64 = text.parse().ok()?;
            of(&NUMBERS).map(|field| (field, number.into()))
        }),
        // Whole nodes. The specification says `true`, which slurmrestd refuses.
        None if name == "exclusive" => Some(("exclusive", name.into())),
        None => of(&FLAGS).map(|field| (field, true.into())),
    };
    let option = value.map_or_else(|| format!("--{name}"), |value| format!("--{name}={value}"));
    found.ok_or_else(|| format!("slurmrestd does not support the option `{option}` of the script"))
}

/// A number in any API version.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    Said { set: bool, number: u64 },
}

impl Number {
    fn value(self) -> Option<u64> {
        match self {
            Self::Plain(number) | Self::Said { set: true, number } => Some(number),
            Self::Said { set: false, .. } => None,
        }
    }
}

/// Text items in any API version: `"a,b"`, or a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

impl Words {
    fn list(words: Option<Self>) -> Vec<String> {
        match words {
            None => Vec::new(),
            Some(Self::One(text)) => {
                text.split(',').filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
            }
            Some(Self::Many(words)) => words,
        }
    }
}

#[derive(Deserialize)]
struct Job {
    job_id: Number,
    het_job_id: Option<Number>,
    user_id: Number,
    job_state: Words,
    name: Option<String>,
    state_reason: Option<String>,
    nodes: Option<String>,
}

impl Job {
    /// Components of a heterogeneous job use the id of the first.
    fn seen(self) -> Option<SeenJob> {
        let first = self.het_job_id.and_then(Number::value).filter(|id| *id > 0);
        let states = Words::list(Some(self.job_state));
        // A list has flags after the state; a completing job is not over.
        let completing = states.iter().find(|state| *state == "COMPLETING");
        let state = completing.or(states.first()).map(String::as_str).unwrap_or_default();
        Some(SeenJob {
            id: first.or(self.job_id.value())?.to_string(),
            name: self.name.unwrap_or_default(),
            uid: self.user_id.value()?.try_into().ok()?,
            state: State::of(state),
            reason: self.state_reason.unwrap_or_default(),
            nodes: self.nodes.unwrap_or_default(),
        })
    }
}

#[derive(Deserialize)]
struct Node {
    name: String,
    state: Option<Words>,
    state_flags: Option<Words>,
    cpus: Option<Number>,
    effective_cpus: Option<Number>,
    real_memory: Option<Number>,
    specialized_memory: Option<Number>,
    gres: Option<String>,
    partitions: Option<Words>,
    features: Option<Words>,
}

impl Node {
    fn seen(self) -> SeenNode {
        let number = |number: Option<Number>| number.and_then(Number::value);
        let states = [Words::list(self.state), Words::list(self.state_flags)].concat();
        SeenNode {
            name: self.name,
            states: states.iter().map(|state| state.to_uppercase()).collect(),
            cpus: number(self.effective_cpus).or(number(self.cpus)).unwrap_or(0),
            memory: number(self.real_memory)
                .unwrap_or(0)
                .saturating_sub(number(self.specialized_memory).unwrap_or(0)),
            gres: self.gres.unwrap_or_default(),
            partitions: Words::list(self.partitions),
            features: Words::list(self.features),
        }
    }
}

/// One error.
#[derive(Deserialize)]
struct Wrong {
    error: Option<String>,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(alias = "slurm", rename = "Slurm")]
    slurm: Option<Release>,
}

#[derive(Deserialize)]
struct Release {
    release: Option<String>,
}

/// The fields of any response. Jobs and nodes are parsed only where needed.
#[derive(Deserialize)]
pub struct Answer {
    meta: Option<Meta>,
    #[serde(default)]
    errors: Vec<Wrong>,
    jobs: Option<Vec<Job>>,
    nodes: Option<Vec<Node>>,
    job_id: Option<Number>,
}

impl Answer {
    /// Parses a response.
    ///
    /// # Errors
    /// It is invalid; the end of a sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| {
            let begin: String = text.chars().take(100).collect();
            format!("{error}: {begin}")
        })
    }

    /// The errors, without duplicates.
    pub fn error(&self) -> Option<String> {
        let mut said: Vec<&str> = Vec::new();
        for part in self.errors.iter().flat_map(|wrong| [&wrong.description, &wrong.error]) {
            if let Some(part) = part.as_deref().filter(|part| !part.is_empty())
                && !said.iter().any(|known| known.contains(part))
            {
                said.push(part);
            }
        }
        match said[..] {
            [] => self.errors.first().map(|_| "it failed without a message".to_owned()),
            _ => Some(said.join(": ")),
        }
    }

    /// Whether it contains an accepted job.
    pub fn has_job(&self) -> bool {
        self.job_id.and_then(Number::value).is_some_and(|id| id > 0)
    }

    /// The version of Slurm, as `slurm 22.05.8`.
    pub fn version(self) -> String {
        let release = self.meta.and_then(|meta| meta.slurm?.release);
        format!("slurm {}", release.as_deref().unwrap_or("?"))
    }

    /// The jobs of a list.
    ///
    /// # Errors
    /// There is no list.
    pub fn jobs(self) -> Result<Vec<SeenJob>, String> {
        let jobs = self.jobs.ok_or("`jobs` is missing")?;
        Ok(jobs.into_iter().filter_map(Job::seen).collect())
    }

    /// The nodes.
    ///
    /// # Errors
    /// There is no list.
    pub fn nodes(self) -> Result<Vec<SeenNode>, String> {
        let nodes = self.nodes.ok_or("`nodes` is missing")?;
        Ok(nodes.into_iter().map(Node::seen).collect())
    }

    /// The id of the submitted job.
    ///
    /// # Errors
    /// There is none.
    pub fn job_id(self) -> Result<String, String> {
        let id = self.job_id.and_then(Number::value).filter(|id| *id > 0);
        id.map(|id| id.to_string()).ok_or_else(|| "`job_id` is missing".to_owned())
    }
}

/// Whether the text says that the endpoint does not exist.
pub fn is_no_call(text: &str) -> bool {
    Answer::read(text).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::options;
    use crate::seen::Fate;

    /// Responses of Slurm 22.05.8, without unused fields.
    const JOBS: &str = r#"{"meta": {"plugin": {"type": "openapi\/v0.0.38", "name": "Slurm OpenAPI v0.0.38"},
        "Slurm": {"version": {"major": 22, "micro": 8, "minor": 5}, "release": "22.05.8"}}, "errors": [], "jobs": [
        {"job_id": 1, "het_job_id": 0, "het_job_offset": 0, "job_state": "RUNNING", "state_reason": "None", "user_id": 999,
         "nodes": "n1", "name": "cl-a-b", "time_limit": 60},
        {"job_id": 4, "het_job_id": 3, "het_job_offset": 1, "job_state": "PENDING", "state_reason": "Resources",
         "user_id": 999, "nodes": "", "name": "cl-a-c", "time_limit": null}]}"#;
    const NODES: &str = r#"{"errors": [], "nodes": [{"name": "n1", "cpus": 16, "features": "cpu,ssd,ib",
        "gres": "gpu:a100:2,shard:a100:8", "state": "idle", "state_flags": ["DRAIN"], "partitions": ["all", "cards"],
        "real_memory": 64000}]}"#;

    #[test]
    fn jobs_and_nodes_are_read_as_version_38_writes_them() {
        let answer = Answer::read(JOBS).unwrap();
        assert_eq!(answer.error(), None);
        let jobs = answer.jobs().unwrap();
        let [first, second] = &jobs[..] else { panic!("{jobs:?}") };
        assert_eq!((first.id.as_str(), first.uid, first.state), ("1", 999, State::Runs));
        assert_eq!((first.nodes.as_str(), first.name.as_str()), ("n1", "cl-a-b"));
        assert_eq!(
            (second.id.as_str(), second.state, second.reason.as_str()),
            ("3", State::Waiting, "Resources")
        );
        assert_eq!(Answer::read(JOBS).unwrap().version(), "slurm 22.05.8");
        let nodes = Answer::read(NODES).unwrap().nodes().unwrap();
        assert_eq!(nodes[0].states, ["IDLE", "DRAIN"]);
        assert_eq!((nodes[0].cpus, nodes[0].memory), (16, 64_000));
        assert_eq!(
            (nodes[0].partitions.join(" "), nodes[0].features.join(" ")),
            ("all cards".to_owned(), "cpu ssd ib".to_owned())
        );
    }

    #[test]
    fn numbers_and_states_are_read_as_later_versions_write_them() {
        let jobs = r#"{"meta": {"slurm": {"release": "23.11.1"}}, "errors": [], "jobs": [{"job_id": 7,
            "het_job_id": {"set": false, "infinite": false, "number": 0}, "job_state": ["OUT_OF_MEMORY"], "user_id": 1000,
            "name": "cl-a-b"}, {"job_id": 8, "het_job_id": {"set": true, "infinite": false, "number": 6}, "user_id": 1000,
            "job_state": ["COMPLETED", "COMPLETING"], "name": "cl-a-b"}]}"#;
        let answer = Answer::read(jobs).unwrap().jobs().unwrap();
        let states: Vec<_> = answer.iter().map(|job| (job.id.as_str(), job.state)).collect();
        assert_eq!(states, [("7", State::Over(Fate::OutOfMemory)), ("6", State::Completing)]);
        assert_eq!(Answer::read(jobs).unwrap().version(), "slurm 23.11.1");
        let nodes = r#"{"nodes": [{"name": "n1", "cpus": 16, "effective_cpus": 15, "state": ["MIXED", "NOT_RESPONDING"],
            "real_memory": 64000, "specialized_memory": 1000, "features": ["ssd"], "partitions": ["all"]}]}"#;
        let nodes = Answer::read(nodes).unwrap().nodes().unwrap();
        assert_eq!((nodes[0].cpus, nodes[0].memory), (15, 63_000));
        assert_eq!(nodes[0].states, ["MIXED", "NOT_RESPONDING"]);
    }

    #[test]
    fn what_is_wrong_is_said_once() {
        let said = |text: &str| Answer::read(text).unwrap().error();
        let parsing = r#"{"errors": [{"description": "Unknown key \"foo\"", "source": "hsearch_r"},
            {"error_code": 9001, "error": "Failure during parsing"}]}"#;
        assert_eq!(said(parsing).as_deref(), Some("Unknown key \"foo\": Failure during parsing"));
        let killed = r#"{"errors": [{"description": "unable to kill JobId=9 with signal 9: Invalid job id specified",
            "error_number": 2017, "error": "Invalid job id specified", "source": "slurm_kill_job"}]}"#;
        assert_eq!(
            said(killed).as_deref(),
            Some("unable to kill JobId=9 with signal 9: Invalid job id specified")
        );
        assert_eq!(said(r#"{"errors": [{"errno": -1}]}"#).as_deref(), Some("it failed without a message"));
        assert_eq!(said(r#"{"errors": []}"#), None);
    }

    fn body(script: &str, counted_as: Option<&str>) -> Result<Value, String> {
        let given = Given { script: "/w/job.sh", text: script, counted_as };
        submission(&given, &options::of_script(script), &[("PATH".to_owned(), "/bin".to_owned())].into())
    }

    #[test]
    fn what_the_script_asks_for_is_said_in_slurmrestds_words() {
        let script = "#!/bin/bash\n#SBATCH --job-name=cl-a-b\n#SBATCH --no-requeue\n#SBATCH --account=vision\n\
            #SBATCH --time=0-01:00:00\n#SBATCH --nodes=1-2 --use-min-nodes\n#SBATCH --ntasks=2 --cpus-per-task=1\n\
            #SBATCH --mem-per-cpu=64M\n#SBATCH --gpus-per-task=h100:1\n";
        let job = json!({"name": "cl-a-b", "no_requeue": true, "account": "cl-p-shop", "time_limit": "0-01:00:00",
            "nodes": "1-2", "minimum_nodes": true, "tasks": 2, "cpus_per_task": 1, "memory_per_cpu": "64M",
            "gpus_per_task": "h100:1", "current_working_directory": "/", "environment": {"PATH": "/bin"}});
        assert_eq!(body(script, Some("cl-p-shop")).unwrap(), json!({"script": script, "job": job}));
        let both = "#!/bin/bash\n#SBATCH --exclusive\n#SBATCH hetjob\n#SBATCH --gres=shard:4\n";
        let rest = json!({"current_working_directory": "/", "environment": {"PATH": "/bin"}});
        let of = |field: &str, value: &str| {
            let mut job = rest.clone();
            job[field] = value.into();
            job
        };
        let jobs = json!([of("exclusive", "exclusive"), of("gres", "shard:4")]);
        assert_eq!(body(both, None).unwrap(), json!({"script": both, "jobs": jobs}));
    }

    #[test]
    fn what_there_is_no_word_for_is_refused_not_forgotten() {
        let refused = body("#!/bin/bash\n#SBATCH --begin=now+1hour\n", None).unwrap_err();
        assert!(refused.contains("--begin=now+1hour"), "{refused}");
        assert!(body("#!/bin/bash\n#SBATCH --ntasks=many\n", None).unwrap_err().contains("--ntasks=many"));
    }
}
