//! Admission alone: a large queue, and a simulated month.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use cubeloom_admission::simulate::{Scenario, simulate};
use cubeloom_admission::{Ask, Desk, JobId, NodeRoom, Random, Settings, Spec};
use cubeloom_domain::Timestamp;
use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};

use super::Setting;
use super::figures::{Figure, median};

const QUEUES: u64 = 1_000;
const JOBS: u64 = 50_000;
const CARDS: u64 = 8_192;
const NODES: u64 = 1_000;
/// The random seed of the cases.
const SEED: u64 = 1;

/// GPUs per node, if the scheduler knows the nodes.
const CARDS_OF_A_NODE: u64 = 8;

/// 1,000 queues with 50,000 pending jobs.
pub async fn queue(_: Setting) -> anyhow::Result<Vec<Figure>> {
    Ok(measure(desk(CARDS)))
}

/// The same on a cluster that reports the allocations on each of its 1,000 nodes.
pub async fn nodes(_: Setting) -> anyhow::Result<Vec<Figure>> {
    let mut desk = desk(NODES * CARDS_OF_A_NODE);
    let node = NodeRoom { has: share(CARDS_OF_A_NODE), ..NodeRoom::default() };
    desk.set_nodes(vec![node; NODES as usize], Timestamp(0));
    Ok(measure(desk))
}

fn measure(mut desk: Desk) -> Vec<Figure> {
    let mut now = Timestamp(0).plus(Duration::from_secs(3600));
    let (mut held, begin): (Vec<JobId>, _) = (Vec::new(), Instant::now());
    // In batches of 128, as from an executor.
    loop {
        let pass = desk.pass(now, 128);
        held.extend(pass.starts.iter().map(|start| start.job));
        if !pass.more {
            break;
        }
    }
    let rate = held.len() as f64 / begin.elapsed().as_secs_f64();
    let quiet = passes(50, || {
        now = now.plus(Duration::from_secs(1));
        desk.pass(now, 128);
    });
    let mut random = Random::new(SEED);
    let one_ends = passes(200, || {
        let ended = held.swap_remove(random.below(held.len() as u64) as usize);
        now = now.plus(Duration::from_secs(1));
        desk.remove(ended, now);
        held.extend(desk.pass(now, 128).starts.iter().map(|start| start.job));
    });
    vec![
        Figure::new("admissions", rate, "/s").at_least(1000.0),
        Figure::new("a pass in which nothing changed", quiet, "ms").at_most(100.0),
        Figure::new("a job ends, and the pass after it", one_ends, "ms"),
    ]
}

/// The median of so many passes, in milliseconds.
fn passes(count: usize, mut one: impl FnMut()) -> f64 {
    let times: Vec<f64> = (0..count)
        .map(|_| {
            let begin = Instant::now();
            one();
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    median(&times)
}

/// A request for so many GPUs, with a proportional share of the rest.
fn share(cards: u64) -> Ask {
    Ask::of(cards * 16_000, cards << 37, 0, cards)
}

fn desk(cards: u64) -> Desk {
    let mut desk = Desk::new("bench", Settings::default());
    desk.set_room(share(cards), BTreeMap::new());
    let record = |queue: Queue, parent: Option<String>, guarantee: u64| {
        let guarantee = Amounts::from_iter([(Resource::Gpus, guarantee)]);
        let pool = Pool { cluster: "bench".into(), node_group: None };
        let quotas = BTreeMap::from([(pool, Quota { guarantee, ..Quota::default() })]);
        QueueRecord { queue, parent, quotas, revision: 1 }
    };
    let groups = (0..QUEUES / 10).map(|group| record(Queue::Group(format!("g{group}")), None, 40));
    let project = |at: u64| record(Queue::Project(format!("p{at}")), Some(format!("g{}", at / 10)), 4);
    desk.set_queues(&Arc::new(groups.chain((0..QUEUES).map(project)).collect()));
    let mut random = Random::new(SEED);
    for at in 0..JOBS {
        let gpus = 1_u64 << random.below(7);
        let (workers, each) = (gpus.div_ceil(CARDS_OF_A_NODE), gpus.min(CARDS_OF_A_NODE));
        let worker = |cards: u64| Ask::of(cards * 8_000, cards << 36, 1, cards);
        let spec = Spec {
            key: at.to_string(),
            name: "train".into(),
            project: format!("p{}", at % QUEUES),
            person: format!("u{}", random.below(5)),
            run: at.into(),
            priority: i32::from(random.below(10) == 0),
            fixed: Ask { pods: workers, ..worker(gpus) },
            gang: vec![(worker(each), workers as u32)],
            timeout: (random.below(2) == 0).then_some(Duration::from_secs(600 + random.below(36_000))),
            ..Spec::default()
        };
        desk.wait(spec, Timestamp(0).plus(Duration::from_millis(at)), None);
    }
    desk
}

/// A month of 10,000 jobs.
pub async fn month(_: Setting) -> anyhow::Result<Vec<Figure>> {
    let scenario = Scenario { seed: SEED, ..Scenario::default() };
    let begin = Instant::now();
    let report = simulate(&scenario).map_err(|error| anyhow!(error))?;
    let minutes = |wait: Duration| wait.as_secs_f64() / 60.0;
    let mut figures = vec![
        Figure::new("time", begin.elapsed().as_secs_f64(), "s"),
        Figure::baseline("jobs that succeeded", report.succeeded as f64, ""),
        Figure::baseline("jobs that failed three times", report.failed as f64, ""),
        Figure::baseline("attempts that gave back everything", report.preempted as f64, ""),
        Figure::baseline("most often given back by one job", f64::from(report.preempted_most), ""),
        Figure::baseline("times that workers were given back", report.workers_given_back as f64, ""),
        Figure::baseline("GPUs that the jobs need at least, of all", report.offered * 100.0, "%"),
        Figure::baseline("GPUs held, of all", report.utilisation * 100.0, "%"),
        Figure::baseline("times that a project was owed its guarantee", report.owed as f64, ""),
        Figure::baseline("of these while a node was lost", report.owed_with_less as f64, ""),
        Figure::baseline("restarts of the server", report.restarts as f64, ""),
        Figure::new("longest wait for a guarantee", report.longest_owed.as_secs_f64(), "s").at_most(61.0),
        Figure::baseline("estimates of starts", report.estimates as f64, ""),
        Figure::baseline("error of an estimate, median", minutes(report.error_median), "min"),
        Figure::baseline("error of an estimate, P90", minutes(report.error_p90), "min"),
        Figure::baseline("starts by the estimate's P90", report.within_p90 * 100.0, "%"),
    ];
    for (project, queue) in &report.queues {
        let figure =
            |what: &str, wait| Figure::baseline(&format!("wait of {project}, {what}"), minutes(wait), "min");
        figures.push(figure("median", queue.median));
        figures.push(figure("P90", queue.p90));
        figures.push(figure("longest", queue.longest));
    }
    Ok(figures)
}
