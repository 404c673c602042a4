//! More workers than they must have, for elastic jobs: when no job was left without room.
//!
//! One worker at a time goes to the queue that is next by what decides about jobs that wait, seen from the top of the tree
//! down: what is guaranteed first, then priority, then the share. In a queue it goes to the job of the highest priority, of
//! those to the one that has the fewest beyond its least. For a worker that is within what a queue is guaranteed, others give
//! back elastic workers that they have beyond theirs; never whole jobs.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::WaitRule;

use crate::amounts::NOTHING;
use crate::desk::JobId;
use crate::head::{Head, Scope};
use crate::job::{Known, Spec};
use crate::pass::{Passing, Start};

/// How many workers one pass gives beyond what jobs must have.
const MOST: usize = 4096;

/// A job that may have more workers.
#[derive(Clone, Copy, Debug)]
struct Growing {
    job: JobId,
    /// How many it had before.
    had: u32,
    /// How many it has now.
    has: u32,
    /// How many it will have when others have given theirs back.
    gets: u32,
}

/// A job's place in its lane: its priority, its workers beyond its least, its age; then which of those that may grow it is.
type Place = (Reverse<i32>, u32, u64, usize);

/// By project and pool: the jobs that may grow.
type Lanes = HashMap<(u32, u32), BTreeSet<Place>>;

/// When it is a lane's turn. Of each queue, from the top down: whether another worker is beyond what is guaranteed to it, the
/// priority, and the share. Then the place of the lane's first job.
type Turn = (Vec<(bool, Reverse<i32>, u64)>, Place);

/// What became of one more worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OneMore {
    /// It is there.
    Given,
    /// There is room for it when others have given back what they were told to.
    Coming,
    /// There is no room for it.
    Nowhere,
}

impl Passing<'_> {
    /// Gives elastic jobs more workers, where nobody waits for the room.
    pub(crate) fn grow(&mut self) {
        // What a job keeps that finds no nodes is its own; others need not wait with it.
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
            // A turn only comes later by what others get. That it comes earlier by what its queue gives back is for the next
            // pass: who gives back grows in none before.
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

    /// The jobs that may have more workers now.
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

    /// Puts a job in its lane, if it may still have more.
    fn line_up(&self, lanes: &mut Lanes, one: Growing, at: usize) {
        let Some(entry) = self.desk.entry(one.job).filter(|entry| one.gets < entry.known.max()) else {
            return;
        };
        let known = &entry.known;
        let beyond = one.gets.saturating_sub(known.min());
        let place = (Reverse(known.spec.priority), beyond, entry.seq, at);
        lanes.entry((known.leaf, known.pool)).or_default().insert(place);
    }

    /// When it is a lane's turn, as things stand.
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

    /// A job that runs and takes more workers, and how many it has.
    fn may_grow(&self, job: JobId) -> Option<(JobId, u32)> {
        let entry = self.desk.entry(job)?;
        let held = entry.held()?;
        let is_whole = held.keeps == held.workers && held.leaving.is_none() && !self.keeps.contains_key(&job);
        if !entry.known.scales() || !is_whole || held.workers >= entry.known.max() {
            return None;
        }
        Some((job, held.workers))
    }

    /// Takes one more worker for a job, if there is room for it already now, and also when those who leave have left, and nobody
    /// waits for it at a bound. One that is within a guarantee has room kept for it, and others give it back.
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

    /// Whether a job waits for room of a pool.
    fn is_wanted(&self, pool: u32) -> bool {
        let wanted = |scope: &Scope| match scope {
            Scope::Pool(at) => *at == 0 || *at == pool || pool == 0,
            Scope::Node(..) => false,
        };
        self.heads.iter().any(|head| wanted(&head.scope))
    }

    /// Whether any job waits that could start some day. What gives no single workers back keeps for as long as it runs what it
    /// gets when it starts: it gets that only where nobody waits, whatever for.
    fn anybody_waits(&self) -> bool {
        let may_start = |rule: WaitRule| !matches!(rule, WaitRule::Faulty | WaitRule::NeverFits);
        self.out.waits.iter().any(|(_, block)| may_start(block.rule))
    }

    /// Whether a job waits at the bound of a queue, or of a person, for what one more worker of another would take of it.
    fn is_wanted_at_a_bound(&self, known: &Known) -> bool {
        let (desk, each) = (self.desk, &known.each);
        let of_queue = |head: &Head| {
            let is_bound = matches!(head.scope, Scope::Node(..)) && desk.is_in(known, head.scope);
            is_bound && head.short(desk, &self.future, each).next().is_some()
        };
        self.heads.iter().any(of_queue) || self.is_at_a_cap(known, |kind| each[kind] > 0)
    }
}

/// One more worker, as a job that waits for it.
fn one_of(known: &Known) -> Known {
    let spec = Spec { elastic: None, ..known.spec.clone() };
    let (fixed, gang) = (known.each, vec![(known.each, 1)]);
    let (leaf, pool, person) = (known.leaf, known.pool, known.person);
    Known { spec, leaf, pool, person, named: Vec::new(), fixed, gang, each: NOTHING }
}
