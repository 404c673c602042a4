//! Users' commands for runs.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::record::{Changes, Wish, WishRecord};
use cubeloom_store::StoreError;

use crate::records::{plan, run, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(wishes_are_kept_in_order_until_they_are_fulfilled, a_wish_needs_a_run, other_servers_are_woken);

async fn wishes_are_kept_in_order_until_they_are_fulfilled(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    leased_run(store, 2, 1, "a").await;
    let wishes = [Wish::Cancel, Wish::Rerun { from: vec!["train".into()] }, Wish::Resume];
    let mut ids = Vec::new();
    for (n, wish) in wishes.iter().enumerate() {
        ids.push(store.add_wish(&run_id(1), wish, "ada", Timestamp(10 - n as i64), None).await.unwrap());
    }
    store.add_wish(&run_id(2), &Wish::Cancel, "bob", Timestamp(0), None).await.unwrap();
    assert!(ids.is_sorted());

    let open = store.wishes(&[run_id(1)]).await.unwrap();
    let expected = WishRecord {
        id: ids[1],
        run: run_id(1),
        wish: wishes[1].clone(),
        user: "ada".into(),
        created_at: Timestamp(9),
    };
    assert_eq!(open[1], expected);
    assert_eq!(open.iter().map(|wish| wish.id).collect::<Vec<_>>(), ids);

    let fulfilled = Changes { wishes: ids[..2].to_vec(), ..Changes::default() };
    store.commit(&lease("a"), &fulfilled).await.unwrap();
    let open = store.wishes(&[run_id(1), run_id(2)]).await.unwrap();
    assert_eq!(open.iter().map(|wish| wish.user.as_str()).collect::<Vec<_>>(), ["ada", "bob"]);
    assert!(store.wishes(&[]).await.unwrap().is_empty());
}

async fn a_wish_needs_a_run(fixture: Fixture) {
    let refused =
        fixture.store.add_wish(&run_id(1), &Wish::Cancel, "ada", Timestamp(0), None).await.unwrap_err();
    assert!(matches!(&refused, StoreError::NoSuchRun(run) if *run == run_id(1)), "{refused}");
    // Its transaction was rolled back: the next one starts afresh.
    fixture.store.check().await.unwrap();
}

async fn other_servers_are_woken(fixture: Fixture) {
    let store = &fixture.store;
    let other = fixture.second().await;
    let mut own = store.wakes();
    let mut others = other.wakes();
    store.create_run(&run(1), &plan(&run(1), 1), None).await.unwrap();
    assert!(own.has_changed().unwrap());
    own.mark_unchanged();
    let wait = Duration::from_secs(60);
    if store.backend() == cubeloom_store::Backend::Postgres {
        tokio::time::timeout(wait, others.changed()).await.unwrap().unwrap();
    }
    store.add_wish(&run_id(1), &Wish::Cancel, "ada", Timestamp(0), None).await.unwrap();
    tokio::time::timeout(wait, own.changed()).await.unwrap().unwrap();
    if store.backend() == cubeloom_store::Backend::Postgres {
        tokio::time::timeout(wait, others.changed()).await.unwrap().unwrap();
    }
}
