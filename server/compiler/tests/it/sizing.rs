//! The precedence for resources: the template's env, the task's pin, the modes; each line of the order.

use cubeloom_domain::executor::GpuFacts;
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::sizing::{Keeper, Kept, make};
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Bytes, Cpu, JsonMap, Problem, TaskIx};

use crate::support::{fixtures, machine, try_plan};

/// The templates, with these variables added to `echo`.
fn with_env(env: &[(&str, &str)]) -> TemplateSet {
    let mut templates = fixtures();
    let echo = templates.get_mut("echo").unwrap();
    for installed in echo.values_mut() {
        let pairs = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        installed.template.env.extend(pairs);
    }
    templates
}

/// On a machine with so many GPUs.
fn plan_with(cards: usize, templates: &TemplateSet, head: &str, task: &str) -> Result<RunPlan, Vec<Problem>> {
    let text = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\n{head}\ntasks:\n  \
         - {{name: a, template: echo, arguments: {{words: [x]}}, {task}}}\n"
    );
    let mut facts = machine();
    let card = |number| GpuFacts { uuid: format!("GPU-{number}"), ..GpuFacts::default() };
    facts.nodes[0].gpus = (0..cards).map(card).collect();
    try_plan(&text, JsonMap::new(), templates, &facts).map(|planned| planned.plan)
}

fn plan(templates: &TemplateSet, head: &str, task: &str) -> RunPlan {
    plan_with(0, templates, head, task).unwrap()
}

fn planned(env: &[(&str, &str)], task: &str) -> PlannedTask {
    plan(&with_env(env), "", task).tasks.remove(0)
}

const ASKS: &str = "resources: {cpu: 2, memory: 1Gi}";

#[test]
fn nothing_is_kept_unless_somebody_says_so() {
    let task = planned(&[], ASKS);
    assert_eq!(task.roles[0].kept, Kept::default());
    // In the env of a task, or of a pipeline, these names have no meaning.
    let own = planned(&[], "env: {NO_RESOURCE_CHECK: '1', TASK_RESOURCE_CPU: '7'}, resources: {cpu: 2}");
    assert_eq!((own.roles[0].kept, own.roles[0].resources.cpu), (Kept::default(), Cpu(2000)));
}

#[test]
fn what_the_template_fixes_is_fixed_and_stays() {
    let cpu = planned(&[("TASK_RESOURCE_CPU", "3")], ASKS);
    assert_eq!(cpu.roles[0].resources.cpu, Cpu(3000));
    assert_eq!(cpu.roles[0].kept, Kept { cpu: Some(Keeper::Template), memory: None });
    for name in ["TASK_RESOURCE_MEMORY", "TASK_RESOURCE_MEM"] {
        let memory = planned(&[(name, "3Gi")], ASKS);
        assert_eq!(memory.roles[0].resources.memory, Bytes(3 << 30), "{name}");
        assert_eq!(memory.roles[0].kept, Kept { cpu: None, memory: Some(Keeper::Template) });
    }
    // Right-sizing never changes GPUs: a fixed GPU count does not affect the rest.
    let gpu = planned(&[("TASK_RESOURCE_GPU", "0")], "resources: {gpu: {count: 1}}");
    assert_eq!((&gpu.roles[0].resources.gpu, gpu.roles[0].kept), (&None, Kept::default()));
}

#[test]
fn a_number_of_cards_is_fixed_whatever_the_task_asks_for() {
    let planned = |count: &str, task: &str| {
        plan_with(4, &with_env(&[("TASK_RESOURCE_GPU", count)]), "", task)
            .map(|mut plan| plan.tasks.remove(0))
    };
    for task in [ASKS, "resources: {gpu: {count: 1}}", "resources: {gpu: {fraction: 0.5}}"] {
        for count in ["2", " 2 "] {
            let role = planned(count, task).unwrap().roles.remove(0);
            let gpu = role.resources.gpu.unwrap();
            assert_eq!((gpu.count, gpu.fraction, role.kept), (Some(2), None, Kept::default()), "{task}");
        }
    }
    // An empty value has no effect.
    let asked = planned("", "resources: {gpu: {count: 1}}").unwrap().roles.remove(0).resources.gpu;
    assert_eq!(asked.unwrap().count, Some(1));
    for count in ["many", "-1", "0.5"] {
        let problems = planned(count, ASKS).unwrap_err();
        let said = "the task template `echo`: TASK_RESOURCE_GPU: ";
        assert!(problems.iter().any(|problem| problem.message.starts_with(said)), "{count}: {problems:?}");
    }
}

#[test]
fn no_resource_check_leaves_the_amounts_alone_whatever_its_value() {
    for value in ["", "0", "false", "true", "1"] {
        let task = planned(&[("NO_RESOURCE_CHECK", value)], ASKS);
        assert_eq!(task.roles[0].kept, Kept::both(Keeper::Unchecked), "`{value}`");
        assert_eq!(
            (task.roles[0].resources.cpu, task.roles[0].resources.memory),
            (Cpu(2000), Bytes(1 << 30))
        );
    }
}

#[test]
fn a_task_may_pin_its_amounts() {
    let pinned = planned(&[], "resources: {cpu: 2, memory: 1Gi, pinned: true}");
    assert_eq!(pinned.roles[0].kept, Kept::both(Keeper::Pinned));
    let of_role = planned(&[], "resources: {pinned: true}, role_resources: {worker: {pinned: false}}");
    assert_eq!(of_role.roles[0].kept, Kept::default(), "the nearer one wins");
    let exclusive = planned(&[], "resources: {cpu: 2, cpu_exclusive: true}");
    assert_eq!(exclusive.roles[0].kept, Kept { cpu: Some(Keeper::Exclusive), memory: None });
}

#[test]
fn the_stronger_word_is_told() {
    let env = [("TASK_RESOURCE_CPU", "1"), ("NO_RESOURCE_CHECK", "")];
    let task = planned(&env, "resources: {pinned: true}");
    let kept = Kept { cpu: Some(Keeper::Template), memory: Some(Keeper::Unchecked) };
    assert_eq!(task.roles[0].kept, kept);
}

#[test]
fn the_nearest_mode_wins() {
    let mode = |head: &str, task: &str| plan(&fixtures(), head, task).tasks[0].sizing;
    assert_eq!(mode("", ASKS), None, "the project decides");
    assert_eq!(mode("sizing: auto", ASKS), Some(SizingMode::Auto));
    assert_eq!(mode("sizing: auto", "sizing: off"), Some(SizingMode::Off));
    assert_eq!(mode("sizing: off", "sizing: advise"), Some(SizingMode::Advise));
}

#[test]
fn a_changed_template_image_or_program_is_another_make() {
    let of = |templates: &TemplateSet, task: &str| make(&plan(templates, "", task), TaskIx(0));
    let same = of(&fixtures(), ASKS);
    assert_eq!(
        same,
        of(&fixtures(), "env: {A: b}, resources: {cpu: 1}"),
        "amounts and variables do not count"
    );
    let mut changed = fixtures();
    changed.get_mut("echo").unwrap().values_mut().for_each(|installed| installed.digest = "other".into());
    assert_ne!(same, of(&changed, ASKS));
    let mut image = fixtures();
    let other = |installed: &mut cubeloom_domain::template::InstalledTemplate| {
        installed.template.image = Some("registry.example/echo:2".into());
    };
    image.get_mut("echo").unwrap().values_mut().for_each(other);
    assert_ne!(same, of(&image, ASKS));
}
