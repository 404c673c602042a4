//! Components: consecutive workers, by rank, with equal resources. A Slurm job has one of them, or is
//! heterogeneous.

use cubeloom_domain::resources::Resources;

use super::amounts::{self, Amounts};
use super::{Frame, placement};
use crate::lower::notes::Notes;

/// Workers that one Slurm step starts.
pub struct Component {
    /// The rank of its first worker.
    pub first_rank: u32,
    /// Its roles: `1 launcher`, `1 master, 3 worker`.
    pub roles: String,
    /// The Slurm options, one per line.
    pub asked: Vec<String>,
    /// Options repeated for the step: steps do not inherit all of them from the job.
    pub layout: Vec<String>,
}

pub fn all(frame: &Frame<'_>, notes: &mut Notes) -> Vec<Component> {
    let mut groups: Vec<(u32, u32, Vec<String>, &Resources)> = Vec::new();
    let mut rank = 0;
    for role in frame.job.roles.iter().filter(|role| role.replicas > 0) {
        let name = format!("{} {}", role.replicas, role.name);
        match groups.last_mut() {
            Some((_, workers, names, resources)) if **resources == role.resources => {
                *workers += role.replicas;
                names.push(name);
            }
            _ => groups.push((rank, role.replicas, vec![name], &role.resources)),
        }
        rank += role.replicas;
    }
    if groups.len() > 1 {
        notes.decide(format!(
            "heterogeneous job of {} components: its roles get different resources; all start together",
            groups.len()
        ));
    } else if frame.job.workers() > 1 {
        notes.decide("one component: all of its workers get the same; all start together");
    }
    let component = |(first_rank, workers, names, resources): (u32, u32, Vec<String>, &Resources)| {
        let got = amounts::of(frame, resources, notes);
        let alone = apart(frame, workers, &got, notes);
        let mut asked = placement::asked(frame, workers, resources, alone, notes);
        let (tasks, layout) = got.written(workers, alone);
        asked.extend(tasks);
        Component { first_rank, roles: names.join(", "), asked, layout }
    };
    groups.into_iter().map(component).collect()
}

/// Whether each worker must have a node of the job for itself; if so, notes it.
fn apart(frame: &Frame<'_>, workers: u32, got: &Amounts, notes: &mut Notes) -> bool {
    if workers < 2 {
        return false;
    }
    let counted = got.by_node();
    if !counted.is_empty() {
        notes.decide(format!("each of its workers has its own node: Slurm counts `{counted}` by node"));
    } else if frame.framework.by_address {
        notes.decide(format!(
            "each of its workers has its own node: `{}` distinguishes them by their addresses",
            frame.framework.name
        ));
    }
    !counted.is_empty() || frame.framework.by_address
}
