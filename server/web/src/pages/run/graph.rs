//! Tasks and edges. The script draws them from this data.

use askama::Template;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::head::Head;
use super::tally::tally;
use crate::error::ApiResult;
use crate::pages::{Frame, html};
use crate::runs::Reader;

#[derive(Template)]
#[template(path = "run/graph.html")]
struct GraphPage {
    frame: Frame,
    head: Head,
    /// `{nodes: [{id, template, for_each}], edges: [{from, to}]}`. It never changes.
    graph: Value,
    /// Task -> `{state, done?, total?, tally?}`, updated while the run is active.
    states: Value,
}

pub(super) fn page(frame: Frame, head: Head, reader: &Reader<'_>) -> ApiResult<Response> {
    let states = states(&frame, reader);
    html(&GraphPage { frame, head, graph: graph(reader), states })
}

fn graph(reader: &Reader<'_>) -> Value {
    let plan = &reader.plan;
    let node = |task: &cubeloom_domain::plan::PlannedTask| {
        let template = plan.template_of(task);
        json!({ "id": task.name, "template": template.name, "for_each": task.for_each.is_some() })
    };
    let nodes: Vec<Value> = plan.tasks.iter().map(node).collect();
    let edges = plan.tasks.iter().flat_map(|task| {
        task.needs.iter().map(|need| json!({ "from": plan.task(*need).name, "to": task.name }))
    });
    json!({ "nodes": nodes, "edges": edges.collect::<Vec<_>>() })
}

fn states(frame: &Frame, reader: &Reader<'_>) -> Value {
    let states: Map<String, Value> = (0u32..)
        .zip(&reader.plan.tasks)
        .map(|(index, task)| {
            let mut state = json!({ "state": reader.state(index) });
            if task.for_each.is_some() {
                state["done"] = reader.ended(index).into();
                state["total"] = reader.instances(index).into();
                state["tally"] = tally(frame, &reader.counts(index)).into();
            }
            (task.name.clone(), state)
        })
        .collect();
    states.into()
}
