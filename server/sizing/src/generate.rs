//! Synthetic traces from a seed. They resemble published data of shared clusters for science and machine
//! learning. Most users request 1.2 to 6 times the peak that they need, in round numbers. Most tasks recur
//! with nearly the same peak; some follow the size of their input; some have two modes; some grow. Run times
//! span four orders of magnitude. Nothing in them is measured.

use crate::trace::{Attempt, Status};

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// The dominant kind of tasks in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A mix of all kinds.
    Mixed,
    /// Nightly pipelines: the same peak with little noise, and occasionally another version.
    Pipelines,
    /// Scientific workflows: many short tasks whose memory follows their input.
    Workflows,
    /// Training: few, long and large tasks; two modes (a trial run, the full run); growth with the data.
    Training,
    /// Notebooks and one-off programs: few attempts per task, with a wide spread.
    Adhoc,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Mixed, Self::Pipelines, Self::Workflows, Self::Training, Self::Adhoc];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Pipelines => "pipelines",
            Self::Workflows => "workflows",
            Self::Training => "training",
            Self::Adhoc => "adhoc",
        }
    }

    /// Parses a kind's name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Distribution of a task's peaks.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Log-normal with a small spread.
    Steady { spread: f64 },
    /// Proportional to the size of the input.
    Input { each: f64, spread: f64 },
    /// One of two modes, with this probability for the larger one.
    Two { larger: f64, chance: f64, spread: f64 },
    /// Grows a little each time, until another version that needs less or more.
    Grows { each: f64, spread: f64 },
    /// Log-normal with a large spread.
    Wild { spread: f64 },
}

/// A trace of about this many attempts.
#[must_use]
pub fn trace(kind: Kind, attempts: usize, seed: u64) -> Vec<Attempt> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut made = Vec::with_capacity(attempts);
    let mut n = 0;
    while made.len() < attempts {
        n += 1;
        let task = format!("{}-{n}", kind.name());
        let kind = match kind {
            Kind::Mixed => Kind::ALL[1 + random.below(4)],
            other => other,
        };
        Task::new(task, kind, &mut random).attempts(&mut random, &mut made);
    }
    made.truncate(attempts);
    made.sort_by(|a: &Attempt, b| a.submitted.total_cmp(&b.submitted));
    made
}

struct Task {
    name: String,
    shape: Shape,
    /// In bytes.
    base: f64,
    request: f64,
    cpu: f64,
    cpu_used: f64,
    hours: f64,
    count: usize,
    /// Seconds between two attempts.
    gap: f64,
}

impl Task {
    fn new(name: String, kind: Kind, random: &mut Random) -> Self {
        let base = GIB * 2.0_f64.powf(random.between(-2.0, 5.0));
        let steady = |random: &mut Random| Shape::Steady { spread: random.between(0.005, 0.08) };
        let input = |random: &mut Random| Shape::Input {
            each: random.between(0.5, 8.0),
            spread: random.between(0.01, 0.12),
        };
        let two = |random: &mut Random| Shape::Two {
            larger: random.between(1.5, 6.0),
            chance: random.between(0.02, 0.5),
            spread: random.between(0.01, 0.06),
        };
        let grows = |random: &mut Random| Shape::Grows {
            each: random.between(0.001, 0.02),
            spread: random.between(0.01, 0.05),
        };
        let wild = |random: &mut Random| Shape::Wild { spread: random.between(0.2, 0.8) };
        let (shape, count, hours) = match (kind, random.below(10)) {
            (Kind::Pipelines, 0..=6) => (steady(random), 30 + random.below(200), -2.0),
            (Kind::Pipelines, 7..=8) => (grows(random), 30 + random.below(200), -2.0),
            (Kind::Pipelines, _) => (two(random), 30 + random.below(200), -2.0),
            (Kind::Workflows, 0..=5) => (input(random), 20 + random.below(400), -5.0),
            (Kind::Workflows, 6..=8) => (steady(random), 20 + random.below(400), -5.0),
            (Kind::Workflows, _) => (wild(random), 20 + random.below(100), -5.0),
            (Kind::Training, 0..=3) => (steady(random), 5 + random.below(40), 1.0),
            (Kind::Training, 4..=6) => (two(random), 5 + random.below(40), 1.0),
            (Kind::Training, _) => (grows(random), 5 + random.below(40), 1.0),
            (Kind::Adhoc | Kind::Mixed, 0..=4) => (wild(random), 1 + random.below(12), -1.0),
            (Kind::Adhoc | Kind::Mixed, _) => (steady(random), 1 + random.below(12), -1.0),
        };
        let most = base
            * match shape {
                Shape::Two { larger, .. } => larger,
                Shape::Input { .. } => 3.0,
                Shape::Grows { each, .. } => (each * count as f64).exp(),
                Shape::Wild { spread } => (2.0 * spread).exp(),
                Shape::Steady { .. } => 1.0,
            };
        // Round numbers, usually far above the need; one in fifty is sometimes too low.
        let over = if random.below(50) == 0 { random.between(0.9, 1.1) } else { random.between(1.2, 6.0) };
        let request = GIB * 2.0_f64.powf((most * over / GIB).log2().ceil()).max(1.0);
        let cpu = 2.0_f64.powi(i32::try_from(random.below(5)).unwrap_or(0));
        Self {
            name,
            shape,
            base,
            request,
            cpu,
            cpu_used: cpu * random.between(0.1, 0.9),
            hours: 2.0_f64.powf(hours + random.between(-3.0, 3.0)),
            count,
            gap: 3600.0 * 2.0_f64.powf(random.between(-4.0, 4.6)),
        }
    }

    fn attempts(&self, random: &mut Random, made: &mut Vec<Attempt>) {
        let mut at = random.between(0.0, 30.0 * 86_400.0);
        let mut version = 1.0;
        for n in 0..self.count {
            if random.below(150) == 0 {
                version = random.between(0.6, 1.5);
            }
            let size = GIB * 2.0_f64.powf(random.between(-4.0, 2.0));
            let (factor, input) = match self.shape {
                Shape::Steady { spread } => ((spread * random.normal()).exp(), None),
                Shape::Input { each, spread } => {
                    let grown = (self.base * 0.2 + size * each * 0.25) / self.base;
                    (grown * (spread * random.normal()).exp(), Some(size))
                }
                Shape::Two { larger, chance, spread } => {
                    let mode = if random.unit() < chance { larger } else { 1.0 };
                    (mode * (spread * random.normal()).exp(), None)
                }
                Shape::Grows { each, spread } => ((each * n as f64 + spread * random.normal()).exp(), None),
                Shape::Wild { spread } => ((spread * random.normal()).exp(), None),
            };
            let needs = self.base * factor * version;
            let status = if needs > self.request {
                Status::OutOfMemory
            } else if random.below(40) == 0 {
                Status::Failed
            } else {
                Status::Succeeded
            };
            let seconds = 3600.0 * self.hours * (0.4 * random.normal()).exp();
            made.push(Attempt {
                task: self.name.clone(),
                submitted: at,
                started: None,
                finished: at + seconds,
                requested_cpu: self.cpu,
                requested_memory: self.request,
                peak_memory: needs.min(self.request),
                cpu_used: self.cpu_used * random.between(0.8, 1.1),
                input,
                status,
            });
            at += self.gap * random.between(0.5, 1.5);
        }
    }
}

/// xorshift64*, which is the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count.saturating_sub(1))
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (self.unit().max(1e-12), self.unit());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}
