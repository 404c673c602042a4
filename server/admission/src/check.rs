//! Invariants, for tests.

use crate::amounts::plus;
use crate::desk::Desk;
use crate::ledger::Ledger;

impl Desk {
    /// Whether guarantees that are not lent are free wherever they are unused. For tests.
    #[must_use]
    pub fn keeps_what_is_not_lent(&self) -> bool {
        (0..self.pools.len() as u32).all(|pool| {
            let taken = plus(&self.ledger.in_pool[pool as usize], &self.ledger.kept_in(pool));
            let capacity = &self.pools[pool as usize].capacity;
            self.kinds.indices().all(|kind| taken[kind] <= capacity[kind])
        })
    }

    /// Checks all invariants by recounting everything. For tests.
    ///
    /// # Errors
    /// A sentence that names the violated invariant.
    pub fn check(&self) -> Result<(), String> {
        let mut counted = Ledger::new(&self.tree, self.named.len());
        counted.in_pool.clone_from(&self.nodes.others);
        for job in &self.held {
            let entry = self.entry(*job).ok_or("resources are allocated to an unknown job")?;
            let held = entry.held().ok_or("resources are allocated to a pending job")?;
            let known = &entry.known;
            if !known.spec.is_foreign && held.workers < known.min() {
                return Err(format!("{} has fewer workers than its minimum", known.spec.key));
            }
            counted.add(&self.tree, known, &known.with(held.workers));
        }
        if counted != self.ledger {
            return Err("the totals do not match the jobs".into());
        }
        for (pool, room) in self.pools.iter().enumerate() {
            for kind in self.kinds.indices() {
                let held = self.ledger.in_pool[pool][kind];
                if held > room.capacity[kind] {
                    return Err(format!(
                        "{held} {} of pool {pool} are allocated, but it has less",
                        self.kinds.resource(kind)
                    ));
                }
            }
        }
        for node in 0..self.tree.len() as u32 {
            for pool in 0..self.tree.pools() as u32 {
                let (held, quota) =
                    (&self.ledger.held[self.tree.at(node, pool)], self.tree.quota(node, pool));
                if let Some(kind) = self.kinds.indices().find(|kind| held[*kind] > quota.bound[*kind]) {
                    let queue = self.tree.queues[node as usize].name();
                    return Err(format!("{queue} uses more {} than its limit", self.kinds.resource(kind)));
                }
            }
        }
        self.check_persons().and_then(|()| self.check_named())
    }

    /// No person's jobs exceed the cap per person.
    fn check_persons(&self) -> Result<(), String> {
        for ((leaf, pool, person), held) in self.ledger.persons() {
            let cap = &self.tree.quota(leaf, pool).per_person;
            if let Some(kind) = self.kinds.indices().find(|kind| held[*kind] > cap[*kind]) {
                let (queue, kind) = (self.tree.queues[leaf as usize].name(), self.kinds.resource(kind));
                return Err(format!("person {person} of {queue} uses more {kind} than the limit per person"));
            }
        }
        Ok(())
    }

    /// No concurrency limit is exceeded, neither at once nor within any minute.
    fn check_named(&self) -> Result<(), String> {
        for (named, held) in self.named.iter().zip(&self.ledger.named) {
            let name = &named.limit.name;
            if named.limit.at_once.is_some_and(|most| *held > most) {
                return Err(format!("{held} jobs use {name}"));
            }
            if named.is_beyond_a_minute() {
                return Err(format!("more jobs with {name} were started within a minute than allowed"));
            }
        }
        Ok(())
    }
}
