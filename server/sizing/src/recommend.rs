//! What the workers of one role of the next attempt get, from what is kept of earlier ones.

use cubeloom_domain::sizing::{Kept, NoMore, Past, PastEnd, Reason, Size, SizedRole};
use cubeloom_domain::usage::THROTTLED;
use cubeloom_domain::{Bytes, Cpu, Timestamp};

use crate::learner::{Advice, Basis, GROWTH, Learner, NEAR, Settings};
use crate::shares::share_used;
use crate::trace::{Attempt, Status};

/// The least processing power that is advised, in thousandths of a core.
const LEAST_CPU: u64 = 100;
/// Of how many attempts, the latest, the processing power counts.
const CPU_WINDOW: usize = 20;
/// Of fewer attempts nothing is said about processing power.
const CPU_ENOUGH: usize = 3;
/// One of which nobody tells whether it was held back may have been, where it used this share of what it had, or more.
const AT_LIMIT: f64 = 0.9;
/// Where a program is held back, it gets at most so many times what was asked for: many use whatever there is.
const MOST_CPU: u64 = 2;
/// What the attempt before had is kept where it is no more than this above what is wanted: amounts that change each time help
/// nobody.
const CLOSE: f64 = 1.15;
/// The task itself, beside others of its template. No task has this name.
const OWN: &str = "";

/// What is known of a role when an attempt is about to be made.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Role.
    pub role: &'a str,
    /// Request.
    pub asked: Size,
    /// Which of it is left alone.
    pub kept: Kept,
    /// What it is made of.
    pub make: &'a str,
    /// Input size in bytes, if known.
    pub input: Option<u64>,
    /// Earlier attempts at the task, the newest last.
    pub past: &'a [Past],
    /// Earlier attempts at tasks of the same template: how far their peaks lie apart counts where little is known of the task.
    pub kin: &'a [Past],
    /// Earlier attempts at each role of the pipeline's other tasks: what they used of their requests counts until one of the task has ended.
    pub others: Vec<&'a [Past]>,
    /// No worker gets more, unless that was asked for: the largest node, or what the project may hold.
    pub most: Size,
    /// Memory that is not the program's own, such as that of `/dev/shm`.
    pub beside: Bytes,
    /// What did not suffice the attempt before at the same instance.
    pub ran_out: Option<Bytes>,
    /// How many other attempts at the task run.
    pub running: usize,
}

/// What earlier attempts at a task teach of a role: made once where many attempts are about to be made.
#[derive(Clone, Debug)]
pub struct Taught {
    learner: Learner,
    /// How many attempts at the task there were, and how many of these would have had enough of what was advised before each.
    known: u32,
    held: u32,
}

impl Taught {
    /// What the rule that traces are scored with has learned from the attempts of a question.
    #[must_use]
    pub fn of(question: &Question<'_>) -> Self {
        let mut taught = Self::new(question.make, question.past, question.kin);
        if taught.known == 0 {
            learn_shares(&mut taught.learner, question);
        }
        taught
    }

    /// The same from these attempts alone, one after the other.
    #[must_use]
    pub fn new(make: &str, past: &[Past], kin: &[Past]) -> Self {
        let past = || past.iter().filter(|past| past.make == make);
        let mut learner = Learner::default();
        for kin in kin.iter().filter(|kin| kin.make == make) {
            // What is known of the task itself comes below.
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

    /// How sure it is that the next attempt has enough of what is advised: the share of attempts that would have had, were there
    /// one more, which would not. Before the first, the share of other tasks in the same way.
    fn confidence(&self, why: Reason) -> f64 {
        let (held, known) = match why {
            Reason::Others { tasks } => (tasks, tasks),
            _ => (self.held, self.known),
        };
        f64::from(held) / f64::from(known + 1)
    }

    /// The chance that so much memory does not suffice the next attempt, as far as the history tells; `None` where it tells nothing.
    /// `question` is that of which this was taught.
    #[must_use]
    pub fn risk(&self, question: &Question<'_>, gets: Bytes) -> Option<f64> {
        if let Some(had) = question.ran_out {
            return Some(self.risk_after(had, gets));
        }
        let (input, gets) = (question.input.map(|input| input as f64), gets.0 as f64);
        let chance = self.learner.chance(OWN, gets, input, question.running);
        chance.or_else(|| self.learner.chance_of_new(OWN, question.asked.memory.0 as f64, gets))
    }

    /// The same of workers of which it is known that they need more than `had`.
    #[must_use]
    pub fn risk_after(&self, had: Bytes, gets: Bytes) -> f64 {
        self.learner.chance_after(OWN, gets.0 as f64, had.0 as f64)
    }
}

/// Learns what other tasks used of their requests, and what attempts used that were made of something else.
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

/// Whether so much memory would have sufficed an attempt.
fn is_enough(memory: f64, past: &Past) -> bool {
    match past.end {
        PastEnd::Succeeded => memory >= past.peak as f64,
        PastEnd::OutOfMemory => memory > past.had().memory.0 as f64,
    }
}

/// What the workers of a role should get. What is kept is what was asked for; nothing is more than was asked for without
/// evidence that this does not suffice.
#[must_use]
pub fn recommend(question: &Question<'_>) -> SizedRole {
    recommend_by(&Taught::of(question), question)
}

/// What each earlier attempt of the question would have got, in their order: by what had ended before it began, of what it
/// was made of and asked for. Whether advice that was not followed would have held is seen from that.
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
        // They count for the first attempts alone.
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

/// The same by what the attempts of the question have taught. Whoever gives less than this says, has to ask [`Taught::risk`] again.
#[must_use]
pub fn recommend_by(taught: &Taught, question: &Question<'_>) -> SizedRole {
    let past: Vec<&Past> = question.past.iter().filter(|past| past.make == question.make).collect();
    // What a person asks for anew is no change of ours.
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

/// What workers get in the place of memory that they have nearly used up while they run: half as much again, and at least what
/// was asked for, as after it ran out.
#[must_use]
pub fn grown(had: Bytes, asked: Bytes) -> Bytes {
    Bytes(round_up((had.0 as f64 * GROWTH).max(asked.0 as f64)) as u64)
}

/// Keeps what the workers of all roles get beyond what was asked for within what is left of `bound`, each in proportion.
/// `counts` has how many workers each role has.
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

/// The share of what is wanted beyond what was asked for that there is room for.
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
        // What it had beyond what was asked for, when that did not suffice, is no reason to have it for good.
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

/// What kept workers from more memory, where they get as much as any node has.
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

/// Less than was asked for, but not less than `least`; or more, but not more than `most`.
fn within(wanted: u64, asked: u64, most: u64, least: u64) -> u64 {
    if wanted <= asked { wanted.max(least).min(asked) } else { wanted.min(most).max(asked) }
}

/// A round amount, at most a thirty-second more.
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

/// What the rule says of the next attempt.
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
        // What ran out is what it had. Of others it is told from what was asked for whether that suffices.
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

/// Why an attempt got less CPU than it could have used: its limit held it back, or it used all that it was guaranteed and waited
/// for more. One that waits below its guarantee waits for its turn, as everything does now and then on a machine that is full.
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

/// Whether it used nearly all that it had, or more.
fn is_full(past: &Past) -> bool {
    past.cpu.1 as f64 >= past.had.0 as f64 * AT_LIMIT
}

/// Whether an attempt says no more than that it needs what it had: it was held back, or used nearly all of it, and nobody tells.
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
    // What was held back, or may have been, needs at least what it had, also where its bursts are not seen in what it used.
    let at_least = lately.iter().filter(|past| is_at_least(past)).map(|past| past.had.0).max().unwrap_or(0);
    let wanted = (most + most / 10).max(at_least);
    // One that had more and was not held back says how much is enough.
    let told = |had: u64| lately.iter().any(|past| !is_at_least(past) && past.had.0 > had);
    // Beyond what was asked for there is evidence where an attempt was held back.
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
