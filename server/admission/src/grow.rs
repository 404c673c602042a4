//! Scale-up of elastic jobs, when no pending job lacks capacity.
//!
//! One worker at a time goes to the next queue. The order is that of pending jobs, from the top of the tree
//! down: by guarantee, then priority, then share. Within a queue it goes to the job of the highest
//! priority, and among those to the one with the fewest workers above its minimum. For a worker within a
//! queue's guarantee, other queues' borrowed elastic workers are reclaimed, but never whole jobs.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::WaitRule;

use crate::amounts::NOTHING;
use crate::desk::JobId;
use crate::head::{Head, Scope};
use crate::job::{Known, Spec};
use crate::pass::{Passing, Start};

/// Maximum number of workers that one cycle adds.
const MOST: usize = 4096;

/// A job that may get more workers.
#[derive(Clone, Copy, Debug)]
struct Growing {
    job: JobId,
    /// Workers before.
    had: u32,
    /// Workers now.
    has: u32,
    /// Workers once the reclaimed ones are gone.
    gets: u32,
}

/// A job's position in its lane: priority, workers above the minimum, age; then its index among the growing
/// jobs.
type Place = (Reverse<i32>, u32, u64, usize);

/// Growing jobs by project and pool.
type Lanes = HashMap<(u32, u32), BTreeSet<Place>>;

/// A lane's sort key. For each queue, from the top down: whether another worker exceeds its guarantee, the
/// priority, and the share. Then the position of the lane's first job.
type Turn = (Vec<(bool, Reverse<i32>, u64)>, Place);

/// Outcome of one more worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OneMore {
    Given,
    /// It fits once reclaimed workers are gone.
    Coming,
    /// It does not fit.
    Nowhere,
}

impl Passing<'_> {
    /// Gives elastic jobs more workers, where no pending job needs the capacity.
    pub(crate) fn grow(&mut self) {
        // A job that finds no nodes keeps its own reservation; others need not wait with it.
        let is_scattered = |job: &JobId| self.scattered.iter().any(|scattered| scattered.job == *job);
        if !self.claimed.iter().all(is_scattered) || self.out.more {
            return;
        }
        let mut able = self.able_to_grow();
        let mut lanes = Lanes::new();
        for (at, one) in able.iter().enumerate() {
            self.line_up(&mut lanes, *one, at);
        }
        let turn = |(lane, places): (&_, &BTreeSet<Place>)| Some(Reverse((self.turn(places, &able)?, *lane)));
        let mut turns: BinaryHeap<_> = lanes.iter().filter_map(turn).collect();
        self.growing = Some(HashSet::new());
        let mut given = 0;
        while given < MOST
            && let Some(Reverse((turn, lane))) = turns.pop()
        {
            let Some(places) = lanes.get_mut(&lane) else { continue };
            let Some(now) = self.turn(places, &able) else { continue };
            // What others get only moves a turn later. If reclaiming moves it earlier, the next cycle handles
            // that: a queue that was reclaimed from does not grow in this one.
            if now > turn {
                turns.push(Reverse((now, lane)));
                continue;
            }
            places.remove(&now.1);
            let at = now.1.3;
            let one = &mut able[at];
            match self.one_more(one.job) {
                OneMore::Given => (one.has, one.gets) = (one.has + 1, one.gets + 1),
                OneMore::Coming => one.gets += 1,
                OneMore::Nowhere => one.gets = u32::MAX,
            }
            let one = *one;
            if one.gets < u32::MAX {
                given += 1;
                self.line_up(&mut lanes, one, at);
            }
            turns.extend(
                lanes
                    .get(&lane)
                    .and_then(|places| self.turn(places, &able))
                    .map(|turn| Reverse((turn, lane))),
            );
        }
        self.growing = None;
        for Growing { job, has: workers, .. } in able.into_iter().filter(|one| one.has > one.had) {
            match self.out.starts.iter_mut().find(|start| start.job == job) {
                Some(start) => start.workers = workers,
                None => self.out.grows.push(Start { job, workers }),
            }
        }
    }

    /// The jobs that may get more workers now.
    fn able_to_grow(&mut self) -> Vec<Growing> {
        let is_ours = |job: JobId| self.desk.entry(job).is_some_and(|entry| !entry.known.spec.is_foreign);
        let mut able: Vec<(JobId, u32)> =
            self.begun.iter().copied().filter(|(job, _)| is_ours(*job)).collect();
        let mut later = None;
        for job in self.desk.held.iter().filter(|job| !self.gone.contains(job)) {
            let Some((job, workers)) = self.may_grow(*job) else { continue };
            match self.desk.entry(job).and_then(|entry| entry.held()).map(|held| held.grows_from) {
                Some(from) if from > self.now => {
                    later = Some(later.map_or(from, |known: Timestamp| known.min(from)))
                }
                _ => able.push((job, workers)),
            }
        }
        self.out.again = [self.out.again, later].into_iter().flatten().min();
        able.retain(|(job, _)| {
            self.desk.entry(*job).is_some_and(|entry| {
                let known = &entry.known;
                !self.is_wanted(known.pool) && (known.scales() || !self.anybody_waits())
            })
        });
        able.into_iter().map(|(job, had)| Growing { job, had, has: had, gets: had }).collect()
    }

    /// Puts a job in its lane, if it may still grow.
    fn line_up(&self, lanes: &mut Lanes, one: Growing, at: usize) {
        let Some(entry) = self.desk.entry(one.job).filter(|entry| one.gets < entry.known.max()) else {
            return;
        };
        let known = &entry.known;
        let beyond = one.gets.saturating_sub(known.min());
        let place = (Reverse(known.spec.priority), beyond, entry.seq, at);
        lanes.entry((known.leaf, known.pool)).or_default().insert(place);
    }

    /// A lane's sort key now.
    fn turn(&self, places: &BTreeSet<Place>, able: &[Growing]) -> Option<Turn> {
        let place = *places.first()?;
        let known = &self.desk.entry(able.get(place.3)?.job)?.known;
        let queue = |node: u32| {
            let is_beyond = !self.is_entitled_to(known, &known.each, node);
            let share = self.desk.share(&self.future, node, known.pool, self.now);
            (is_beyond, place.0, share.to_bits())
        };
        let mut turn: Vec<_> = self.desk.tree.path(known.leaf).map(queue).collect();
        turn.reverse();
        Some((turn, place))
    }

    /// A running job that accepts more workers, and how many it has.
    fn may_grow(&self, job: JobId) -> Option<(JobId, u32)> {
        let entry = self.desk.entry(job)?;
        let held = entry.held()?;
        let is_whole = held.keeps == held.workers && held.leaving.is_none() && !self.keeps.contains_key(&job);
        if !entry.known.scales() || !is_whole || held.workers >= entry.known.max() {
            return None;
        }
        Some((job, held.workers))
    }

    /// Takes one more worker for a job. It must fit now and also after all leaving jobs are gone, and no
    /// pending job may be blocked by a bound that it counts against. A worker within a guarantee gets a
    /// reservation, and others are reclaimed for it.
    fn one_more(&mut self, job: JobId) -> OneMore {
        let desk = self.desk;
        let Some(known) = desk.entry(job).map(|entry| &entry.known) else { return OneMore::Nowhere };
        if self.is_wanted_at_a_bound(known) || self.keeps.contains_key(&job) {
            return OneMore::Nowhere;
        }
        let is_owed = known.scales()
            && desk.tree.path(known.leaf).any(|node| self.is_entitled_to(known, &known.each, node));
        if let Err(block) = desk.take_worker(&mut self.future, known) {
            let one = one_of(known);
            let comes = is_owed && self.make_room(job, &one, block, None);
            if comes {
                self.keep_nodes(job, &one);
            }
            return if comes { OneMore::Coming } else { OneMore::Nowhere };
        }
        let one = || std::iter::once((known.each, 1));
        let has_nodes = self.has_nodes_for(known, one());
        let is_free = desk.take_worker(&mut self.present, known).is_ok();
        if is_free && has_nodes {
            self.place(job, known, one());
            self.growing.get_or_insert_default().insert(job);
            return OneMore::Given;
        }
        if is_free {
            self.present.shrink(&desk.tree, known, &known.each);
        } else if is_owed {
            return OneMore::Coming;
        }
        self.future.shrink(&desk.tree, known, &known.each);
        OneMore::Nowhere
    }

    /// Whether a job is pending for a pool.
    fn is_wanted(&self, pool: u32) -> bool {
        let wanted = |scope: &Scope| match scope {
            Scope::Pool(at) => *at == 0 || *at == pool || pool == 0,
            Scope::Node(..) => false,
        };
        self.heads.iter().any(|head| wanted(&head.scope))
    }

    /// Whether any job is pending that can start at some time. A job that cannot scale down keeps its extra
    /// workers for its whole run, so it gets them only if no job is pending at all.
    fn anybody_waits(&self) -> bool {
        let may_start = |rule: WaitRule| !matches!(rule, WaitRule::Faulty | WaitRule::NeverFits);
        self.out.waits.iter().any(|(_, block)| may_start(block.rule))
    }

    /// Whether a job is pending at a bound of a queue or person that one more worker of another job would
    /// count against.
    fn is_wanted_at_a_bound(&self, known: &Known) -> bool {
        let (desk, each) = (self.desk, &known.each);
        let of_queue = |head: &Head| {
            let is_bound = matches!(head.scope, Scope::Node(..)) && desk.is_in(known, head.scope);
            is_bound && head.short(desk, &self.future, each).next().is_some()
        };
        self.heads.iter().any(of_queue) || self.is_at_a_cap(known, |kind| each[kind] > 0)
    }
}

/// One more worker, as a pending job.
fn one_of(known: &Known) -> Known {
    let spec = Spec { elastic: None, ..known.spec.clone() };
    let (fixed, gang) = (known.each, vec![(known.each, 1)]);
    let (leaf, pool, person) = (known.leaf, known.pool, known.person);
    Known { spec, leaf, pool, person, named: Vec::new(), fixed, gang, each: NOTHING }
}
