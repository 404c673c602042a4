//! Lowering for this machine, and for the nodes of a Slurm cluster: each worker becomes one process with all
//! of its variables.

use std::collections::BTreeMap;

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::lowered::{LocalBindings, LocalJob, LocalPaths, WorkerBinding};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::slurm::tokens;

use super::worker::Worker;
use super::{preflight, processes};
use crate::frameworks::{self, Crew, Identity, Member};

/// Values known only at submission, as texts.
pub struct Places {
    paths: LocalPaths,
    workers: Vec<Place>,
    /// Whether all workers are on one machine, each with a loopback address.
    one_machine: bool,
}

struct Place {
    address: String,
    port: String,
    /// More ports, for processes after the first.
    ports: Vec<String>,
    gpus: String,
}

impl Places {
    /// From the bindings of a submission.
    pub fn bound(job: &Job, bindings: &LocalBindings) -> Self {
        debug_assert_eq!(bindings.workers.len(), job.workers() as usize, "one binding a worker");
        let place = |worker: &WorkerBinding| Place {
            address: worker.address.clone(),
            port: worker.port.to_string(),
            ports: worker.ports.iter().map(ToString::to_string).collect(),
            gpus: worker.gpus.join(","),
        };
        Self {
            paths: bindings.paths.clone(),
            workers: bindings.workers.iter().map(place).collect(),
            one_machine: true,
        }
    }

    /// Placeholders that describe the later values.
    pub fn placeholders(job: &Job) -> Self {
        let folder = |what: &str| format!("<{what}>");
        let volume = |name: &String| (name.clone(), format!("<folder of the volume {name}>"));
        let paths = LocalPaths {
            workspace: folder("workspace"),
            run_dir: folder("run folder"),
            attempt_dir: folder("attempt folder"),
            checkpoint_dir: folder("checkpoint folder"),
            code: if job.code.is_some() { folder("code folder") } else { String::new() },
            template_dir: job.template_folder.clone(),
            bin: folder("cubeloom program"),
            volumes: job.volumes.iter().map(|mount| volume(&mount.name)).collect(),
        };
        let workers = names(job).map(|(name, role)| Place {
            address: format!("<address of {name}>"),
            port: format!("<port of {name}>"),
            ports: (1..role.resources.processes()).map(|local| format!("<port {local} of {name}>")).collect(),
            gpus: if role.resources.gpu.is_some() { format!("<gpus of {name}>") } else { String::new() },
        });
        Self { paths, workers: workers.collect(), one_machine: true }
    }

    /// Tokens that the nodes of a Slurm cluster replace.
    pub fn tokens(job: &Job, paths: LocalPaths) -> Self {
        let mut more = 0..;
        let workers = (0u32..).zip(names(job)).map(|(rank, (_, role))| Place {
            address: tokens::address(rank),
            port: tokens::port(rank),
            ports: (1..role.resources.processes())
                .zip(&mut more)
                .map(|(_, at)| tokens::more_port(at))
                .collect(),
            gpus: if role.resources.gpu.is_some() { tokens::CARDS.into() } else { String::new() },
        });
        Self { paths, workers: workers.collect(), one_machine: false }
    }
}

fn names(job: &Job) -> impl Iterator<Item = (WorkerName, &JobRole)> {
    job.roles.iter().flat_map(|role| {
        (0..role.replicas).map(move |index| (WorkerName { role: role.name.clone(), index }, role))
    })
}

pub fn lower(job: &Job, places: &Places) -> LocalJob {
    let members = members(job, places);
    let id = job.key.object_name();
    let crew = Crew {
        id: &id,
        members: &members,
        roles: &job.roles,
        elastic: job.elastic,
        one_machine: places.one_machine,
    };
    let divided = processes::members(&crew);
    let all = Crew { members: divided.as_deref().unwrap_or(&members), ..crew };
    let tables = processes::tables(job, &all);
    let seats: BTreeMap<_, _> = all.members.iter().map(|one| ((one.role.as_str(), one.index), one)).collect();
    let framework = frameworks::find(&job.framework);
    let paths = &places.paths;
    let tests = preflight::files(job, &members);
    let workers = names(job).zip(&members).zip(&places.workers).map(|(((name, role), member), place)| {
        let table = tables.get(role.name.as_str());
        let seat = seats.get(&(role.name.as_str(), name.index)).filter(|_| table.is_none());
        let (crew, member) = seat.map_or((&crew, member), |seat| (&all, *seat));
        let identity = framework.map_or_else(Identity::default, |known| (known.identity)(crew, member));
        let world = crew.members.len();
        Worker { job, paths, name, role, member, gpus: &place.gpus, world, identity, table, tests: &tests }
            .lower()
    });
    let own = |folder: &&String| folder.starts_with(&format!("{}/", paths.workspace));
    let folders = [&paths.run_dir, &paths.checkpoint_dir, &paths.workspace];
    let folders = folders.into_iter().chain(paths.volumes.values().filter(own)).cloned().collect();
    LocalJob {
        key: job.key.clone(),
        project: job.project.clone(),
        python: job.python.clone(),
        folders,
        workers: workers.collect(),
        success: job.success.clone(),
        gang: job.gang,
        outputs: job.outputs.clone(),
    }
}

fn members(job: &Job, places: &Places) -> Vec<Member> {
    names(job)
        .zip(&places.workers)
        .enumerate()
        .map(|(rank, ((name, role), place))| Member {
            folder: format!("{}/{name}", places.paths.attempt_dir),
            index: name.index,
            role: name.role,
            rank: u32::try_from(rank).unwrap_or(u32::MAX),
            address: place.address.clone(),
            port: place.port.clone(),
            ports: place.ports.clone(),
            resources: role.resources.clone(),
        })
        .collect()
}
