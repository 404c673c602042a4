//! Converts the results of an earlier run's tasks to the first records of a new run.

use std::path::Path;

use cubeloom_compiler::part::Part;
use cubeloom_domain::TaskIx;
use cubeloom_domain::executor::Report;
use cubeloom_domain::record::{ExpansionRecord, InstanceRecord, TakenOver};
use cubeloom_domain::state::{InstanceState, ReusedFrom};

use super::earlier::Earlier;

/// Initial records of reused tasks: items and ended instances.
pub(super) fn over(part: &Part, earlier: &Earlier, workspace: &Path) -> TakenOver {
    let mut taken = TakenOver::default();
    for ix in &part.taken {
        let name = &part.plan.task(*ix).name;
        let Some(old) = earlier.plan.find(name) else { continue };
        if let Some(items) = earlier.items.get(&old) {
            let run = part.plan.context.id.clone();
            taken.expansions.push(ExpansionRecord { run, task: *ix, items: items.clone() });
        }
        let instances = earlier.of_task(old).iter();
        taken.instances.extend(instances.map(|each| instance(part, *ix, name, earlier, each, workspace)));
    }
    taken
}

fn instance(
    part: &Part,
    task: TaskIx,
    name: &str,
    earlier: &Earlier,
    old: &InstanceRecord,
    workspace: &Path,
) -> InstanceRecord {
    let context = &part.plan.context;
    // The logical date of a resumed run can precede the end of the earlier run.
    let at = earlier.record.ended_at.map_or(context.date, |ended| ended.max(context.date));
    let state = match &old.state {
        // Name the run that produced the result, not the runs that passed it on.
        InstanceState::Succeeded { reused: Some(first) } => {
            InstanceState::Succeeded { reused: Some(first.clone()) }
        }
        InstanceState::Succeeded { reused: None } => InstanceState::Succeeded {
            reused: Some(ReusedFrom {
                run: earlier.record.id.clone(),
                task: name.to_owned(),
                ended_at: old.ended_at.unwrap_or(old.ready_at),
            }),
        },
        other => other.clone(),
    };
    InstanceRecord {
        run: context.id.clone(),
        task,
        instance: old.instance,
        state,
        attempt: 0,
        tries: 0,
        ready_at: at,
        ended_at: Some(at),
        report: moved(&old.report, &folder(part, earlier, workspace)),
        note: Some(format!("reused from run {}", earlier.record.id)),
        cool_until: None,
    }
}

/// Run folders of both runs, as programs see them.
fn folder(part: &Part, earlier: &Earlier, workspace: &Path) -> (String, String) {
    let runs = workspace.join(&part.plan.context.project).join("runs");
    let of = |id: &str| runs.join(id).to_string_lossy().into_owned();
    (of(earlier.record.id.as_str()), of(part.plan.context.id.as_str()))
}

/// A report with paths into the new run's copy, so that tasks cannot change the earlier run.
fn moved(report: &Report, (old, new): &(String, String)) -> Report {
    let (Ok(text), Ok(old), Ok(new)) =
        (serde_json::to_string(report), serde_json::to_string(old), serde_json::to_string(new))
    else {
        return report.clone();
    };
    let (old, new) = (old.trim_matches('"'), new.trim_matches('"'));
    if !text.contains(old) {
        return report.clone();
    }
    serde_json::from_str(&text.replace(old, new)).unwrap_or_else(|_| report.clone())
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::executor::Artifact;
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_into_the_new_folder() {
        let report = Report {
            outputs: json!({"model": "/w/p/runs/OLD/m.json", "n": 1, "elsewhere": "/w/p/runs/OTHER/x"})
                .as_object()
                .unwrap()
                .clone(),
            artifacts: vec![Artifact { name: "a".into(), path: "/w/p/runs/OLD/a.png".into() }],
            ..Report::default()
        };
        let moved = moved(&report, &("/w/p/runs/OLD".into(), "/w/p/runs/NEW".into()));
        assert_eq!(
            serde_json::Value::Object(moved.outputs),
            json!({"model": "/w/p/runs/NEW/m.json", "n": 1, "elsewhere": "/w/p/runs/OTHER/x"})
        );
        assert_eq!(moved.artifacts[0].path, "/w/p/runs/NEW/a.png");
    }
}
