//! Starting runs, waiting for them, and reading event streams.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use reqwest::Method;
use reqwest::blocking::RequestBuilder;
use serde_json::{Value, json};

use crate::api::support::Client;
use crate::support::{PATIENCE, wait_for};

pub fn document(name: &str, rest: &str) -> String {
    format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: {name}\n{rest}")
}

/// A task that runs a shell command.
pub fn task(name: &str, line: &str, rest: &str) -> String {
    let command = json!(["sh", "-c", line]);
    format!(
        "  - name: {name}\n    template: command\n    resources: {{cpu: 100m, memory: 64Mi}}\n    \
         arguments: {{command: {command}}}\n{rest}"
    )
}

/// Starts a run of a document. Returns its id.
#[track_caller]
pub fn start(client: &Client, document: &str) -> String {
    let started = client.post("/projects/default/runs", &json!({"document": document})).expect(201).json();
    id(&started["run"])
}

#[track_caller]
pub fn id(run: &Value) -> String {
    run["id"].as_str().unwrap_or_else(|| panic!("no id in {run}")).to_owned()
}

/// Waits until a run is in a state. Returns the run.
pub fn until(client: &Client, run: &str, state: &str) -> Value {
    let last = RefCell::new(Value::Null);
    wait_for(&format!("run {run} to be {state}"), || {
        let mut last = last.borrow_mut();
        *last = client.get(&format!("/runs/{run}")).expect(200).json();
        let present = last["state"].as_str().unwrap_or_default();
        let over = ["succeeded", "failed", "cancelled"].contains(&present) && present != state;
        assert!(!over, "it is {present}: {last}");
        present == state
    });
    last.into_inner()
}

#[track_caller]
pub fn of_task(client: &Client, run: &str, task: &str) -> Value {
    client.get(&format!("/runs/{run}/tasks/{task}")).expect(200).json()
}

/// Waits until a task is in a state. Returns the task.
pub fn until_task(client: &Client, run: &str, task: &str, state: &str) -> Value {
    let last = RefCell::new(Value::Null);
    wait_for(&format!("task {task} to be {state}"), || {
        *last.borrow_mut() = of_task(client, run, task);
        last.borrow()["state"] == state
    });
    last.into_inner()
}

/// A server-sent event.
#[derive(Clone, Debug)]
pub struct Event {
    pub id: String,
    pub name: String,
    pub data: Value,
}

/// An event stream that a thread reads.
pub struct Events(Receiver<Event>);

impl Events {
    /// Opens a stream, which must be accepted.
    #[track_caller]
    pub fn open(client: &Client, path: &str, last: Option<&str>) -> Self {
        let mut request = client.request(Method::GET, path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        Self::of(request)
    }

    /// Opens a stream with a request that the test has built.
    #[track_caller]
    pub fn of(request: RequestBuilder) -> Self {
        // The timeout covers the whole stream, not one wait: a test may read it for as long as it runs.
        let response = request.timeout(PATIENCE * 20).send().expect("an answer");
        assert_eq!(response.status().as_u16(), 200, "{}", response.url());
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        assert!(kind.starts_with("text/event-stream"), "{kind}");
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut event = Event { id: String::new(), name: String::new(), data: Value::Null };
            for line in BufReader::new(response).lines().map_while(Result::ok) {
                match line.split_once(": ") {
                    Some(("id", id)) => event.id = id.to_owned(),
                    Some(("event", name)) => event.name = name.to_owned(),
                    Some(("data", data)) => event.data = serde_json::from_str(data).expect("JSON"),
                    _ if line.is_empty() && !event.name.is_empty() => {
                        if sender.send(event.clone()).is_err() {
                            return;
                        }
                        event.name.clear();
                    }
                    _ => {}
                }
            }
        });
        Self(receiver)
    }

    #[track_caller]
    pub fn next(&self) -> Event {
        self.0.recv_timeout(PATIENCE).expect("another event")
    }

    /// The next event that `accept` accepts, skipping the others.
    #[track_caller]
    pub fn find(&self, mut accept: impl FnMut(&Event) -> bool) -> Event {
        loop {
            let event = self.next();
            if accept(&event) {
                return event;
            }
        }
    }

    /// All events up to the end of the stream.
    #[track_caller]
    pub fn rest(&self) -> Vec<Event> {
        let mut all = Vec::new();
        loop {
            match self.0.recv_timeout(PATIENCE) {
                Ok(event) => all.push(event),
                Err(RecvTimeoutError::Disconnected) => return all,
                Err(RecvTimeoutError::Timeout) => panic!("the stream does not end: {all:#?}"),
            }
        }
    }

    /// Asserts that no event arrives for a while.
    #[track_caller]
    pub fn quiet(&self, during: Duration) {
        if let Ok(event) = self.0.recv_timeout(during) {
            panic!("something came: {event:?}");
        }
    }
}
