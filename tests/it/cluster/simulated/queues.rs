//! The quota tree as Volcano queues: created, changed and removed with it, with jobs in them. Others' queues
//! are left alone.

use kube::api::{DynamicObject, ListParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::{Place, add};
use crate::api::support::{Client, Server, Who};
use crate::cluster::kubectl::Object;
use crate::cluster::product::{ended, until};
use crate::support::TestApp;

const OWN: &str = "cubeloom-project-default";
const GROUP: &str = "cubeloom-group-vision";
const FOREIGN: &str = "cubeloom-group-theirs";

fn queue(name: &str) -> Object {
    let metadata = json!({"name": name});
    let spec = json!({"weight": 7, "reclaimable": true});
    Object::of(json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": metadata, "spec": spec,
    }))
}

/// A queue of the cluster.
fn seen(place: &Place, name: &str) -> Option<DynamicObject> {
    place.runtime.block_on(place.kubectl.api(&queue(name)).get_opt(name)).unwrap()
}

/// A field of a queue.
fn part(place: &Place, name: &str, pointer: &str) -> Value {
    let found = seen(place, name).map(|queue| queue.data.pointer(pointer).cloned().unwrap_or_default());
    found.unwrap_or_default()
}

/// Sets a queue's quota, overwriting any earlier one.
fn put(admin: &Client, path: &str, body: &Value) {
    admin.put(path, "*", body).expect(200);
}

#[ignore = "needs a cluster"]
#[test]
fn quotas_are_kept_as_queues_and_jobs_go_into_them() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    place.runtime.block_on(place.kubectl.apply(&queue(FOREIGN)));
    add(&admin, &place.namespace);
    let all = json!({"quotas": {"simulated": {"guarantee": {"cpu": "6", "gpus": 2}, "weight": 300}}});
    put(&admin, "/quotas/groups/vision", &all);
    put(&admin, "/quotas/groups/theirs", &json!({"quotas": {"simulated": {"weight": 50}}}));
    let own = |cpu: &str| {
        let quota = json!({"guarantee": {"cpu": cpu}, "limit": {"cpu": "4", "gpus": 1}, "lend": false});
        json!({"parent": "vision", "quotas": {"simulated": quota}})
    };
    put(&admin, "/projects/default/quota", &own("2"));
    until("the queues are there", || part(&place, OWN, "/status/state") == "Open");
    assert_eq!(part(&place, GROUP, "/spec/deserved"), json!({"cpu": "6", "nvidia.com/gpu": "2"}));
    assert_eq!(part(&place, GROUP, "/spec/guarantee/resource"), json!({"cpu": "2"}));
    assert_eq!(
        (part(&place, GROUP, "/spec/weight"), part(&place, GROUP, "/spec/parent")),
        (json!(300), json!("root"))
    );
    assert_eq!(part(&place, OWN, "/spec/parent"), GROUP);
    assert_eq!(part(&place, OWN, "/spec/capability/nvidia.com~1gpu"), "1");

    // A job uses the queue once the server has seen that it is open.
    let mut chosen = String::new();
    until("a job lands in the queue", || {
        let run = super::start(&admin, 1, None);
        assert_eq!(ended(&admin, &run)["state"], "succeeded");
        let named = json!({"name": "any", "namespace": place.namespace});
        let pods: Api<DynamicObject> =
            place.kubectl.api(&Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": named})));
        let of_run = ListParams::default().labels(&format!("cubeloom/run={run}"));
        let found = place.runtime.block_on(pods.list(&of_run)).unwrap();
        let annotation =
            |pod: &DynamicObject| pod.annotations().get("scheduling.volcano.sh/queue-name").cloned();
        chosen = found.items.first().and_then(annotation).unwrap_or_default();
        chosen == OWN
    });

    put(&admin, "/projects/default/quota", &own("3"));
    until("the change is there", || part(&place, OWN, "/spec/guarantee/resource/cpu") == "3");
    let check = admin.get("/clusters/simulated/check").expect(200).json()["problems"].to_string();
    assert!(check.contains(&format!("the queue `{FOREIGN}` does not match the quotas")), "{check}");

    put(&admin, "/projects/default/quota", &json!({}));
    until("it goes when its quota has gone", || seen(&place, OWN).is_none());
    assert!(seen(&place, GROUP).is_some());
    assert_eq!(part(&place, FOREIGN, "/spec/weight"), 7);
    for name in ["vision", "theirs"] {
        put(&admin, &format!("/quotas/groups/{name}"), &json!({}));
    }
    until("the group goes, too", || seen(&place, GROUP).is_none());
    assert!(seen(&place, FOREIGN).is_some());
    place.runtime.block_on(place.kubectl.delete(&queue(FOREIGN)));
}
