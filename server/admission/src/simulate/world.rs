//! The simulated cluster: its queues, users and jobs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};

use super::Scenario;
use crate::amounts::Ask;
use crate::desk::Desk;
use crate::forecast::draw;
use crate::job::{Elastic, Length, Spec};
use crate::random::Random;
use crate::settings::Settings;

const GIB: u64 = 1 << 30;

/// Projects, with their share of all jobs in percent.
const PROJECTS: [(&str, u64); 6] =
    [("vision", 25), ("speech", 20), ("ads", 20), ("search", 10), ("lab", 15), ("guests", 10)];

/// Gang sizes in GPUs, with their share of all jobs in percent.
const SIZES: [(u64, u64); 7] = [(1, 40), (2, 20), (4, 15), (8, 14), (16, 7), (32, 3), (64, 1)];

/// Kinds of tasks: median duration in minutes, and its spread.
const TASKS: [(&str, u64, f64); 4] =
    [("evaluate", 10, 0.4), ("tune", 40, 0.7), ("train", 90, 0.6), ("pretrain", 210, 0.5)];

/// A job of the month. Only the simulation knows its duration: the spec has what is known on arrival.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) at: Duration,
    pub(super) spec: Spec,
    pub(super) takes: Duration,
}

/// Capacity of a cluster with this many GPUs.
pub(super) fn room(gpus: u64) -> Ask {
    Ask::of(gpus * 16_000, gpus * 128 * GIB, 0, gpus)
}

/// A scheduler of the cluster that currently has `now` of its `gpus` GPUs.
pub(super) fn desk(gpus: u64, now: u64) -> Desk {
    let mut desk = Desk::new("sim", Settings::default());
    desk.set_room(room(now), BTreeMap::new());
    desk.set_queues(&queues(gpus));
    desk
}

/// The tree: two groups with two projects each; the others have no guarantee.
fn queues(gpus: u64) -> Arc<Vec<QueueRecord>> {
    let cards = |part: u64| Amounts::from_iter([(Resource::Gpus, gpus * part / 12)]);
    let own = |part: u64| Quota { guarantee: cards(part), ..Quota::default() };
    let record = |queue: Queue, parent: Option<&str>, quota: Quota| QueueRecord {
        queue,
        parent: parent.map(Into::into),
        quotas: BTreeMap::from([(Pool { cluster: "sim".into(), node_group: None }, quota)]),
        revision: 1,
    };
    let project = |name: &str| Queue::Project(name.into());
    Arc::new(vec![
        record(Queue::Group("research".into()), None, own(4)),
        record(project("vision"), Some("research"), Quota { weight: 200, ..own(2) }),
        record(project("speech"), Some("research"), own(2)),
        record(Queue::Group("product".into()), None, own(4)),
        record(project("ads"), Some("product"), Quota { per_person: cards(6), limit: cards(10), ..own(3) }),
        record(project("search"), Some("product"), Quota { lend: false, ..own(1) }),
        record(project("guests"), None, Quota { limit: cards(6), weight: 50, ..Quota::default() }),
    ])
}

fn pick<T: Copy>(random: &mut Random, choices: &[(T, u64)]) -> T {
    let mut at = random.below(choices.iter().map(|(_, part)| part).sum());
    for (choice, part) in choices {
        match at.checked_sub(*part) {
            Some(rest) => at = rest,
            None => return *choice,
        }
    }
    choices[0].0
}

/// The jobs of a month in order of arrival: more by day than by night.
pub(super) fn jobs(scenario: &Scenario, random: &mut Random) -> Vec<Planned> {
    let mean = scenario.length.as_secs_f64() / scenario.jobs.max(1) as f64;
    let mut at = 0.0;
    let mut jobs = Vec::with_capacity(scenario.jobs);
    for number in 0..scenario.jobs {
        let hour = (at / 3600.0) % 24.0;
        let busy = if (9.0..21.0).contains(&hour) { 1.5 } else { 0.5 };
        at += random.wait(mean / busy);
        let (spec, takes) = job(number, random, scenario.gpus);
        jobs.push(Planned { at: Duration::from_secs_f64(at), spec, takes });
    }
    jobs
}

/// Share of all GPUs that the jobs would use with their minimum workers, without failures and preemptions.
pub(super) fn offered(jobs: &[Planned], scenario: &Scenario) -> f64 {
    let cards = |ask: &Ask| ask.cards.iter().map(|(_, count)| *count).sum::<u64>() as f64;
    let held = |spec: &Spec| {
        let elastic =
            spec.elastic.as_ref().map_or(0.0, |elastic| f64::from(elastic.min) * cards(&elastic.each));
        cards(&spec.fixed) + elastic
    };
    let all: f64 = jobs.iter().map(|job| held(&job.spec) * job.takes.as_secs_f64()).sum();
    all / (scenario.gpus as f64 * scenario.length.as_secs_f64())
}

fn job(number: usize, random: &mut Random, gpus: u64) -> (Spec, Duration) {
    let project = pick(random, &PROJECTS);
    let size = pick(random, &SIZES).min(gpus / 3);
    let (task, minutes, spread) = TASKS[random.below(4) as usize];
    let length = Length { median: Duration::from_secs(minutes * 60), spread };
    let each = |count: u64| Ask::of(count * 8_000, count * 64 * GIB, count, count);
    let is_elastic = size >= 4 && random.below(5) == 0;
    let least = if is_elastic { size / 2 } else { size };
    let elastic = is_elastic.then(|| Elastic {
        each: each(1),
        min: least as u32 - 1,
        max: size as u32 * 2 - 1,
        scales: true,
    });
    let spec = Spec {
        key: format!("job-{number}"),
        name: task.into(),
        project: project.into(),
        person: format!("{project}-{}", random.below(5)),
        run: number as u128 / 3,
        priority: pick(random, &[(0, 80), (1, 15), (5, 5)]),
        fixed: each(if is_elastic { 1 } else { size }),
        elastic,
        timeout: (random.below(3) == 0).then_some(Duration::from_secs(minutes * 600)),
        ..Spec::default()
    };
    let takes = draw(&length, random);
    (spec, takes)
}
