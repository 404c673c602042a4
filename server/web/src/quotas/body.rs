//! Parses and validates queues in requests, and collects all problems with their fields.

use std::collections::BTreeMap;

use cubeloom_domain::quota::change::QueueChange;
use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};
use serde_json::Value;

use crate::api::quotas::view::{EditBody, QueueBody, QuotaBody};
use crate::check::Found;

/// Maximum length of a group name.
pub(crate) const NAME: usize = 63;

/// The requested record. Problems are added to `found`, under `prefix`.
pub(crate) fn record(queue: Queue, body: QueueBody, prefix: &str, found: &mut Found) -> QueueRecord {
    let mut quotas = BTreeMap::new();
    for (name, said) in body.quotas {
        let place = format!("{prefix}/quotas/{}", escaped(&name));
        match name.parse::<Pool>() {
            Ok(pool) => {
                quotas.insert(pool, quota(said, &place, found));
            }
            Err(unknown) => found.wrong(&place, unknown.to_string()),
        }
    }
    QueueRecord { queue, parent: body.parent.filter(|name| !name.is_empty()), quotas, revision: 0 }
}

/// The requested changes, each of a different queue. Problems are added to `found`.
pub(crate) fn changes(edits: Vec<EditBody>, found: &mut Found) -> Vec<QueueChange> {
    let mut changes: Vec<QueueChange> = Vec::new();
    for (at, edit) in edits.into_iter().enumerate() {
        let (place, queue, expected) = (format!("/edits/{at}"), edit.queue(), edit.revision);
        let field = format!("{place}/name");
        if changes.iter().any(|change| change.queue == queue) {
            found.wrong(&field, "it is edited twice: combine both edits into one");
        }
        if let Queue::Group(name) = &queue {
            found.name(&field, name, NAME);
        }
        changes.push(if edit.delete {
            QueueChange::take_away(queue, expected)
        } else {
            let body = QueueBody { parent: edit.parent, quotas: edit.quotas, below_use: false };
            QueueChange::put(record(queue, body, &place, found), expected)
        });
    }
    changes
}

fn quota(said: QuotaBody, place: &str, found: &mut Found) -> Quota {
    let mut read =
        |part: &str, said: BTreeMap<String, Value>| amounts(said, &format!("{place}/{part}"), found);
    Quota {
        guarantee: read("guarantee", said.guarantee),
        limit: read("limit", said.limit),
        per_person: read("per_person", said.per_person),
        max_priority: said.max_priority,
        weight: said.weight,
        borrow: said.borrow,
        lend: said.lend,
    }
}

fn amounts(said: BTreeMap<String, Value>, place: &str, found: &mut Found) -> Amounts {
    let mut read = |name: String, amount: Value| {
        let place = format!("{place}/{}", escaped(&name));
        let text = match amount {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => {
                found.wrong(&place, "write an amount: a number, or a text like `64Gi`");
                return None;
            }
        };
        let resource = name.parse::<Resource>().map_err(|unknown| unknown.to_string());
        let amount = resource.and_then(|resource| {
            let amount = resource.read(&text).map_err(|wrong| wrong.to_string())?;
            Ok((resource, amount))
        });
        amount.map_err(|message| found.wrong(&place, message)).ok()
    };
    said.into_iter().filter_map(|(name, amount)| read(name, amount)).collect()
}

/// Escapes a name for use in a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
