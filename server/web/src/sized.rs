//! Recommended sizes of tasks, from the usage of earlier attempts.

use cubeloom_domain::TaskIx;
use cubeloom_domain::executor::{NodeFacts, largest};
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::plan::{PlannedRole, PlannedTask, RunPlan};
use cubeloom_domain::sizing::{self, AttemptSizing, Size, SizedRole, SizingHistory};
use cubeloom_sizing::{Question, Taught, in_hindsight, keep_possible, recommend_by};

/// Sizes of a task's workers in `auto` mode on these nodes. `bound` is the limit of its project, if known.
pub(crate) fn recommended(
    plan: &RunPlan,
    ix: TaskIx,
    history: &SizingHistory,
    nodes: &[NodeFacts],
    bound: Option<Size>,
) -> AttemptSizing {
    let planned = plan.task(ix);
    let make = sizing::make(plan, ix);
    let teach = |role| {
        let question = asked(plan, ix, role, &make, history, nodes);
        (Taught::of(&question), question)
    };
    let known: Vec<(Taught, Question<'_>)> = planned.roles.iter().map(teach).collect();
    let mut roles: Vec<SizedRole> =
        known.iter().map(|(taught, question)| recommend_by(taught, question)).collect();
    keep_possible(&mut roles, planned, nodes, bound);
    // Lowering a size raises the OOM risk.
    for (sized, (taught, question)) in roles.iter_mut().zip(&known) {
        sized.risk = taught.risk(question, sized.gets.memory);
    }
    AttemptSizing { make, input: None, roles, grows: false }
}

/// Sizes that each earlier attempt of a role would have got, in the history's order, from the data available
/// at its start.
pub(crate) fn recommended_then(
    plan: &RunPlan,
    ix: TaskIx,
    role: &PlannedRole,
    history: &SizingHistory,
    nodes: &[NodeFacts],
) -> Vec<Size> {
    in_hindsight(&asked(plan, ix, role, &sizing::make(plan, ix), history, nodes))
}

/// Input of the recommendation for a role of the next attempt.
fn asked<'a>(
    plan: &'a RunPlan,
    ix: TaskIx,
    role: &'a PlannedRole,
    make: &'a str,
    history: &'a SizingHistory,
    nodes: &[NodeFacts],
) -> Question<'a> {
    let planned = plan.task(ix);
    let template = &plan.template_of(planned).name;
    let asked = Size::of(&role.resources);
    let node_group = planned.placement.node_group.as_deref();
    Question {
        role: &role.name,
        asked,
        kept: role.kept,
        make,
        // The size of the next attempt's input is known only when it is ready.
        input: None,
        past: history.of_task(&planned.name, template, &role.name),
        kin: history.of_template(template, &role.name),
        others: history.of_others(&planned.name),
        most: largest(nodes, &role.resources, node_group).unwrap_or(asked),
        beside: role.resources.shm.unwrap_or_default(),
        ran_out: None,
        running: 0,
    }
}

/// Whether the recommendation applies to the task's attempts.
pub(crate) fn is_sized(history: &SizingHistory, task: &PlannedTask) -> bool {
    history.mode_of(task) == SizingMode::Auto && !history.reverted.contains(&task.name)
}
