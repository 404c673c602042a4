//! Plays a scenario: hours of a task's life, evaluated every two minutes by the server's rules.
//!
//! A scenario is a text file: lines `# …` are comments, others are `name: value`.
//!
//! - `expect: RULE` or `expect: RULE of WORKER, WORKER`: a recommendation at some time, with all workers that
//!   it ever names. There are no others. `hang by cards` and `hang by steps` are rules here, too.
//! - `hours: 3`, `cores: 8` (of each worker), `card: 80` (GPU memory in GiB): these are the defaults.
//! - `far_cores: 0.5`, `warm_up: 900`: thresholds by name, for smaller workers and shorter tasks.
//! - `workers: ps 3, worker 4`: roles with their number of workers; one `worker` by default.
//! - `cards: worker`: the role with GPUs; by default all have one. `none` means none.
//! - `use`, `memory` (both of the GPU, from 0 to 1), `power` (W), `cpu` (cores), `io_wait` (from 0 to 1),
//!   `step` (1 if the program reports one, 0 if it reports none): the course of a metric, of all workers, or
//!   of some with `use of worker-2:` and `cpu of ps:`. The last line that covers a time applies:
//!   - `0.9 noise 0.05`: always, with noise of up to this in both directions,
//!   - `every 600 s for 30 s at 0.1`, the first time after 600 s,
//!   - `random every 600 s for 30 s at 0.1`: as often on average, at random times,
//!   - `from 0 s to 480 s at 0`; `at -` is a gap,
//!   - `series 0.31 0.3 - 0.32`: recorded values, one per 30 seconds.
//!
//! Noise and random times come from a generator seeded with the scenario's name: scenarios are deterministic.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::executor::Progress;
use cubeloom_domain::hang::HangPolicy;
use cubeloom_domain::monitoring::{CardHistory, CardMeasure};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::pace::{Gait, Pace};
use cubeloom_domain::usage::{CardsSample, UsageSample, WorkerUsage};
use cubeloom_domain::{Bytes, Timestamp, hang, idle};
use cubeloom_monitoring::advice::{Advice, Held, Peer, Remedy, Sharing, Thresholds, of_task};

/// Interval between two values in seconds, as in queries to Prometheus.
const STEP: usize = 30;
/// Number of values in the hour that rules use.
const HOUR: usize = 121;
/// Number of values between two evaluations.
const LOOK: usize = 4;
const GIB: f64 = 1_073_741_824.0;

pub struct Scenario {
    name: String,
    hours: f64,
    cores: f64,
    /// In GiB.
    card: f64,
    workers: Vec<Worker>,
    lines: Vec<Line>,
    thresholds: Thresholds,
    /// Expected recommendations and their workers; any workers if empty.
    pub expected: BTreeMap<String, BTreeSet<String>>,
}

struct Worker {
    name: String,
    role: String,
    has_card: bool,
}

/// The course of a metric.
struct Line {
    measure: String,
    /// A worker or a role. `None` means all.
    of: Option<String>,
    course: Course,
}

enum Course {
    Level(f64, f64),
    Every(Spell),
    Random(Spell),
    Between(f64, f64, Option<f64>),
    Series(Vec<Option<f64>>),
}

/// A repeated event.
struct Spell {
    every: f64,
    long: f64,
    value: Option<f64>,
}

/// Pseudo-random numbers from 0 to 1 (xorshift), deterministic by name.
struct Chance(u64);

impl Chance {
    fn of(name: &str) -> Self {
        let mixed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(mixed | 1)
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % 100_000) as f64 / 100_000.0
    }
}

impl Scenario {
    /// Parses a scenario.
    ///
    /// # Panics
    /// If a line is invalid.
    pub fn read(name: &str, text: &str) -> Self {
        let mut read = Self {
            name: name.to_owned(),
            hours: 3.0,
            cores: 8.0,
            card: 80.0,
            workers: vec![Worker { name: "worker-0".into(), role: "worker".into(), has_card: true }],
            lines: Vec::new(),
            thresholds: Thresholds::default(),
            expected: BTreeMap::new(),
        };
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("{name}: {line}"));
            match key {
                "hours" => read.hours = number(value),
                "cores" => read.cores = number(value),
                "card" => read.card = number(value),
                "far_cores" => read.thresholds.far_cores = number(value),
                "warm_up" => read.thresholds.warm_up = number(value),
                "workers" => read.workers = value.split(", ").flat_map(role).collect(),
                "cards" => read.workers.iter_mut().for_each(|worker| worker.has_card = worker.role == value),
                "expect" => {
                    let (rule, workers) = value.split_once(" of ").unwrap_or((value, ""));
                    let workers = workers.split(", ").filter(|name| !name.is_empty()).map(str::to_owned);
                    read.expected.insert(rule.to_owned(), workers.collect());
                }
                _ => {
                    let (measure, of) = key.split_once(" of ").map_or((key, None), |(a, b)| (a, Some(b)));
                    assert!(
                        ["use", "memory", "power", "cpu", "io_wait", "step"].contains(&measure),
                        "{name}: {line}"
                    );
                    let course = course(value).unwrap_or_else(|| panic!("{name}: {line}"));
                    let of = of.map(str::to_owned);
                    read.lines.push(Line { measure: measure.to_owned(), of, course });
                }
            }
        }
        read
    }

    /// Its length, in hours.
    pub fn hours(&self) -> f64 {
        self.hours
    }

    /// All recommendations, with the affected workers.
    pub fn play(&self) -> BTreeMap<String, BTreeSet<String>> {
        let count = (self.hours * 3600.0) as usize / STEP;
        let all: Vec<_> = self.workers.iter().map(|worker| self.measured(worker, count)).collect();
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for now in (0..count).step_by(LOOK) {
            let histories: Vec<CardHistory> = all.iter().map(|series| hour(series, now)).collect();
            let peers: Vec<Peer<'_>> = self
                .workers
                .iter()
                .zip(&histories)
                .map(|(worker, history)| {
                    let card_memory = worker.has_card.then_some(self.card * GIB);
                    let seconds = (now * STEP) as f64;
                    // Several workers train together.
                    let is_gang = self.workers.len() > 1;
                    let sharing = Sharing { processes: is_gang.then_some(1), parts: !is_gang };
                    let held = Held {
                        history,
                        seconds,
                        cores: Some(self.cores),
                        asked: None,
                        card_memory,
                        memory: None,
                        sharing,
                    };
                    Peer { worker: &worker.name, role: &worker.role, held }
                })
                .collect();
            for (advice, workers) in of_task(&peers, &self.thresholds) {
                is_named(&advice);
                found.entry(advice.rule.to_owned()).or_default().extend(workers);
            }
            if self.hangs_by_cards(&all, now) {
                found.entry("hang by cards".to_owned()).or_default();
            }
            if self.hangs_by_steps(count, now) {
                found.entry("hang by steps".to_owned()).or_default();
            }
        }
        found
    }

    /// Whether it hangs now by its GPUs.
    fn hangs_by_cards(&self, all: &[BTreeMap<CardMeasure, Vec<Option<f64>>>], now: usize) -> bool {
        let with_cards = self.workers.iter().zip(all).filter(|(worker, _)| worker.has_card);
        let workers: Vec<WorkerUsage> =
            with_cards.map(|(worker, series)| usage(worker, series, now)).collect();
        let seen = idle::look(&workers, workers.len() as u32, moment(now));
        seen.is_some_and(|seen| idle::judge(&seen, None, &HangPolicy::default(), moment(now)).is_some())
    }

    /// Whether it hangs now by the steps that its ranks have reported.
    fn hangs_by_steps(&self, count: usize, now: usize) -> bool {
        let gait = |worker: &Worker| {
            let mut gait = Gait::default();
            let steps = self.course("step", worker, count).unwrap_or_default();
            let told = steps.iter().take(now + 1).enumerate();
            for (at, _) in told.filter(|(_, value)| value.is_some_and(|value| value >= 1.0)) {
                let progress = Progress { step: at as f64, total: None };
                gait.step(progress, moment(at), moment(at));
            }
            gait
        };
        let gaits: Vec<Gait> = self.workers.iter().map(gait).collect();
        let pace = Pace::of(gaits.iter().map(|gait| (gait, false)));
        pace.is_some_and(|pace| hang::judge(&pace, &HangPolicy::default(), moment(now)).is_some())
    }

    fn measured(&self, worker: &Worker, count: usize) -> BTreeMap<CardMeasure, Vec<Option<f64>>> {
        let of_card = [
            ("use", CardMeasure::Usage, 1.0),
            ("memory", CardMeasure::MemoryUsed, self.card * GIB),
            ("power", CardMeasure::Power, 1.0),
        ];
        let of_worker = [("cpu", CardMeasure::HolderCpu, 1.0), ("io_wait", CardMeasure::IoWait, 1.0)];
        let told = of_card.iter().filter(|_| worker.has_card).chain(&of_worker);
        told.filter_map(|(name, measure, factor)| {
            let values = self.course(name, worker, count)?;
            let scaled = values.into_iter().map(|value| Some(value?.max(0.0) * factor));
            Some((*measure, scaled.collect()))
        })
        .collect()
    }

    fn course(&self, measure: &str, worker: &Worker, count: usize) -> Option<Vec<Option<f64>>> {
        let is_of = |line: &&Line| {
            let of = line.of.as_ref();
            line.measure == measure && of.is_none_or(|of| *of == worker.name || *of == worker.role)
        };
        let mut values = None;
        for line in self.lines.iter().filter(is_of) {
            // All workers have phases at the same times; noise is independent.
            let mut chance = Chance::of(&match line.course {
                Course::Level(..) => format!("{} {measure} {}", self.name, worker.name),
                _ => format!("{} {measure}", self.name),
            });
            let values = values.get_or_insert_with(|| vec![None; count]);
            line.course.put(values, &mut chance);
        }
        values
    }
}

impl Course {
    fn put(&self, values: &mut [Option<f64>], chance: &mut Chance) {
        let moment = |at: usize| (at * STEP) as f64;
        match self {
            Self::Level(level, noise) => {
                values.iter_mut().for_each(|value| *value = Some(level + noise * (2.0 * chance.next() - 1.0)))
            }
            Self::Series(recorded) => {
                values.iter_mut().zip(recorded).for_each(|(value, recorded)| *value = *recorded)
            }
            Self::Between(from, to, value) => {
                for (at, slot) in values.iter_mut().enumerate() {
                    if (*from..*to).contains(&moment(at)) {
                        *slot = *value;
                    }
                }
            }
            Self::Every(spell) => {
                for (at, slot) in values.iter_mut().enumerate() {
                    if moment(at) >= spell.every && moment(at) % spell.every < spell.long {
                        *slot = spell.value;
                    }
                }
            }
            Self::Random(spell) => {
                let mut until = 0.0;
                for (at, slot) in values.iter_mut().enumerate() {
                    if chance.next() < STEP as f64 / spell.every {
                        until = moment(at) + spell.long;
                    }
                    if moment(at) < until {
                        *slot = spell.value;
                    }
                }
            }
        }
    }
}

/// Time of a value.
fn moment(at: usize) -> Timestamp {
    Timestamp((at * STEP) as i64 * 1_000_000)
}

/// Usage of a worker's GPU until now, as the cluster keeps it.
fn usage(worker: &Worker, series: &BTreeMap<CardMeasure, Vec<Option<f64>>>, now: usize) -> WorkerUsage {
    let value = |measure, at: usize| series.get(&measure).and_then(|values| values[at]);
    let sample = |at: usize| {
        let cards = CardsSample {
            cards: 1,
            use_percent: (value(CardMeasure::Usage, at)? * 100.0).round() as u32,
            memory: Bytes(value(CardMeasure::MemoryUsed, at).unwrap_or_default() as u64),
            power_mw: (value(CardMeasure::Power, at).unwrap_or_default() * 1000.0) as u64,
        };
        Some(UsageSample {
            at: moment(at),
            cpu_us: 0,
            memory: Bytes(0),
            throttled_us: None,
            cpu_wait_us: None,
            disk_read: None,
            disk_written: None,
            io_wait_us: None,
            cards: Some(cards),
        })
    };
    let index = worker.name.rsplit('-').next().map_or(0, |index| number(index) as u32);
    let worker = WorkerName { role: worker.role.clone(), index };
    WorkerUsage { worker, samples: (0..=now).filter_map(sample).collect() }
}

/// The hour before a time; there are no values before the beginning.
fn hour(series: &BTreeMap<CardMeasure, Vec<Option<f64>>>, now: usize) -> CardHistory {
    let cut = |values: &Vec<Option<f64>>| {
        let known = &values[(now + 1).saturating_sub(HOUR)..=now];
        let before = std::iter::repeat_n(None, HOUR - known.len());
        before.chain(known.iter().copied()).collect()
    };
    let series = series.iter().map(|(measure, values)| (*measure, cut(values))).collect();
    CardHistory { start: 0.0, step: STEP as f64, series }
}

fn role(text: &str) -> Vec<Worker> {
    let (role, count) = text.split_once(' ').unwrap_or((text, "1"));
    let worker = |index| Worker { name: format!("{role}-{index}"), role: role.to_owned(), has_card: true };
    (0..number(count) as u32).map(worker).collect()
}

fn course(text: &str) -> Option<Course> {
    let words: Vec<&str> = text.split(' ').filter(|word| *word != "s").collect();
    let value = |word: &str| (word != "-").then(|| number(word));
    let spell = |every: &str, long: &str, at: &str| Spell {
        every: number(every),
        long: number(long),
        value: value(at),
    };
    Some(match words.as_slice() {
        [level] => Course::Level(number(level), 0.0),
        [level, "noise", noise] => Course::Level(number(level), number(noise)),
        ["every", every, "for", long, "at", at] => Course::Every(spell(every, long, at)),
        ["random", "every", every, "for", long, "at", at] => Course::Random(spell(every, long, at)),
        ["from", from, "to", to, "at", at] => Course::Between(number(from), number(to), value(at)),
        ["series", recorded @ ..] => Course::Series(recorded.iter().map(|word| value(word)).collect()),
        _ => return None,
    })
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// Recommendations name settings of PyTorch, TensorFlow and the pipeline. The exception: a GPU with spare
/// capacity but not enough for a second process has no pipeline setting.
fn is_named(advice: &Advice) {
    let any =
        |name: fn(&Remedy) -> Option<&'static str>| advice.remedies.iter().any(|one| name(one).is_some());
    assert!(any(|one| one.pytorch) && any(|one| one.tensorflow), "{advice:#?}");
    let shares = advice.remedies.iter().filter(|one| one.what.starts_with("Share the GPU"));
    assert!(shares.clone().all(|one| one.pytorch.is_some() && one.tensorflow.is_some()), "{advice:#?}");
    let is_bigger_batch = advice.rule == "memory_empty" && !advice.evidence.contains("fit on it");
    assert!(any(|one| one.setting) || is_bigger_batch, "{advice:#?}");
}
