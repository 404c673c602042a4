//! Tests below the store's API: SQLite's query plans, and a full disk.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::identity::{AuditEntry, Role};
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::{CacheEntry, Changes, ExpansionRecord, InstanceRecord, RunRecord, Wish};
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::{JsonMap, RunId, TaskIx, Timestamp};
use serde_json::json;
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::{Lease, Options, Store, StoreError};

/// Only one test at a time has a store: one of them reads every statement of the process.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Resources of a test's store.
struct Place {
    folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

async fn store() -> (Store, Place) {
    let alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/test.sqlite", folder.path().display());
    let store = Store::open(&Options::new(url)).await.unwrap();
    let shop =
        "INSERT INTO projects (name, label, description, created_at, revision) VALUES ('shop', '', '', 0, 1)";
    sqlx::query(shop).execute(store.writer().await.unwrap().get()).await.unwrap();
    (store, Place { folder, _alone: alone })
}

fn run() -> RunRecord {
    RunRecord {
        id: RunId::new(Timestamp(1), 1),
        project: "shop".into(),
        pipeline: "ctr".into(),
        user: "ada".into(),
        state: RunState::Running,
        created_at: Timestamp(1),
        started_at: None,
        ended_at: None,
        tasks: 0,
        message: None,
        version: None,
        parameters: JsonMap::new(),
        acting: None,
        parent: None,
        cause: Default::default(),
    }
}

fn plan() -> RunPlan {
    let id = run().id;
    serde_json::from_value(json!({
        "context": { "id": id, "project": "shop", "user": "ada", "date": 1 },
        "pipeline": "ctr", "parameters": {}, "cluster": "local", "templates": [], "tasks": [],
    }))
    .unwrap()
}

fn instances(count: u32, note: &str) -> Changes {
    let instance = |instance| InstanceRecord {
        run: run().id,
        task: TaskIx(0),
        instance,
        state: InstanceState::ACTIVE,
        attempt: 1,
        tries: 1,
        ready_at: Timestamp(1),
        ended_at: None,
        report: Default::default(),
        note: Some(note.into()),
        cool_until: None,
    };
    Changes { instances: (0..count).map(instance).collect(), ..Changes::default() }
}

#[tokio::test]
async fn on_a_full_disk_nothing_is_lost() {
    let (store, _place) = store().await;
    let lease = Lease { owner: "a".into() };
    store.create_run(&run(), &plan(), None).await.unwrap();
    store.acquire("a", Timestamp(1), Duration::from_secs(60), 1).await.unwrap();
    let limit = async |pages: u32| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        sqlx::query(AssertSqlSafe(sql)).execute(store.writer().await.unwrap().get()).await.unwrap();
    };
    store.commit(&lease, &instances(1, "before")).await.unwrap();
    limit(1).await; // SQLite reads this as the current number of pages.

    let many = instances(1000, &"x".repeat(500));
    let refused = store.commit(&lease, &many).await.unwrap_err();
    assert!(matches!(refused, StoreError::DiskFull(_)), "{refused}");
    let kept = store.instances(&run().id).await.unwrap();
    assert_eq!(kept, instances(1, "before").instances);

    // A transaction that ends itself, unlike the engine's, leaves the connection usable.
    let long = "x".repeat(1 << 20);
    let write = async || {
        let sql = "UPDATE projects SET description = $1 WHERE name = 'shop'";
        let work = async |connection: &mut AnyConnection| {
            sqlx::query(sql).bind(long.clone()).execute(connection).await?;
            Ok(())
        };
        store.transact(work).await
    };
    limit(1).await;
    let refused = write().await.unwrap_err();
    assert!(matches!(refused, StoreError::DiskFull(_)), "{refused}");

    // The limit applied to that connection: there is space again, without a restart of the server.
    write().await.unwrap();
    store.check().await.unwrap();
    limit(100_000).await;
    store.commit(&lease, &many).await.unwrap();
    assert_eq!(store.instances(&run().id).await.unwrap().len(), 1000);
}

/// Commits only append to the log; a background task moves it into the file.
#[tokio::test]
async fn the_log_is_worked_into_the_file() {
    let (store, place) = store().await;
    let size = || std::fs::metadata(place.folder.path().join("test.sqlite")).unwrap().len();
    store.create_run(&run(), &plan(), None).await.unwrap();
    store.acquire("a", Timestamp(1), Duration::from_secs(60), 1).await.unwrap();
    let before = size();
    store.commit(&Lease { owner: "a".into() }, &instances(3000, "x")).await.unwrap();
    for _ in 0..500 {
        if size() > before + 100_000 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the file still has {} bytes", size());
}

/// Collects the text of every statement that the driver logs.
#[derive(Clone, Default)]
struct Statements(Arc<std::sync::Mutex<BTreeSet<String>>>);

impl<S: tracing::Subscriber> Layer<S> for Statements {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "sqlx::query" {
            let mut text = Text::default();
            event.record(&mut text);
            let statement = if text.statement.trim().is_empty() { text.summary } else { text.statement };
            self.0.lock().unwrap().insert(statement.trim().to_owned());
        }
    }
}

#[derive(Default)]
struct Text {
    summary: String,
    statement: String,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => self.summary = value.into(),
            "db.statement" => self.statement = value.into(),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

/// All database operations of a server that leads runs.
async fn everything(store: &Store) {
    let (id, now, ttl) = (run().id, Timestamp(1), Duration::from_secs(60));
    let lease = Lease { owner: "a".into() };
    store.create_run(&run(), &plan(), None).await.unwrap();
    store.acquire("a", now, ttl, 10).await.unwrap();
    store.renew("a", now, ttl).await.unwrap();
    let wish = store.add_wish(&id, &Wish::Cancel, "ada", now, None).await.unwrap();
    store.wishes(std::slice::from_ref(&id)).await.unwrap();
    store.active_runs(("shop", "ctr")).await.unwrap();
    let changes = Changes {
        runs: vec![run()],
        expansions: vec![ExpansionRecord { run: id.clone(), task: TaskIx(1), items: Vec::new() }],
        unexpanded: vec![(id.clone(), TaskIx(1))],
        cache: vec![entry(&id)],
        wishes: vec![wish],
        ..instances(300, "")
    };
    store.commit(&lease, &changes).await.unwrap();
    store.cached("shop", &["k".into()]).await.unwrap();
    store.last_cache_entry("shop", "ctr", "pull").await.unwrap();
    store.load(&id).await.unwrap();
    store.attempts(&id).await.unwrap();
    store.release("a", &[id]).await.unwrap();
    store.release_all("a").await.unwrap();
    store.check().await.unwrap();
}

fn entry(run: &RunId) -> CacheEntry {
    CacheEntry {
        key: "k".into(),
        parts: json!({}),
        project: "shop".into(),
        pipeline: "ctr".into(),
        task: "pull".into(),
        run: run.clone(),
        created_at: Timestamp(1),
        report: Default::default(),
    }
}

/// History must not slow down active runs: no statement scans a whole table. A scan of an index over live
/// rows is fine, because it is short.
#[tokio::test]
async fn no_statement_of_the_engine_reads_a_whole_table() {
    let statements = Statements::default();
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(statements.clone())).unwrap();
    let (store, _place) = store().await;
    statements.0.lock().unwrap().clear();
    everything(&store).await;

    let statements = statements.0.lock().unwrap().clone();
    let reads = |statement: &&String| !["PRAGMA", "CREATE"].iter().any(|word| statement.starts_with(word));
    let mut bad = String::new();
    let mut seen = 0;
    for statement in statements.iter().filter(reads) {
        seen += 1;
        let explain = format!("EXPLAIN QUERY PLAN {statement}");
        let rows = sqlx::query(AssertSqlSafe(explain)).fetch_all(&store.inner.pool).await.unwrap();
        for row in rows {
            let step: String = row.try_get(3).unwrap();
            let live = ["runs_live", "runs_leased", "wishes_open", "attempts_live"];
            let short = step.contains("CONSTANT ROW")
                || step.contains("-ROW VALUES")
                || live.iter().any(|index| step.contains(&format!("INDEX {index}")));
            if step.starts_with("SCAN") && !short {
                writeln!(bad, "{step}: {statement}").unwrap();
            }
        }
    }
    assert!(seen >= 20, "only {seen} statements were seen");
    assert!(bad.is_empty(), "{bad}");
}

/// Request handlers await these on any thread.
#[test]
fn changes_can_move_between_threads() {
    fn movable<T: Send>(_: impl FnOnce(&'static Store, &'static AuditEntry) -> T) {}
    movable(|store, audit| store.delete_project("shop", None, audit));
    movable(|store, audit| store.put_member("shop", "ada", Role::Viewer, None, audit));
    movable(|store, audit| store.use_reset_link("l", "ada", "hash", audit));
}
