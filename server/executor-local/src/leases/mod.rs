//! Allocations of live attempts on this machine: addresses, ports, GPUs.

mod addresses;
mod cards;
mod ports;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cubeloom_domain::AttemptKey;
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::WorkerBinding;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::resources::{GpuRequest, Resources};

use crate::error::LocalError;
use crate::gpu::Gpus;
use crate::xid::Xids;
use addresses::Block;
use cards::Cards;

pub(crate) struct Leases {
    block: Block,
    range: ports::Range,
    state: Arc<Mutex<State>>,
}

struct State {
    held: HashMap<AttemptKey, Vec<Held>>,
    addresses: HashSet<Ipv4Addr>,
    ports: HashSet<u16>,
    cards: Cards,
    next_address: u16,
    next_port: u16,
}

/// Allocation of one worker.
struct Held {
    binding: WorkerBinding,
    /// The fraction of each of its GPUs.
    share: f64,
}

impl Leases {
    /// Claims an address block for the server with this data folder.
    pub(crate) fn new(data: &Path, gpus: Gpus, xids: Arc<Xids>) -> Result<Self, LocalError> {
        let block = Block::take(data).ok_or(LocalError::NoAddresses)?;
        let state = State {
            held: HashMap::new(),
            addresses: HashSet::new(),
            ports: HashSet::new(),
            cards: Cards::new(gpus, xids),
            next_address: 0,
            // Servers on the same machine start at different ports.
            next_port: u16::from(block.number()).wrapping_mul(271),
        };
        Ok(Self { block, range: ports::Range::of_this_machine(), state: Arc::new(Mutex::new(state)) })
    }

    /// Faulty GPUs without an allocation, by UUID, each with its error.
    pub(crate) fn kept_back(&self) -> BTreeMap<String, u32> {
        self.state().cards.kept_back()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Leases for all workers of a job, or for none; the same ones for a repeated key.
    pub(crate) fn take(&self, job: &Job) -> Result<Vec<WorkerBinding>, Failure> {
        let mut state = self.state();
        if let Some(held) = state.held.get(&job.key) {
            return Ok(held.iter().map(|held| held.binding.clone()).collect());
        }
        let mut taken = Vec::new();
        for wanted in requests(job) {
            match self.take_one(&mut state, wanted, wanted.gpu.as_ref()) {
                Ok(held) => taken.push(held),
                Err(message) => {
                    state.give_back(&taken);
                    return Err(Failure::new(FailureKind::CouldNotStart, message));
                }
            }
        }
        let bindings = taken.iter().map(|held| held.binding.clone()).collect();
        state.held.insert(job.key.clone(), taken);
        Ok(bindings)
    }

    /// Leases for the current workers of a job: keeps existing ones, adds all missing ones or none, and
    /// releases those of removed workers.
    pub(crate) fn resize(&self, job: &Job) -> Result<Vec<WorkerBinding>, Failure> {
        let mut state = self.state();
        let had = state.held.get(&job.key).map_or(0, Vec::len);
        let mut more = Vec::new();
        for wanted in requests(job).skip(had) {
            match self.take_one(&mut state, wanted, wanted.gpu.as_ref()) {
                Ok(held) => more.push(held),
                Err(message) => {
                    state.give_back(&more);
                    return Err(Failure::new(FailureKind::CouldNotStart, message));
                }
            }
        }
        let held = state.held.entry(job.key.clone()).or_default();
        held.extend(more);
        let rest = held.split_off(held.len().min(job.workers() as usize));
        let bindings = held.iter().map(|held| held.binding.clone()).collect();
        state.give_back(&rest);
        Ok(bindings)
    }

    /// Leases for a terminal in place of the worker `rank` of a job. Addresses and ports for all workers are
    /// exclusive while it has the lease. GPUs are currently free ones, but not reserved: a job that starts
    /// later may get them, since an idle shell must not block a job.
    pub(crate) fn lend(&self, job: &Job, rank: u32) -> Result<Lent, Failure> {
        let mut state = self.state();
        let mut lent = Lent { state: Arc::clone(&self.state), held: Vec::new() };
        for (at, wanted) in (0..).zip(requests(job)) {
            match self.take_one(&mut state, wanted, wanted.gpu.as_ref().filter(|_| at == rank)) {
                Ok(mut held) => {
                    state.cards.give_back(&held.binding.gpus, held.share);
                    held.share = 0.0;
                    lent.held.push(held);
                }
                Err(message) => {
                    drop(state);
                    return Err(Failure::new(FailureKind::CouldNotStart, message));
                }
            }
        }
        drop(state);
        Ok(lent)
    }

    fn take_one(
        &self,
        state: &mut State,
        wanted: &Resources,
        request: Option<&GpuRequest>,
    ) -> Result<Held, String> {
        let address = self
            .block
            .next_free(&mut state.next_address, &state.addresses)
            .ok_or("all loopback addresses of this server are in use; wait for jobs to end")?;
        let mut ports = Vec::new();
        let mut taken = state.ports.clone();
        for _ in 0..wanted.processes().max(1) {
            let port = self
                .range
                .next_free(&mut state.next_port, &taken)
                .ok_or("no free port is left on this machine; wait for jobs to end")?;
            taken.insert(port);
            ports.push(port);
        }
        let (gpus, share) = request.map_or(Ok((Vec::new(), 0.0)), |request| state.cards.take(request))?;
        state.addresses.insert(address);
        state.ports = taken;
        let port = ports.remove(0);
        Ok(Held { binding: WorkerBinding { address: address.to_string(), port, ports, gpus }, share })
    }

    /// Restores leases from before a restart.
    pub(crate) fn retake(&self, job: &Job, bindings: &[WorkerBinding]) {
        let mut state = self.state();
        if state.held.contains_key(&job.key) {
            return;
        }
        let mut taken = Vec::new();
        for (binding, wanted) in bindings.iter().zip(requests(job)) {
            state.addresses.extend(binding.address.parse::<Ipv4Addr>());
            state.ports.extend(ports_of(binding));
            let share = wanted.gpu.as_ref().map_or(0.0, |request| state.cards.retake(&binding.gpus, request));
            taken.push(Held { binding: binding.clone(), share });
        }
        state.held.insert(job.key.clone(), taken);
    }

    /// Releases an attempt's leases.
    pub(crate) fn release(&self, key: &AttemptKey) {
        let mut state = self.state();
        if let Some(held) = state.held.remove(key) {
            state.give_back(&held);
        }
    }
}

/// Leases of a terminal; released on drop.
pub(crate) struct Lent {
    state: Arc<Mutex<State>>,
    held: Vec<Held>,
}

impl Lent {
    /// One per worker, in rank order.
    pub(crate) fn bindings(&self) -> Vec<WorkerBinding> {
        self.held.iter().map(|held| held.binding.clone()).collect()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        locked(&self.state).give_back(&self.held);
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn give_back(&mut self, held: &[Held]) {
        for Held { binding, share } in held {
            if let Ok(address) = binding.address.parse::<Ipv4Addr>() {
                self.addresses.remove(&address);
            }
            for port in ports_of(binding) {
                self.ports.remove(&port);
            }
            self.cards.give_back(&binding.gpus, *share);
        }
    }
}

/// Every port of a worker.
fn ports_of(binding: &WorkerBinding) -> impl Iterator<Item = u16> {
    [binding.port].into_iter().chain(binding.ports.iter().copied())
}

/// The resources that each worker requests, in rank order.
fn requests(job: &Job) -> impl Iterator<Item = &Resources> {
    job.roles.iter().flat_map(|role| (0..role.replicas).map(|_| &role.resources))
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::RunId;
    use cubeloom_domain::executor::GpuFacts;
    use cubeloom_testkit::conformance::Program;

    use super::*;

    #[test]
    fn every_process_of_a_worker_has_a_port_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let leases = || Leases::new(folder.path(), Gpus::default(), Arc::default()).unwrap();
        let key = AttemptKey {
            run: RunId::new(cubeloom_domain::Timestamp(0), 1),
            task: "t".into(),
            instance: 0,
            n: 1,
        };
        let mut job = Program::shell("true").workers(2).job(key);
        job.roles[0].resources.processes_per_gpu = Some(3);
        let first = leases();
        let bindings = first.take(&job).unwrap();
        let ports: HashSet<u16> = bindings.iter().flat_map(ports_of).collect();
        assert_eq!((bindings[0].ports.len(), ports.len()), (2, 6));
        first.release(&job.key);
        assert!(first.state().ports.is_empty());
        drop(first);
        let second = leases();
        second.retake(&job, &bindings);
        assert_eq!(second.state().ports, ports);
    }

    #[test]
    fn a_terminal_has_cards_that_are_free_and_keeps_them_from_nobody() {
        let fact = GpuFacts { uuid: "GPU-0".into(), ..GpuFacts::default() };
        let folder = tempfile::tempdir().unwrap();
        let gpus = Gpus { facts: vec![fact], links: Vec::new() };
        let leases = Leases::new(folder.path(), gpus, Arc::default()).unwrap();
        let key = |n| AttemptKey {
            run: RunId::new(cubeloom_domain::Timestamp(0), 1),
            task: "t".into(),
            instance: 0,
            n,
        };
        let job = |n| {
            let mut job = Program::shell("true").workers(2).job(key(n));
            job.roles[0].resources.gpu = Some(GpuRequest { count: Some(1), ..GpuRequest::default() });
            job
        };
        let lent = leases.lend(&job(1), 1).unwrap();
        let cards: Vec<_> = lent.bindings().into_iter().map(|binding| binding.gpus).collect();
        assert_eq!(cards, [Vec::new(), vec!["GPU-0".to_owned()]], "those of the one worker");
        let mut single = job(2);
        single.roles[0].replicas = 1;
        assert_eq!(leases.take(&single).unwrap()[0].gpus, ["GPU-0"], "a job comes first");
        assert!(leases.lend(&job(1), 0).is_err(), "none is free now");
        let held = || leases.state().addresses.len();
        assert_eq!(held(), 3, "what was refused holds nothing");
        drop(lent);
        assert_eq!(held(), 1);
        assert!((leases.state().cards.take(job(1).roles[0].resources.gpu.as_ref().unwrap())).is_err());
    }
}
