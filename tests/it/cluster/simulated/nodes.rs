//! Cordoned nodes, by a person and after failures: they are replaced by a standby node, and uncordoned.

use cubeloom_domain::clock::Clock;
use cubeloom_testkit::clock::SystemClock;
use cubeloom_web::time::Time;
use kube::ResourceExt;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use super::{Place, add};
use crate::api::support::{Client, Server, Who};
use crate::cluster::kubectl::Object;
use crate::cluster::product::{ended, until};
use crate::support::TestApp;

/// Nodes of this test alone, so that other tests keep theirs.
struct Own<'p> {
    place: &'p Place,
    names: [String; 3],
}

impl<'p> Own<'p> {
    fn new(place: &'p Place) -> Self {
        let names = ["0", "1", "2"].map(|n| format!("{}-{n}", place.namespace));
        let own = Self { place, names };
        own.names.iter().for_each(|name| place.runtime.block_on(place.kubectl.apply(&own.node(name))));
        own
    }

    fn node(&self, name: &str) -> Object {
        let has = json!({"cpu": "2", "memory": "4Gi", "pods": "20", "nvidia.com/gpu": "1"});
        Object::of(json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"type": "kwok", "own": self.place.namespace}},
            "status": {"allocatable": has, "capacity": has},
        }))
    }

    fn api(&self) -> Api<DynamicObject> {
        self.place.kubectl.api(&self.node("any"))
    }

    /// Whether the node is cordoned, and whether by this server.
    fn cordoned(&self, name: &str) -> (bool, bool) {
        let node = self.place.runtime.block_on(self.api().get(name)).unwrap();
        (node.data["spec"]["unschedulable"] == true, node.labels().contains_key("cubeloom/aside"))
    }

    fn cordon(&self, name: &str) {
        let change = json!({"spec": {"unschedulable": true}});
        self.place.runtime.block_on(self.place.kubectl.merge(&self.node(name), &change));
    }

    /// Reports that a GPU of the node just fell off the bus.
    fn lose_card(&self, name: &str) {
        let condition = json!({
            "type": "GpuXidError", "status": "True", "reason": "Xid",
            "message": "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
            "lastTransitionTime": Time(SystemClock.now()),
        });
        let patch = Patch::Strategic(json!({"status": {"conditions": [condition]}}));
        let (api, params) = (self.api(), PatchParams::default());
        self.place.runtime.block_on(api.patch_status(name, &params, &patch)).unwrap();
    }
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        for name in &self.names {
            self.place.runtime.block_on(self.place.kubectl.delete(&self.node(name)));
        }
    }
}

/// Defines the node group with this many standby nodes.
fn group(client: &Client, place: &Place, spares: u32) {
    let mut settings = client.get("/clusters/simulated/settings").expect(200).json();
    settings["node_groups"] = json!({"own": {"selector": {"own": place.namespace}, "spares": spares}});
    client.put("/clusters/simulated", "*", &settings).expect(200);
}

/// The nodes of the group that take jobs, and its standby nodes.
fn members(client: &Client) -> (Vec<String>, Vec<String>) {
    let seen = client.get("/clusters/simulated").expect(200).json();
    let of_group = |node: &&Value| node["groups"].as_array().unwrap().contains(&json!("own"));
    let nodes = seen["nodes"].as_array().unwrap().iter().filter(of_group);
    let mut nodes: Vec<String> = nodes.map(|node| node["name"].as_str().unwrap().to_owned()).collect();
    nodes.sort();
    (nodes, serde_json::from_value(seen["spares"].clone()).unwrap_or_default())
}

/// Starts a task on the group. Returns the run.
fn start(client: &Client, task: &str, pods: u32, gpus: u32) -> String {
    let elements: Vec<u32> = (0..pods).collect();
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "nodes", "cluster": "simulated",
        "tasks": [{
            "name": task, "template": "command", "arguments": {"command": ["true"]},
            "for_each": {"list": elements},
            "placement": {"node_group": "own"},
            "resources": {"cpu": "100m", "memory": "64Mi", "gpu": {"count": gpus}},
        }],
    });
    let wanted = json!({"document": document.to_string()});
    let started = client.post("/projects/default/runs", &wanted).expect(201).json();
    started["run"]["id"].as_str().unwrap().to_owned()
}

/// Runs a task on the group. Returns the nodes of its pods.
fn run(client: &Client, place: &Place, pods: u32) -> Vec<String> {
    let run = start(client, "simulated", pods, 0);
    ended(client, &run);
    let named = json!({"name": "any", "namespace": place.namespace});
    let api = place.kubectl.api(&Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": named})));
    let of_run = ListParams::default().labels(&format!("cubeloom/run={run}"));
    let found = place.runtime.block_on(api.list(&of_run)).unwrap();
    let node = |pod: &DynamicObject| pod.data["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
    found.items.iter().map(node).collect()
}

#[ignore = "needs a cluster"]
#[test]
fn a_node_that_is_set_aside_is_cordoned_and_a_spare_works_in_its_place() {
    let place = Place::new();
    let own = Own::new(&place);
    let [first, second, third] = &own.names;
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    group(&admin, &place, 1);
    until("one of three is a spare", || {
        members(&admin) == (vec![first.clone(), second.clone()], vec![third.clone()])
    });
    assert!(!run(&admin, &place, 6).contains(third));

    let aside = format!("/clusters/simulated/aside/{first}");
    admin.put(&aside, "", &json!({"note": "its fan"})).expect(201);
    admin.put(&aside, "", &json!({"note": "again"})).expect(200);
    until("it is cordoned", || own.cordoned(first) == (true, true));
    until("the spare works in its place", || {
        members(&admin) == (vec![second.clone(), third.clone()], Vec::new())
    });
    let nodes = run(&admin, &place, 6);
    assert!(!nodes.contains(first), "{nodes:?}");
    let seen = admin.get("/clusters/simulated").expect(200).json();
    assert_eq!((&seen["aside"][0]["node"], &seen["aside"][0]["note"]), (&json!(first), &json!("its fan")));
    assert!(admin.get("page:/clusters").expect(200).text().contains("its fan"));

    // A node that a person cordoned stays so when the server uncordons it.
    own.cordon(second);
    let other = format!("/clusters/simulated/aside/{second}");
    admin.put(&other, "", &json!({"note": "its disk"})).expect(201);
    admin.delete(&aside, "").expect(204);
    until("it is let in again", || own.cordoned(first) == (false, false));
    until("it takes jobs again", || members(&admin).0 == [first.clone(), third.clone()]);
    admin.delete(&other, "").expect(204);
    admin.delete(&other, "").expect(404);
    assert_eq!(own.cordoned(second), (true, false));
}

#[ignore = "needs a cluster"]
#[test]
fn a_node_whose_cards_are_lost_again_and_again_is_set_aside() {
    let place = Place::new();
    let own = Own::new(&place);
    let [first, others @ ..] = &own.names;
    // The only GPU node that takes jobs.
    others.iter().for_each(|name| own.cordon(name));
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    group(&admin, &place, 0);
    until("the node is known", || members(&admin).0 == std::slice::from_ref(first));
    own.lose_card(first);
    // A failure caused by a lost GPU is retried automatically, and the retry loses a GPU again.
    let started = start(&admin, "failing", 1, 1);
    until("it is set aside", || {
        own.lose_card(first);
        own.cordoned(first) == (true, true)
    });
    let aside = admin.get("/clusters/simulated").expect(200).json()["aside"][0].clone();
    assert_eq!(
        (&aside["node"], aside["failures"].as_array().unwrap().len()),
        (&json!(first), 3),
        "{aside:#}"
    );
    assert!(aside["why"].as_str().unwrap().contains("fallen off the bus"), "{aside:#}");
    assert_eq!(aside["failures"][0]["run"], json!(started));
    assert_eq!(ended(&admin, &started)["state"], "failed");
}
