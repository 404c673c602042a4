//! Workers' reports: files in the project's workspace, read with the task's secrets masked.

use std::io;
use std::sync::Arc;

use cubeloom_domain::executor::Report;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_files::own;
use cubeloom_workers::mask::Masker;
use cubeloom_workers::place::Place;
use cubeloom_workers::{logs, outputs};

use crate::attempt::Known;
use crate::cluster::Cluster;

/// The workers of a job, by rank.
pub fn workers(job: &Job) -> impl Iterator<Item = WorkerName> + '_ {
    let names = |role: &str, count: u32| {
        let role = role.to_owned();
        (0..count).map(move |index| WorkerName { role: role.clone(), index })
    };
    job.roles.iter().flat_map(move |role| names(&role.name, role.replicas))
}

/// The reports of a job's workers so far.
pub fn so_far(cluster: &Cluster, known: &Known) -> io::Result<Vec<Arc<Report>>> {
    let own = match cluster.folders.outputs(&known.job.project, &known.job.key) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        own => own?,
    };
    let read = |worker| cluster.reports.read(readable(cluster, known, &worker, own(&worker))?);
    workers(&known.job).map(read).collect()
}

/// The merged report of all workers, at the end.
#[must_use]
pub fn whole(cluster: &Cluster, known: &Known) -> Report {
    let mut report = Report::default();
    let own = cluster.folders.outputs(&known.job.project, &known.job.key);
    for worker in workers(&known.job) {
        let file = match &own {
            Ok(own) => readable(cluster, known, &worker, own(&worker)),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        outputs::add_file(&mut report, &worker.to_string(), file);
    }
    report
}

/// The file to read a worker's reports from: its own, or a masked copy if the task has secrets.
fn readable(cluster: &Cluster, known: &Known, worker: &WorkerName, own: Place) -> io::Result<Place> {
    if known.masks.is_empty() || !own.exists() {
        return Ok(own);
    }
    let copy = cluster.folders.worker(&known.job.key, worker).join("outputs.jsonl");
    if logs::len(&copy)? == 0 || newer(&own, &Place::from(&copy)) {
        let mut masker = Masker::new(&known.masks);
        let mut text = masker.push(&logs::range(&own, 0, outputs::length(&own))?.bytes);
        text.extend(masker.finish());
        own::create_dir_all(copy.parent().unwrap_or(&copy))?;
        own::write(&copy, text)?;
    }
    Ok(copy.into())
}

fn newer(one: &Place, other: &Place) -> bool {
    let changed = |place: &Place| place.metadata().and_then(|found| found.modified()).ok();
    changed(one) > changed(other)
}
