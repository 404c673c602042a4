//! History of quota changes, in pages: each change as the fields that differ.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::super::with_query;
use crate::api::quotas::history::{QuotaChangeView, Told, page};
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::page::PageQuery;
use crate::state::Web;

/// Page size.
const SHOWN: usize = 20;

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Asked {
    /// Filter: `project/NAME`, `group/NAME` or `limit/NAME`. Empty for all.
    #[serde(default)]
    pub queue: String,
    pub cursor: Option<String>,
}

/// A page of changes.
pub(super) struct Changes {
    pub items: Vec<Changed>,
    /// URL of the earlier ones.
    pub next: Option<String>,
    /// Values of the filter.
    pub of: Vec<String>,
}

pub(super) struct Changed {
    pub change: QuotaChangeView,
    /// Changed fields, with values before and after. Empty for none.
    pub fields: Vec<(String, String, String)>,
}

/// Requested changes that the caller can see, the newest first.
pub(super) async fn asked_for(
    web: &Web,
    caller: &Caller,
    asked: &Asked,
    of: impl Iterator<Item = String>,
) -> ApiResult<Changes> {
    let query = PageQuery { limit: Some(SHOWN), cursor: asked.cursor.clone() };
    let one = Some(&asked.queue).filter(|queue| !queue.is_empty());
    let told = Told::to(web, caller).await?.only(one.cloned());
    let found = page(web, &told, &query).await?;
    let next = found.next_cursor.map(|cursor| {
        let pairs = [("queue", asked.queue.as_str()), ("cursor", &cursor)];
        format!("{}#quota-history", with_query("/quotas", &pairs))
    });
    // Deleted ones can still be selected.
    let of: BTreeSet<String> = of.chain(one.cloned()).collect();
    Ok(Changes { items: found.items.into_iter().map(changed).collect(), next, of: of.into_iter().collect() })
}

fn changed(change: QuotaChangeView) -> Changed {
    let (before, after) = (leaves(change.before.as_ref()), leaves(change.after.as_ref()));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let said = |leaves: &BTreeMap<String, String>, name: &str| leaves.get(name).cloned().unwrap_or_default();
    let fields = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    let fields = fields.map(|name| (name.clone(), said(&before, name), said(&after, name))).collect();
    Changed { change, fields }
}

/// Leaf values of a document by path: `prod guarantee gpus` of quotas.
fn leaves(value: Option<&Value>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Some(value) = value {
        gather(value, "", &mut found);
    }
    found
}

fn gather(value: &Value, place: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_queue = place.starts_with("project/") || place.starts_with("group/");
                let is_outer = name == "quotas" && (place.is_empty() || (is_queue && !place.contains(' ')));
                let inner = if is_outer { place.to_owned() } else { format!("{place} {name}") };
                gather(value, inner.trim(), found);
            }
        }
        Value::String(text) => {
            found.insert(place.to_owned(), text.clone());
        }
        other => {
            found.insert(place.to_owned(), other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::time::Time;

    #[test]
    fn a_change_is_the_fields_that_differ() {
        let change = QuotaChangeView {
            id: "1".into(),
            at: Time(Timestamp(1)),
            user: "ada".into(),
            queue: "project/shop".into(),
            before: Some(json!({"quotas": {"prod": {"guarantee": {"gpus": 4}, "weight": 100}}})),
            after: Some(
                json!({"parent": "g", "quotas": {"prod": {"guarantee": {"gpus": 8}, "weight": 100}}}),
            ),
        };
        let fields = changed(change).fields;
        let field = |name: &str, before: &str, after: &str| (name.into(), before.into(), after.into());
        assert_eq!(fields, [field("parent", "", "g"), field("prod guarantee gpus", "4", "8")]);
    }

    #[test]
    fn a_change_of_several_queues_names_each() {
        let of = |shop: u32, ads: u32| {
            let quota = |gpus: u32| json!({"quotas": {"prod": {"guarantee": {"gpus": gpus}}}});
            Some(json!({"project/shop": quota(shop), "project/ads": quota(ads)}))
        };
        let change = QuotaChangeView {
            id: "1".into(),
            at: Time(Timestamp(1)),
            user: "ada".into(),
            queue: "project/shop project/ads".into(),
            before: of(8, 1),
            after: of(6, 3),
        };
        let fields = changed(change).fields;
        let names: Vec<&str> = fields.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["project/ads prod guarantee gpus", "project/shop prod guarantee gpus"]);
        assert_eq!((fields[0].1.as_str(), fields[0].2.as_str()), ("1", "3"));
    }
}
