//! Warnings about reused results that would differ today.

use std::io;
use std::path::Path;

use cubeloom_compiler::part::{Part, changed};
use cubeloom_domain::plan::{Late, PlannedTask, RunPlan};
use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use super::earlier::Earlier;
use crate::code;

/// Changes since the earlier run, one warning per task. `folder` contains the code folders.
pub(super) async fn of(part: &Part, earlier: &Earlier, folder: &Path) -> Vec<Problem> {
    let mut warnings = Vec::new();
    for ix in &part.taken {
        let task = part.plan.task(*ix);
        let Some(old) = earlier.plan.find(&task.name) else { continue };
        let what = changes((&part.plan, task), (&earlier.plan, earlier.plan.task(old)), folder).await;
        if what.is_empty() {
            continue;
        }
        let (name, run) = (&task.name, &earlier.record.id);
        let message = format!(
            "`{name}` has changed since run {run}, whose result is reused: {}; run from `{name}` to use its current version",
            what.join(", ")
        );
        let path = format!("/tasks/{}", part.places[ix.index()]);
        warnings.push(Problem::warning(Code::Suspicious, path, message));
    }
    warnings
}

/// Changes of a task since the earlier plan: names of fields, and files that its arguments name.
pub(super) async fn changes(
    now: (&RunPlan, &PlannedTask),
    then: (&RunPlan, &PlannedTask),
    folder: &Path,
) -> Vec<String> {
    let mut what = changed(now, then);
    what.extend(changed_files(now.0, now.1, then.0, folder).await);
    what
}

/// Files of the code folder that a task's arguments name and whose content has changed.
async fn changed_files(now: &RunPlan, task: &PlannedTask, then: &RunPlan, folder: &Path) -> Vec<String> {
    let (Some(new), Some(old)) = (&now.context.code, &then.context.code) else { return Vec::new() };
    let mut changed = Vec::new();
    if new == old {
        return changed;
    }
    for name in &now.template_of(task).path_arguments {
        let Some(Late::Value(Value::String(path))) = task.arguments.get(name) else { continue };
        let file = |digest: &String| code::file_in(&folder.join(digest), path.trim_start_matches("./"));
        // Missing files are reported when the task runs.
        let (Some(new), Some(old)) = (file(new), file(old)) else { continue };
        if differ(&new, &old).await.unwrap_or(false) {
            changed.push(format!("the file {path}"));
        }
    }
    changed
}

#[expect(clippy::disallowed_methods, reason = "unpacked code holds plain files only, and is the server's")]
async fn differ(one: &Path, other: &Path) -> io::Result<bool> {
    let lengths = (tokio::fs::metadata(one).await?.len(), tokio::fs::metadata(other).await?.len());
    Ok(lengths.0 != lengths.1 || tokio::fs::read(one).await? != tokio::fs::read(other).await?)
}
