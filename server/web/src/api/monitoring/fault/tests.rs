//! Runs the router in this process with a fake machine: it reports GPUs and GPU errors, which test machines
//! lack.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode, header};
use cubeloom_domain::Bytes;
use cubeloom_domain::clusters::{Clusters, LOCAL};
use cubeloom_domain::executor::{Executor, GpuFacts};
use cubeloom_domain::identity::Scope;
use cubeloom_domain::nodes::NodeRule;
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_monitoring::advice::Thresholds;
use cubeloom_store::{Options, Store};
use cubeloom_testkit::builders;
use cubeloom_testkit::clock::SystemClock;
use cubeloom_testkit::fake::FakeExecutor;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{broadcast, watch};
use tower::ServiceExt;

use crate::alerts::AlertSettings;
use crate::audit::{Act, Actor};
use crate::auth::accounts::{self, NewAccount};
use crate::auth::tokens::{self, NewToken};
use crate::secrets::Keyring;
use crate::state::{Folders, Keys, Parts, Settings, TerminalSettings, Web};

const FAULT: &str = "/api/v1/clusters/local/gpus/card-1/fault";

/// A server whose local machine has two GPUs, and an administrator's token.
struct Site {
    router: Router,
    token: String,
    machine: Arc<FakeExecutor>,
    /// Number of scheduler wake-ups.
    woken: Arc<AtomicUsize>,
    _folder: TempDir,
}

impl Site {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("db.sqlite").display());
        let store = Store::open(&Options::new(url)).await.unwrap();
        let mut facts = builders::facts("4", "8Gi");
        let card = |uuid: &str| GpuFacts {
            uuid: uuid.into(),
            name: "NVIDIA-H100-80GB-HBM3".into(),
            memory: Bytes(80 << 30),
            xid: None,
        };
        facts.nodes[0].gpus = vec![card("card-0"), card("card-1")];
        let machine = FakeExecutor::new(facts, Arc::new(SystemClock));
        let woken = Arc::new(AtomicUsize::new(0));
        let web = Web::new(parts(store, &machine, &woken, folder.path()));
        let token = administrator(&web).await;
        Self { router: crate::router(web), token, machine, woken, _folder: folder }
    }

    async fn ask(&self, method: Method, path: &str) -> (StatusCode, String) {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        let answer = self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let status = answer.status();
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Response body of a GET request.
    async fn text(&self, path: &str) -> String {
        let (status, text) = self.ask(Method::GET, path).await;
        assert_eq!(status, StatusCode::OK, "{text}");
        text
    }

    async fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(path).await).unwrap()
    }

    /// XIDs of the two GPUs, as the API of the local machine returns them.
    async fn errors(&self) -> [Value; 2] {
        let seen = self.json("/api/v1/clusters/local").await;
        [0, 1].map(|card: usize| seen["nodes"][0]["gpus"][card]["xid"].clone())
    }
}

async fn administrator(web: &Web) -> String {
    let act = Act::by(web, Actor::server());
    let ada = NewAccount { name: "ada".into(), admin: true, ..NewAccount::default() };
    let ada = accounts::create(&act, ada).await.unwrap();
    let token = NewToken { name: "test".into(), scope: Scope::Admin, project: None, expires_at: None };
    tokens::create(&act, &ada, token).await.unwrap().1
}

/// Without an engine: only wake-ups are counted.
fn parts(store: Store, machine: &Arc<FakeExecutor>, woken: &Arc<AtomicUsize>, folder: &Path) -> Parts {
    let executor: Arc<dyn Executor> = Arc::clone(machine) as _;
    let woken = Arc::clone(woken);
    Parts {
        store,
        clock: Arc::new(SystemClock),
        clusters: Clusters::from_iter([(LOCAL.to_owned(), executor)]),
        make_cluster: Arc::new(|_, _, _| unreachable!("no cluster is added")),
        templates: watch::Sender::new(Arc::default()),
        events: broadcast::channel(1).1,
        stopping: watch::channel(false).1,
        wake: Arc::new(move || {
            woken.fetch_add(1, Ordering::SeqCst);
        }),
        desks: Arc::new(|_| Box::pin(std::future::ready(None))),
        last_pass: Arc::new(|| None),
        metrics: Arc::new(|_| Box::pin(std::future::ready(String::new()))),
        folders: Folders {
            data: folder.into(),
            code: folder.join("code"),
            templates: folder.join("templates"),
            workspace: folder.join("workspace"),
        },
        keys: Keys { signing: [1; 32], sealing: Keyring::new(&[[2; 32]]).unwrap() },
        settings: settings(),
    }
}

fn settings() -> Settings {
    let minute = Duration::from_secs(60);
    Settings {
        url: "http://127.0.0.1".into(),
        proxies: 0,
        rate: 0,
        streams: 0,
        private_endpoints: false,
        slurm: false,
        upload: 0,
        oidc: None,
        terminals: TerminalSettings { most: 0, each: 0, limit: minute, idle: minute, away: minute },
        sizing: SizingMode::Auto,
        currency: None,
        audit: Default::default(),
        alerts: AlertSettings::default(),
        nodes: NodeRule::default(),
        advice: Thresholds::default(),
        period: minute,
    }
}

#[tokio::test]
async fn a_faulty_card_is_taken_back_once_and_the_audit_log_has_it() {
    let site = Site::start().await;
    let log = "/api/v1/audit?action=card.take_back";
    // The page's script looks for this; tests/e2e/clusters.test.mjs inserts it into the page of a machine
    // without GPUs.
    let button = "data-whole=\"card-1\" data-cluster=\"local\"";
    site.machine.set_fault("card-1", 79);
    assert_eq!(site.errors().await, [Value::Null, json!(79)]);
    assert!(site.text("/clusters").await.contains(button));
    assert_eq!(site.ask(Method::DELETE, &FAULT.replace("card-1", "card-0")).await.0, StatusCode::NOT_FOUND);
    assert_eq!(site.json(log).await["items"], json!([]));

    assert_eq!(site.ask(Method::DELETE, FAULT).await, (StatusCode::NO_CONTENT, String::new()));
    assert_eq!((site.machine.known_fault("card-1"), site.woken.load(Ordering::SeqCst)), (None, 1));
    assert_eq!(site.errors().await, [Value::Null, Value::Null]);
    assert!(!site.text("/clusters").await.contains("data-whole"));

    let (status, refused) = site.ask(Method::DELETE, FAULT).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(refused.contains("no faulty GPU `card-1`"), "{refused}");
    assert_eq!(site.woken.load(Ordering::SeqCst), 1);
    let log = site.json(log).await;
    let entries = log["items"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{log}");
    let told = ["user", "subject", "before", "after"].map(|field| entries[0][field].clone());
    assert_eq!(told, [json!("ada"), json!("local/card-1"), json!({"xid": 79}), Value::Null]);
}
