//! The pods of a job, with a template for each role.

use std::collections::BTreeMap;

use cubeloom_domain::job::{Job, JobRole};
use serde_json::Value;

use super::Frame;
use super::notes::Notes;
use super::operator::Commands;
use super::pod;
use super::variables::{Environment, Setting};
use super::volumes;
use super::way::Way;
use crate::frameworks::{Crew, Member};
use crate::lower::{preflight, processes};

/// The rendezvous port of a job's workers; every pod has its own address.
const PORT: u16 = 29_500;

pub struct RolePods {
    pub name: String,
    pub replicas: u32,
    /// How many of them must start together with the others.
    pub least: u32,
    pub template: Value,
}

/// The pods of every role, and the workers' files.
pub fn of(frame: &Frame<'_>, notes: &mut Notes) -> (Vec<RolePods>, BTreeMap<String, String>) {
    let job = frame.job;
    if job.image.is_none() {
        let message = "the task's template has no `image`: it runs only on machines without containers";
        notes.refuse("template", message);
    }
    if let Some(python) = job.python.as_ref().filter(|python| !python.requirements.is_empty()) {
        let packages = python.requirements.join(", ");
        notes.decide(format!(
            "the image must contain the Python packages, because pods install none: {packages}"
        ));
    }
    let members = members(frame);
    let crew = Crew {
        id: &frame.name,
        members: &members,
        roles: &job.roles,
        elastic: job.elastic,
        one_machine: false,
    };
    let paths = volumes::paths(job, frame.facts);
    let divided = processes::members(&crew);
    let all = Crew { members: divided.as_deref().unwrap_or(&members), ..crew };
    let tables = processes::tables(job, &all);
    let tests = preflight::files(job, &members);
    let mut files = BTreeMap::new();
    let mut roles = Vec::with_capacity(job.roles.len());
    let least = least(job);
    let counts = least.into_iter().zip(&frame.replicas);
    for (role, (least, replicas)) in job.roles.iter().zip(counts).filter(|(role, _)| role.replicas > 0) {
        let table = tables.get(role.name.as_str());
        let crew = if table.is_some() { &crew } else { &all };
        let setting = Setting { frame, crew, paths: &paths, role, table };
        let (environment, mut own) = setting.environment(notes);
        // An operator provides its own files.
        own.retain(|_, _| !matches!(frame.way, Way::Operator(_)));
        own.extend(table.map(|_| (processes::FILE.to_owned(), processes::PROGRAM.to_owned())));
        own.extend(tests.clone());
        refuse_tests(frame, role, notes);
        refuse_shell(frame, role, &environment, notes);
        let template = pod::template(frame, role, &environment, &own, notes);
        files.extend(own);
        roles.push(RolePods { name: role.name.clone(), replicas: *replicas, least, template });
    }
    (roles, files)
}

/// Refuses preflight tests if an operator starts the program in its own way.
fn refuse_tests(frame: &Frame<'_>, role: &JobRole, notes: &mut Notes) {
    if frame.job.preflight.is_some() && frame.commands(&role.name) != Commands::Task {
        notes.refuse(
            "preflight",
            format!(
                "workers of the role `{}` cannot be tested: this cluster's operator starts their program itself",
                role.name
            ),
        );
    }
}

/// Refuses commands that need a shell where none runs.
fn refuse_shell(frame: &Frame<'_>, role: &JobRole, environment: &Environment, notes: &mut Notes) {
    let words: &[String] = match frame.commands(&role.name) {
        Commands::Task => return,
        Commands::Read => &role.argv,
        Commands::Unused => &[],
    };
    for name in environment.late_names(words) {
        notes.refuse(
            "template",
            format!(
                "`$({name})` of the role `{}` is unknown when this cluster's operator starts its program",
                role.name
            ),
        );
    }
}

fn members(frame: &Frame<'_>) -> Vec<Member> {
    let workers = frame.job.roles.iter().flat_map(|role| (0..role.replicas).map(move |index| (role, index)));
    (0u32..)
        .zip(workers)
        .map(|(rank, (role, index))| Member {
            role: role.name.clone(),
            index,
            rank,
            address: frame.address(&role.name, index),
            port: PORT.to_string(),
            ports: (1..role.resources.processes())
                .map(|local| (u32::from(PORT) + local).to_string())
                .collect(),
            folder: volumes::ROOT.into(),
            resources: role.resources.clone(),
        })
        .collect()
}

/// How many workers of each role are in the gang, lowest ranks first: in total exactly its size.
fn least(job: &Job) -> Vec<u32> {
    let mut left = job.gang;
    let mut take = |replicas: u32| {
        let taken = replicas.min(left);
        left -= taken;
        taken
    };
    job.roles.iter().map(|role| take(role.replicas)).collect()
}
