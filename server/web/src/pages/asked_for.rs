//! Requested resources of tasks in two runs, amount by amount.

use super::Frame;
use crate::api::compare::view::TaskPair;
use crate::api::tasks::view::{GpuView, RoleView};
use crate::show;

/// Workers of one role of a task, in both runs.
pub(super) struct AskedFor {
    pub task: String,
    /// Role. A task's workers can have several.
    pub role: String,
    /// Number of workers, and CPU, memory and GPUs of each.
    pub amounts: [Amount; 4],
}

pub(super) struct Amount {
    /// Key of its text.
    pub name: &'static str,
    /// Values of this run and the other. Empty if a run lacks the role.
    pub sides: [String; 2],
}

impl Amount {
    /// Whether the values differ.
    pub(super) fn differs(&self) -> bool {
        self.sides[0] != self.sides[1]
    }
}

impl AskedFor {
    /// Whether any amount differs.
    pub(super) fn differs(&self) -> bool {
        self.amounts.iter().any(Amount::differs)
    }
}

/// All roles of a task: those of this run, then those of the other run only.
pub(super) fn of_task(frame: &Frame, pair: &TaskPair) -> Vec<AskedFor> {
    let roles =
        [&pair.left, &pair.right].map(|side| side.as_ref().map_or(&[][..], |side| side.roles.as_slice()));
    let mut names: Vec<&str> = Vec::new();
    for role in roles.into_iter().flatten() {
        if !names.contains(&role.name.as_str()) {
            names.push(&role.name);
        }
    }
    let of_role = |name: &str| {
        let sides = roles.map(|side| side.iter().find(|role| role.name == name));
        let amount = |name, text: &dyn Fn(&RoleView) -> String| Amount {
            name,
            sides: sides.map(|role| role.map(text).unwrap_or_default()),
        };
        AskedFor {
            task: pair.name.clone(),
            role: name.to_owned(),
            amounts: [
                amount("run.asked-workers", &|role| role.replicas.to_string()),
                amount("run.asked-cpu", &|role| show::number(role.cpu)),
                amount("run.asked-memory", &|role| show::bytes(role.memory)),
                amount("run.asked-cards", &|role| cards(frame, role.gpu.as_ref())),
            ],
        }
    };
    names.into_iter().map(of_role).collect()
}

/// `2 × A100`, a half as `0.5 × A100`, or the memory of one. `0` without GPUs.
fn cards(frame: &Frame, gpu: Option<&GpuView>) -> String {
    let Some(gpu) = gpu else { return "0".into() };
    let mut text = match (gpu.count, gpu.fraction) {
        (Some(count), _) => count.to_string(),
        (None, Some(fraction)) => show::number(fraction),
        (None, None) => "1".into(),
    };
    if let Some(kind) = &gpu.kind {
        text.push_str(" × ");
        text.push_str(kind);
    }
    match gpu.memory {
        Some(memory) => {
            frame.t_with("run.asked-card-memory", [("cards", text), ("memory", show::bytes(memory))])
        }
        None => text,
    }
}
