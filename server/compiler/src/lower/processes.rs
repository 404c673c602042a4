//! One worker as several processes, a number of them on each GPU: the identity of each process.
//!
//! To a framework, a process is what a worker is otherwise. The framework gets a crew of processes, and its
//! variables become a table, the same for all workers of a role. In the worker a launcher reads the table,
//! derives the variables of its own processes, and starts them. The launcher is a file of the job, and so the
//! same in containers, on Slurm nodes and on this machine. It needs only `python3` there.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::verbatim::DOLLAR;
use serde::Serialize;

use super::common::Variables;
use super::substitute::{Piece, pieces};
use super::told::{Sample, Told, told};
use crate::frameworks::{self, Crew, Member};

/// The variable that holds the table.
pub const VARIABLE: &str = "CUBELOOM_PROCESSES";
/// The launcher, in the worker's folder.
pub const FILE: &str = "processes.py";
pub const PROGRAM: &str = include_str!("processes.py");

/// The command of a worker whose processes run `argv`; `folder` is the worker's own.
pub fn launched(folder: &str, argv: Vec<String>) -> Vec<String> {
    ["python3".to_owned(), format!("{folder}/{FILE}")].into_iter().chain(argv).collect()
}

/// The position of a process among all processes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The rank of its worker.
    pub worker: u32,
    /// Its rank over the processes of all roles.
    pub rank: u32,
    /// Its index over the processes of its role.
    pub index: u32,
    /// Its index in its worker.
    pub local: u32,
}

/// The seats of all processes, in rank order: those of a worker are adjacent, and among these those of a GPU.
/// `roles` has the number of workers of each role, and the processes per worker.
pub fn seats(roles: impl Iterator<Item = (u32, u32)>) -> Vec<Seat> {
    let mut seats = Vec::new();
    let (mut worker, mut rank) = (0, 0);
    for (workers, processes) in roles {
        let mut index = 0;
        for _ in 0..workers {
            for local in 0..processes {
                seats.push(Seat { worker, rank, index, local });
                (rank, index) = (rank + 1, index + 1);
            }
            worker += 1;
        }
    }
    seats
}

/// The processes that receive a signal which ends the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// All processes of the worker, as with the shim.
    ReachAll,
    /// Only the launcher, as in a container: it forwards the signal.
    ReachFirst,
}

/// The identities of the processes of each worker of a role, relative to the worker's.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Table {
    /// Processes per worker.
    processes: u32,
    /// GPUs per worker; 0 if its processes use none.
    cards: u32,
    /// The rank of the role's first process.
    first: u32,
    /// By name, the variables in which a process differs from its worker.
    variables: BTreeMap<String, Rule>,
    /// Variables of the task whose values refer to some of these.
    texts: Vec<String>,
}

/// The value of a process's variable.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Rule {
    Text(String),
    Index,
    Rank,
    /// The index, between a prefix and a suffix.
    Within(String, String),
    /// Its index in the worker.
    Local,
    /// The worker's rank.
    Worker,
}

/// Escapes references in data that have one of these names, so that they stay text.
pub fn guarded(text: &str, is_own: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut parts = text.split(DOLLAR);
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| {
        let name = part.strip_prefix('(').and_then(|rest| Some(rest.split_once(')')?.0));
        let is_own = name.is_some_and(&is_own);
        if is_own { format!("$${part}") } else { format!("{DOLLAR}{part}") }
    });
    let rest: String = rest.collect();
    if rest.is_empty() { first.into() } else { format!("{first}{rest}").into() }
}

/// Whether the workers of a role are several processes.
fn is_divided(role: &JobRole) -> bool {
    role.replicas > 0 && role.resources.processes_per_gpu.is_some()
}

/// The tables of the roles whose workers are several processes, by role; `crew` are all processes.
pub fn tables<'j>(job: &'j Job, crew: &Crew<'_>) -> BTreeMap<&'j str, Table> {
    let divided = job.roles.iter().filter(|role| is_divided(role));
    divided.map(|role| (role.name.as_str(), table(job, crew, role))).collect()
}

/// All processes as the workers of a job with one process per worker; `None` if every worker of `crew` is one
/// process.
///
/// A worker of one process also gets all processes as its peers: a count of workers would miss some.
pub fn members(crew: &Crew<'_>) -> Option<Vec<Member>> {
    crew.roles.iter().any(is_divided).then(|| processes_of(crew))
}

fn processes_of(crew: &Crew<'_>) -> Vec<Member> {
    let shape = crew.roles.iter().map(|role| (role.replicas, role.resources.processes()));
    let member = |seat: Seat| {
        let worker = crew.members.get(seat.worker as usize)?;
        let more = seat.local.checked_sub(1).and_then(|at| worker.ports.get(at as usize));
        Some(Member {
            role: worker.role.clone(),
            index: seat.index,
            rank: seat.rank,
            address: worker.address.clone(),
            port: more.unwrap_or(&worker.port).clone(),
            ports: Vec::new(),
            folder: worker.folder.clone(),
            resources: worker.resources.clone(),
        })
    };
    seats(shape).into_iter().filter_map(member).collect()
}

/// The table of one role; `crew` are all processes.
fn table(job: &Job, crew: &Crew<'_>, role: &JobRole) -> Table {
    let of_role: Vec<&Member> = crew.of_role(&role.name).collect();
    let sample = |member: &Member| {
        let framework = frameworks::find(&job.framework);
        let identity = framework.map(|known| (known.identity)(crew, member)).unwrap_or_default();
        let mut all: Variables = identity.variables.clone();
        all.insert("CUBELOOM_INDEX".into(), member.index.to_string());
        all.insert("CUBELOOM_RANK".into(), member.rank.to_string());
        all.insert("CUBELOOM_WORLD_SIZE".into(), crew.members.len().to_string());
        (all, identity)
    };
    // With many processes, the first two and the last show the differences.
    let chosen = of_role.iter().take(2).chain(of_role.iter().skip(2).last()).copied();
    let samples: Vec<Sample<'_>> = chosen.map(|member| (member, sample(member))).collect();
    let names: BTreeSet<&String> = samples.iter().flat_map(|(_, (variables, _))| variables.keys()).collect();
    let rule = |name: &str| match told(name, &samples)? {
        Told::Text(text) => Some(Rule::Text(text)),
        Told::Index | Told::Count => Some(Rule::Index),
        Told::Rank => Some(Rule::Rank),
        Told::Within(before, after) => Some(Rule::Within(before, after)),
    };
    let mut variables: BTreeMap<String, Rule> =
        names.into_iter().filter_map(|name| Some((name.clone(), rule(name)?))).collect();
    let processes = role.resources.processes();
    variables.insert("LOCAL_RANK".into(), Rule::Local);
    variables.insert("LOCAL_WORLD_SIZE".into(), Rule::Text(processes.to_string()));
    variables.insert("GROUP_RANK".into(), Rule::Worker);
    let names_some = |text: &str| {
        let found = pieces(text, |name| variables.contains_key(name));
        found.iter().any(|piece| matches!(piece, Piece::Name(_)))
    };
    let texts = job.env.iter().filter(|(_, text)| names_some(text)).map(|(name, _)| name.clone()).collect();
    let first = of_role.first().map_or(0, |member| member.rank);
    Table { processes, cards: role.resources.devices(), first, variables, texts }
}

impl Table {
    /// The table in the launcher's format.
    pub fn written(&self, signals: Signals) -> String {
        let mut table = serde_json::json!(self);
        table["forward"] = (signals == Signals::ReachFirst).into();
        table.to_string()
    }

    /// A word of the command, or a variable, for the launcher: references in data stay text for it, too.
    pub fn guarded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        guarded(text, |name| self.variables.contains_key(name))
    }

    /// The variables of a task, with the ones that the launcher reads escaped.
    pub fn guarded_env<'t>(&self, name: &str, text: &'t str) -> Cow<'t, str> {
        if self.texts.iter().any(|own| own == name) { self.guarded(text) } else { text.into() }
    }

    /// The names whose values differ between processes.
    pub fn own(&self) -> BTreeSet<String> {
        self.variables.keys().cloned().collect()
    }

    /// The worker's variables without those in which its processes differ.
    pub fn without_own(&self, variables: &Variables) -> Variables {
        let kept = variables.iter().filter(|(name, _)| !self.variables.contains_key(*name));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_processes_on_each_of_four_cards_are_twelve_ranks() {
        let found = seats([(1, 12)].into_iter());
        assert_eq!(found.len(), 12);
        let cards: Vec<u32> = found.iter().map(|seat| seat.local / 3).collect();
        assert_eq!(cards, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    }

    proptest! {
        #[test]
        fn every_rank_is_there_once_and_every_worker_is_whole(
            roles in prop::collection::vec((0u32..5, 1u32..5, 1u32..4), 1..4)
        ) {
            let shape = |(workers, cards, each): &(u32, u32, u32)| (*workers, cards * each);
            let found = seats(roles.iter().map(shape));
            let ranks: Vec<u32> = found.iter().map(|seat| seat.rank).collect();
            prop_assert_eq!(&ranks, &(0..ranks.len() as u32).collect::<Vec<_>>());
            let mut rest = found.as_slice();
            let mut worker = 0;
            for role in &roles {
                let (workers, processes) = shape(role);
                let (own, others) = rest.split_at((workers * processes) as usize);
                rest = others;
                let indices: Vec<u32> = own.iter().map(|seat| seat.index).collect();
                prop_assert_eq!(indices, (0..workers * processes).collect::<Vec<_>>());
                for each in own.chunks(processes as usize) {
                    prop_assert!(each.iter().all(|seat| seat.worker == worker));
                    let locals: Vec<u32> = each.iter().map(|seat| seat.local).collect();
                    prop_assert_eq!(locals, (0..processes).collect::<Vec<_>>());
                    for card in 0..role.1 {
                        let on_it = each.iter().filter(|seat| seat.local / role.2 == card).count();
                        prop_assert_eq!(on_it as u32, role.2);
                    }
                    worker += 1;
                }
            }
            prop_assert!(rest.is_empty());
        }
    }
}
