//! Checks of the canvas: warnings only, because a drawing stops no run.

use std::collections::HashMap;

use cubeloom_domain::canvas::Canvas;
use cubeloom_domain::{Code, Problem};

use super::Edges;
use crate::path::Path;

/// Checks that positions and frames refer to tasks of the pipeline, and that each task is in at most one
/// frame.
pub fn check(canvas: &Canvas, edges: &Edges<'_>, problems: &mut Vec<Problem>) {
    for name in canvas.positions.keys() {
        known(name, edges, || pointer(&["positions", name], None), problems);
    }
    let mut frame_of: HashMap<&str, &str> = HashMap::new();
    for (id, frame) in &canvas.frames {
        for (at, name) in frame.tasks.iter().enumerate() {
            let path = || pointer(&["frames", id, "tasks"], Some(at));
            if !known(name, edges, path, problems) {
                continue;
            }
            if let Some(other) = frame_of.insert(name, id) {
                let message =
                    format!("`{name}` is already in the frame `{other}`; a task can be in only one frame");
                problems.push(Problem::warning(Code::Suspicious, path(), message));
            }
        }
    }
}

fn known(name: &str, edges: &Edges<'_>, path: impl Fn() -> String, problems: &mut Vec<Problem>) -> bool {
    let found = edges.find(name).is_some();
    if !found {
        let message = format!("there is no task `{name}` in this pipeline{}", edges.hint(name));
        problems.push(Problem::warning(Code::UnknownTask, path(), message));
    }
    found
}

fn pointer(keys: &[&str], index: Option<usize>) -> String {
    let mut path = Path::at("/canvas");
    keys.iter().for_each(|key| path.push_key(key));
    if let Some(index) = index {
        path.push_index(index);
    }
    path.pointer()
}
