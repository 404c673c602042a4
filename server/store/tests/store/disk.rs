//! Full disks and broken connections: a failed write succeeds within five seconds after the cause is gone.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cubeloom_domain::identity::Project;
use cubeloom_store::{Options, ReserveState, Store, StoreError};
use cubeloom_testkit::postgres::Cluster;
use sqlx::{AnyConnection, Connection};

use crate::faults::outside;
use crate::people::{audit, project};
use crate::support::Fixture;

/// Maximum time until the database accepts writes again.
const SOON: Duration = Duration::from_secs(5);
/// Timeout for expected conditions.
const PATIENCE: Duration = Duration::from_secs(60);

/// A disk of a few megabytes, unmounted on drop.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` if mounts are not permitted.
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "tmpfs"]).arg(folder.path());
        let mounted = mount.output().is_ok_and(|done| done.status.success());
        if !mounted {
            eprintln!("skipped: no disk can be mounted here");
        }
        mounted.then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills all free space.
    fn fill(&self) -> PathBuf {
        let path = self.path().join("filler");
        let mut file = File::create(&path).unwrap();
        for piece in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![1; piece]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

/// Writes a row that needs space.
async fn write(store: &Store, n: u32) -> Result<(), StoreError> {
    let large = Project { description: "x".repeat(200_000), ..project(&format!("large-{n}")) };
    store.create_project(&large, &audit("project.create")).await.map(drop)
}

/// Writes until the disk is full.
async fn write_until_full(store: &Store) -> u32 {
    for n in 0..1000 {
        match write(store, n).await {
            Ok(()) => {}
            Err(StoreError::DiskFull(_)) => return n,
            Err(other) => panic!("{other:?}"),
        }
    }
    panic!("the disk does not get full");
}

async fn until_reserve_is(store: &Store, state: ReserveState, within: Duration) {
    let began = Instant::now();
    while store.reserve() != state {
        assert!(began.elapsed() < within, "the reserve is {:?}", store.reserve());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_written_on_its_reserve_which_comes_back_when_there_is_room() {
    let Some(disk) = SmallDisk::mount("32m") else { return };
    let url = format!("sqlite:{}/db.sqlite", disk.path().display());
    let store = Store::open(&Options::new(&url)).await.unwrap();
    assert_eq!(store.reserve(), ReserveState::None);
    store.keep_reserve(4 << 20, Some(0));
    until_reserve_is(&store, ReserveState::Kept, PATIENCE).await;
    let reserve = disk.path().join("db.sqlite-reserve");
    assert_eq!(fs::metadata(&reserve).unwrap().len(), 4 << 20);
    let filler = disk.fill();
    let refused = write_until_full(&store).await;
    assert_eq!(store.reserve(), ReserveState::Missing);
    assert!(!reserve.exists());
    // The disk is as full as before, except for the reserve.
    write(&store, refused).await.unwrap();
    store.check().await.unwrap();
    fs::remove_file(&filler).unwrap();
    until_reserve_is(&store, ReserveState::Kept, SOON).await;
    assert!(reserve.exists());
    write(&store, 1001).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_without_a_reserve_takes_writes_as_soon_as_there_is_room() {
    let Some(disk) = SmallDisk::mount("16m") else { return };
    let url = format!("sqlite:{}/db.sqlite", disk.path().display());
    let store = Store::open(&Options::new(&url)).await.unwrap();
    let filler = disk.fill();
    let refused = write_until_full(&store).await;
    fs::remove_file(&filler).unwrap();
    store.check().await.unwrap();
    write(&store, refused).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_starts_on_a_full_disk_by_its_reserve() {
    let Some(disk) = SmallDisk::mount("32m") else { return };
    let url = format!("sqlite:{}/db.sqlite", disk.path().display());
    let store = Store::open(&Options::new(&url)).await.unwrap();
    store.keep_reserve(4 << 20, Some(0));
    until_reserve_is(&store, ReserveState::Kept, PATIENCE).await;
    store.close().await;
    drop(store);
    let _filler = disk.fill();
    let store = Store::open(&Options::new(&url)).await.unwrap();
    write(&store, 1).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_takes_writes_as_soon_as_its_full_disk_has_room() {
    let Some(disk) = SmallDisk::mount("32m") else { return };
    let place = disk.path().join("tables");
    fs::create_dir(&place).unwrap();
    let owned = ["postgres", "nobody"].iter().any(|account| {
        Command::new("chown").arg(account).arg(&place).output().is_ok_and(|done| done.status.success())
    });
    assert!(owned);
    let cluster = Cluster::create();
    sqlx::any::install_default_drivers();
    let mut admin = AnyConnection::connect(&cluster.url()).await.unwrap();
    let statement = format!("CREATE TABLESPACE small LOCATION '{}'", place.display());
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut admin).await.unwrap();
    sqlx::raw_sql("CREATE DATABASE small TABLESPACE small").execute(&mut admin).await.unwrap();
    admin.close().await.unwrap();
    let url = cluster.url();
    let (server, _) = url.rsplit_once('/').unwrap();
    let store = Store::open(&Options::new(format!("{server}/small"))).await.unwrap();
    store.keep_reserve(4 << 20, Some(0));
    assert_eq!(store.reserve(), ReserveState::None);
    let filler = disk.fill();
    let refused = write_until_full(&store).await;
    fs::remove_file(&filler).unwrap();
    let began = Instant::now();
    store.check().await.unwrap();
    write(&store, refused).await.unwrap();
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

/// Opens all connections of the pool, each used at least once.
async fn use_all_connections(store: &Store) {
    let all: Vec<_> = (0..20)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.check().await })
        })
        .collect();
    for one in all {
        one.await.unwrap().unwrap();
    }
}

/// The number of refused writes until one succeeds, after which all do.
async fn refused_writes(store: &Store) -> usize {
    let began = Instant::now();
    let mut refused = 0;
    while store.check().await.is_err() {
        refused += 1;
        assert!(began.elapsed() < SOON, "{refused} writes were refused");
    }
    use_all_connections(store).await;
    refused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_all_break_cost_one_write() {
    let fixture = Fixture::postgres().await;
    use_all_connections(&fixture.store).await;
    assert!(fixture.store.connections().0 > 3);
    let end = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()";
    drop(outside(&fixture.url, end).await);
    let refused = refused_writes(&fixture.store).await;
    assert!(refused <= 1, "{refused} writes were refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_starts_again_takes_writes_at_once() {
    let cluster = Cluster::create();
    let store = Store::open(&Options::new(cluster.url())).await.unwrap();
    use_all_connections(&store).await;
    cluster.stop();
    assert!(store.check().await.is_err());
    cluster.start();
    refused_writes(&store).await;
}
