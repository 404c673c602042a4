//! Creating, committing, loading.

use crate::records::{attempt, changes, ended, plan, run, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(what_was_committed_is_loaded);

async fn what_was_committed_is_loaded(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1201, "a").await;
    let id = run_id(1);
    let attempts: Vec<_> = (0..700).map(|n| attempt(&id, n, 0, 1)).collect();
    store.commit(&lease("a"), &changes(attempts.clone())).await.unwrap();
    let done: Vec<_> = attempts[..500].iter().map(ended).collect();
    store.commit(&lease("a"), &changes(done.clone())).await.unwrap();

    let loaded = store.load(&id).await.unwrap().unwrap();
    assert_eq!(loaded.record, run(1));
    assert_eq!(loaded.plan, plan(&run(1), 1201));
    assert_eq!(loaded.instances.len(), 700);
    assert_eq!(loaded.attempts, attempts[500..]);
    let all = store.attempts(&id).await.unwrap();
    assert_eq!(all[..500], done);
    assert_eq!(all[500..], attempts[500..]);
}
