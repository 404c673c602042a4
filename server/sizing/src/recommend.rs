//! What a role's workers get in the next attempt, from the history of earlier ones.

use cubeloom_domain::sizing::{Kept, NoMore, Past, PastEnd, Reason, Size, SizedRole};
use cubeloom_domain::usage::THROTTLED;
use cubeloom_domain::{Bytes, Cpu, Timestamp};

use crate::learner::{Advice, Basis, GROWTH, Learner, NEAR, Settings};
use crate::shares::share_used;
use crate::trace::{Attempt, Status};

/// Minimum recommended CPU, in millicores.
const LEAST_CPU: u64 = 100;
/// Number of latest attempts whose CPU counts.
const CPU_WINDOW: usize = 20;
/// Minimum number of attempts for a CPU recommendation.
const CPU_ENOUGH: usize = 3;
/// An attempt with unknown throttling may have been throttled if it used at least this share of its CPU.
const AT_LIMIT: f64 = 0.9;
/// A throttled program gets at most this many times its request: many programs use whatever is available.
const MOST_CPU: u64 = 2;
/// The previous attempt's memory is kept if it exceeds the wanted amount by at most this factor: frequent
/// small changes are useless.
const CLOSE: f64 = 1.15;
/// Key of the task itself among others of its template. No task has this name.
const OWN: &str = "";

/// What is known of a role when an attempt is about to start.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    pub role: &'a str,
    pub asked: Size,
    /// Which amounts are fixed.
    pub kept: Kept,
    /// Its fingerprint.
    pub make: &'a str,
    /// Input size in bytes, if known.
    pub input: Option<u64>,
    /// Earlier attempts of the task, newest last.
    pub past: &'a [Past],
    /// Earlier attempts of tasks with the same template: the spread of their peaks counts if little is known
    /// of the task.
    pub kin: &'a [Past],
    /// Earlier attempts of each role of the pipeline's other tasks: their usage relative to their requests
    /// counts until an attempt of the task has ended.
    pub others: Vec<&'a [Past]>,
    /// Maximum of each worker, unless it requests more: the largest node, or the project's bound.
    pub most: Size,
    /// Memory beyond the program's own, such as that of `/dev/shm`.
    pub beside: Bytes,
    /// Memory that was not enough for the previous attempt of the same instance.
    pub ran_out: Option<Bytes>,
    /// Number of other running attempts of the task.
    pub running: usize,
}

/// What earlier attempts of a task teach about a role. Computed once for many attempts.
#[derive(Clone, Debug)]
pub struct Taught {
    learner: Learner,
    /// Number of attempts of the task, and of those for which the recommendation at that time would have been
    /// enough.
    known: u32,
    held: u32,
}

impl Taught {
    /// Trains the rule that is scored on traces with the attempts of a question.
    #[must_use]
    pub fn of(question: &Question<'_>) -> Self {
        let mut taught = Self::new(question.make, question.past, question.kin);
        if taught.known == 0 {
            learn_shares(&mut taught.learner, question);
        }
        taught
    }

    /// The same with these attempts only, in order.
    #[must_use]
    pub fn new(make: &str, past: &[Past], kin: &[Past]) -> Self {
        let past = || past.iter().filter(|past| past.make == make);
        let mut learner = Learner::default();
        for kin in kin.iter().filter(|kin| kin.make == make) {
            // Attempts of the task itself follow below.
            if !past().any(|past| past.attempt == kin.attempt) {
                learner.learn(&attempt(task_of(kin), kin), None);
            }
        }
        let (mut known, mut held) = (0, 0);
        for past in past() {
            let advice = advised(&learner, past.asked(), past.input, 0);
            known += 1;
            held += u32::from(is_enough(advice.memory, past));
            learner.learn(&attempt(OWN, past), Some(&advice));
        }
        Self { learner, known, held }
    }

    /// Confidence that the recommendation is enough for the next attempt: the share of attempts for which it
    /// would have been, with one assumed failure added. Before the first attempt, the same share of other
    /// tasks.
    fn confidence(&self, why: Reason) -> f64 {
        let (held, known) = match why {
            Reason::Others { tasks } => (tasks, tasks),
            _ => (self.held, self.known),
        };
        f64::from(held) / f64::from(known + 1)
    }

    /// Probability that this memory is not enough for the next attempt, by history. `None` without history.
    /// `question` must be the one of [`Self::of`].
    #[must_use]
    pub fn risk(&self, question: &Question<'_>, gets: Bytes) -> Option<f64> {
        if let Some(had) = question.ran_out {
            return Some(self.risk_after(had, gets));
        }
        let (input, gets) = (question.input.map(|input| input as f64), gets.0 as f64);
        let chance = self.learner.chance(OWN, gets, input, question.running);
        chance.or_else(|| self.learner.chance_of_new(OWN, question.asked.memory.0 as f64, gets))
    }

    /// The same for workers that are known to need more than `had`.
    #[must_use]
    pub fn risk_after(&self, had: Bytes, gets: Bytes) -> f64 {
        self.learner.chance_after(OWN, gets.0 as f64, had.0 as f64)
    }
}

/// Learns other tasks' usage relative to their requests, and that of attempts with another fingerprint.
fn learn_shares(learner: &mut Learner, question: &Question<'_>) {
    for past in question.others.iter().copied().chain([question.past]) {
        let shares = past
            .iter()
            .filter_map(|past| share_used(status(past), past.peak as f64, past.asked().memory.0 as f64));
        if let (Some(last), Some(largest)) = (past.last(), shares.reduce(f64::max)) {
            learner.learn_largest_share(task_of(last), largest);
        }
    }
}

/// The task of an attempt: `<run>.<task>.<instance>.<n>`.
fn task_of(past: &Past) -> &str {
    past.attempt.split('.').nth(1).unwrap_or_default()
}

/// Whether this memory would have been enough for an attempt.
fn is_enough(memory: f64, past: &Past) -> bool {
    match past.end {
        PastEnd::Succeeded => memory >= past.peak as f64,
        PastEnd::OutOfMemory => memory > past.had().memory.0 as f64,
    }
}

/// What a role's workers should get. Fixed amounts stay as requested, and nothing exceeds the request without
/// evidence that it is not enough.
#[must_use]
pub fn recommend(question: &Question<'_>) -> SizedRole {
    recommend_by(&Taught::of(question), question)
}

/// What each earlier attempt of the question would have got, in order, from the attempts that had ended
/// before it began, with its fingerprint and request. It shows whether a recommendation that was not applied
/// would have been enough.
#[must_use]
pub fn in_hindsight(question: &Question<'_>) -> Vec<Size> {
    let then = |of: &Past| {
        let began = Timestamp(of.ended_at.0.saturating_sub_unsigned(of.micros));
        let before = |all: &[Past]| -> Vec<Past> {
            all.iter().filter(|past| past.ended_at <= began).cloned().collect()
        };
        let known = |all: &[Past]| -> Vec<Past> {
            before(all).into_iter().filter(|past| past.make == of.make).collect()
        };
        let (past, kin) = (known(question.past), known(question.kin));
        // They count for the first attempts only.
        let others = if past.is_empty() { &*question.others } else { &[] };
        let others: Vec<Vec<Past>> = others.iter().map(|past| before(past)).collect();
        recommend(&Question {
            asked: of.asked(),
            make: &of.make,
            input: of.input,
            past: &past,
            kin: &kin,
            others: others.iter().map(Vec::as_slice).collect(),
            ran_out: None,
            running: 0,
            ..*question
        })
        .gets
    };
    question.past.iter().map(then).collect()
}

/// The same from what the attempts of the question have taught. A caller that gives less must call
/// [`Taught::risk`] again.
#[must_use]
pub fn recommend_by(taught: &Taught, question: &Question<'_>) -> SizedRole {
    let past: Vec<&Past> = question.past.iter().filter(|past| past.make == question.make).collect();
    // After a new request by the user, there is no previous amount to compare with.
    let before = past.last().filter(|past| past.asked() == question.asked).map(|past| past.had());
    let (memory, why) = memory(taught, question, &past);
    let (cpu, why_cpu) = cpu(question, &past);
    SizedRole {
        before,
        gets: Size { cpu, memory },
        bounded: bounded(question, memory, why),
        confidence: taught.confidence(why),
        risk: taught.risk(question, memory),
        ..SizedRole::asked(question.role, question.asked, why, why_cpu)
    }
}

/// The new memory of running workers that are close to their limit: half as much again, and at least the
/// request, as after an OOM kill.
#[must_use]
pub fn grown(had: Bytes, asked: Bytes) -> Bytes {
    Bytes(round_up((had.0 as f64 * GROWTH).max(asked.0 as f64)) as u64)
}

/// Limits what all roles' workers get above the request to the rest of `bound`, each in proportion. `counts`
/// has the number of workers by role.
pub fn keep_within(roles: &mut [SizedRole], counts: &[u32], bound: Size) {
    let sum = |amount: fn(&SizedRole) -> u64| {
        let each =
            roles.iter().zip(counts).map(|(role, count)| amount(role).saturating_mul(u64::from(*count)));
        each.fold(0, u64::saturating_add)
    };
    let memory = share(
        bound.memory.0.saturating_sub(sum(|role| role.asked.memory.0.min(role.gets.memory.0))),
        sum(|role| role.gets.memory.0.saturating_sub(role.asked.memory.0)),
    );
    let cpu = share(
        bound.cpu.0.saturating_sub(sum(|role| role.asked.cpu.0.min(role.gets.cpu.0))),
        sum(|role| role.gets.cpu.0.saturating_sub(role.asked.cpu.0)),
    );
    for role in roles {
        let (asked, gets) = (role.asked, &mut role.gets);
        gets.memory = Bytes(part(asked.memory.0, gets.memory.0, memory));
        gets.cpu = Cpu(part(asked.cpu.0, gets.cpu.0, cpu));
    }
}

/// The share of the wanted increase that fits.
fn share(room: u64, wanted: u64) -> f64 {
    if wanted <= room { 1.0 } else { room as f64 / wanted as f64 }
}

fn part(asked: u64, gets: u64, share: f64) -> u64 {
    if gets <= asked || share >= 1.0 { gets } else { asked + ((gets - asked) as f64 * share) as u64 }
}

fn memory(taught: &Taught, question: &Question<'_>, past: &[&Past]) -> (Bytes, Reason) {
    let asked = question.asked.memory;
    if let Some(by) = question.kept.memory {
        return (asked, Reason::Kept { by });
    }
    let advice = advised(&taught.learner, question.asked, question.input, question.running);
    let (mut wanted, mut why) = (advice.memory, reason(&advice));
    if let Some(had) = question.ran_out {
        let grown = (had.0 as f64 * GROWTH).max(asked.0 as f64);
        if grown > wanted || why == Reason::Asked {
            (wanted, why) = (grown.max(wanted), Reason::RanOut { had });
        }
    }
    if why == Reason::Asked {
        return (asked, why);
    }
    let before = past.last().map(|past| past.had().memory.0 as f64);
    let is_grown = matches!(why, Reason::RanOut { .. });
    let wanted = match before {
        // An increase above the request after an OOM kill is not kept permanently.
        Some(before) if !is_grown && wanted <= before && before <= wanted * CLOSE => {
            if wanted <= asked.0 as f64 { before.min(asked.0 as f64) } else { before }
        }
        _ if wanted <= asked.0 as f64 => round_up(wanted).min(asked.0 as f64),
        _ => round_up(wanted),
    };
    let gets =
        within(wanted as u64, asked.0, question.most.memory.0, question.beside.0.saturating_add(floor()));
    let is_near = gets < asked.0 && gets as f64 >= asked.0 as f64 * NEAR;
    if is_near || gets == asked.0 && !is_grown { (asked, Reason::Asked) } else { (Bytes(gets), why) }
}

/// What limited the workers' memory, if they get as much as any node has.
fn bounded(question: &Question<'_>, gets: Bytes, why: Reason) -> Option<NoMore> {
    let is_short = match why {
        Reason::Peaks { .. } | Reason::Inputs { .. } => true,
        Reason::RanOut { had } => grown(had, question.asked.memory) > gets,
        _ => false,
    };
    (is_short && gets >= question.most.memory).then_some(NoMore::Node)
}

fn floor() -> u64 {
    Settings::default().floor as u64
}

/// An amount below the request is at least `least`; one above it is at most `most`.
fn within(wanted: u64, asked: u64, most: u64, least: u64) -> u64 {
    if wanted <= asked { wanted.max(least).min(asked) } else { wanted.min(most).max(asked) }
}

/// Rounds up, by at most 1/32.
fn round_up(bytes: f64) -> f64 {
    let unit = 2.0_f64.powf((bytes.max(1.0).log2().floor() - 5.0).max(20.0));
    (bytes / unit).ceil() * unit
}

fn reason(advice: &Advice) -> Reason {
    let count = |attempts: usize| u32::try_from(attempts).unwrap_or(u32::MAX);
    match advice.basis {
        Basis::Request => Reason::Asked,
        Basis::Peaks(attempts) => Reason::Peaks { attempts: count(attempts) },
        Basis::Inputs(attempts) => Reason::Inputs { attempts: count(attempts) },
        Basis::Others(tasks) => Reason::Others { tasks: count(tasks) },
        Basis::OutOfMemory => Reason::RanOut { had: Bytes((advice.memory / GROWTH).round() as u64) },
    }
}

/// The rule's recommendation for the next attempt.
fn advised(learner: &Learner, asked: Size, input: Option<u64>, running: usize) -> Advice {
    let input = input.map(|input| input as f64);
    learner.advise(OWN, asked.memory.0 as f64, cores(asked.cpu.0), input, running)
}

fn cores(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

fn attempt(task: &str, past: &Past) -> Attempt {
    let finished = past.ended_at.0 as f64 / 1e6;
    Attempt {
        task: task.to_owned(),
        submitted: finished - past.micros as f64 / 1e6,
        started: None,
        finished,
        requested_cpu: cores(past.had.0),
        // An OOM killed attempt ran out of what it had. For others, the request shows whether it is enough.
        requested_memory: match past.end {
            PastEnd::OutOfMemory => past.had.1,
            PastEnd::Succeeded => past.asked().memory.0,
        } as f64,
        peak_memory: past.peak as f64,
        cpu_used: cores(past.cpu.1),
        input: past.input.map(|input| input as f64),
        status: status(past),
    }
}

fn status(past: &Past) -> Status {
    match past.end {
        PastEnd::Succeeded => Status::Succeeded,
        PastEnd::OutOfMemory => Status::OutOfMemory,
    }
}

/// Why an attempt got less CPU than it could have used: its limit throttled it, or it used all its guaranteed
/// CPU and waited for more. An attempt that waits below its guarantee only waits for its turn, as happens on
/// any busy machine.
fn held_back(past: &Past) -> Option<Reason> {
    let told = |thousandths: Option<u32>| thousandths.filter(|share| *share >= THROTTLED);
    let throttled = told(past.throttled).map(|share| Reason::Throttled { percent: share / 10 });
    let waited = told(past.cpu_waited).filter(|_| is_full(past));
    throttled.or(waited.map(|share| Reason::CpuWaited { percent: share / 10 }))
}

/// Whether an attempt could have used more CPU than it got.
#[must_use]
pub fn was_short_of_cpu(past: &Past) -> bool {
    held_back(past).is_some()
}

/// Whether it used almost all that it had, or more.
fn is_full(past: &Past) -> bool {
    past.cpu.1 as f64 >= past.had.0 as f64 * AT_LIMIT
}

/// Whether an attempt only shows a lower bound: it was throttled, or throttling is unknown and it used almost
/// all of its CPU.
fn is_at_least(past: &Past) -> bool {
    let is_told = past.throttled.or(past.cpu_waited).is_some();
    held_back(past).is_some() || !is_told && is_full(past)
}

fn cpu(question: &Question<'_>, past: &[&Past]) -> (Cpu, Reason) {
    let asked = question.asked.cpu;
    if let Some(by) = question.kept.cpu {
        return (asked, Reason::Kept { by });
    }
    let lately: Vec<&&Past> = past.iter().rev().filter(|past| past.cpu.1 > 0).take(CPU_WINDOW).collect();
    if lately.len() < CPU_ENOUGH {
        return (asked, Reason::Asked);
    }
    let most = lately.iter().map(|past| past.cpu.1).max().unwrap_or(0);
    let held =
        lately.iter().filter_map(|past| Some((past.had.0, held_back(past)?))).max_by_key(|held| held.0);
    // An attempt that was, or may have been, throttled needs at least what it had, even if its usage shows no
    // bursts.
    let at_least = lately.iter().filter(|past| is_at_least(past)).map(|past| past.had.0).max().unwrap_or(0);
    let wanted = (most + most / 10).max(at_least);
    // An attempt that had more and was not throttled shows how much is enough.
    let told = |had: u64| lately.iter().any(|past| !is_at_least(past) && past.had.0 > had);
    // Above the request, the evidence is a throttled attempt.
    let bound = held.map_or(asked.0, |_| asked.0.saturating_mul(MOST_CPU).min(question.most.cpu.0));
    let (wanted, why) = match held.filter(|(had, _)| !told(*had)) {
        Some((had, why)) => ((had + had / 2).max(wanted), why),
        None => (wanted, Reason::Peaks { attempts: u32::try_from(lately.len()).unwrap_or(u32::MAX) }),
    };
    let rounded = wanted.div_ceil(50) * 50;
    let before = lately.first().map_or(0, |past| past.had.0);
    let is_close = rounded <= before && before as f64 <= rounded as f64 * CLOSE;
    let gets = within(if is_close { before } else { rounded }, asked.0, bound, LEAST_CPU);
    let is_near = gets < asked.0 && gets as f64 >= asked.0 as f64 * NEAR;
    if gets == asked.0 || is_near { (asked, Reason::Asked) } else { (Cpu(gets), why) }
}
