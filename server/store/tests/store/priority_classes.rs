//! Priority classes.

use cubeloom_domain::priority::{Preempts, PriorityClass};
use cubeloom_store::Change;

use crate::people::audit;
use crate::support::{Fixture, on_both};

on_both!(a_class_is_created_changed_and_deleted);

async fn a_class_is_created_changed_and_deleted(fixture: Fixture) {
    let store = &fixture.store;
    let first = PriorityClass {
        name: "urgent".into(),
        priority: -7,
        preempts: Preempts::Lower,
        description: Some("what it is for".into()),
        revision: 0,
    };
    let put = async |class: &PriorityClass, expected| {
        store.put_priority_class(class, expected, &audit("priority_class.set")).await.unwrap()
    };
    assert_eq!(put(&first, Some(3)).await, Change::Stale(0), "there is none yet");
    assert_eq!(put(&first, Some(0)).await, Change::Done(1));
    assert_eq!(put(&first, Some(0)).await, Change::Stale(1), "there is one already");
    let second = PriorityClass { priority: 8, preempts: Preempts::Never, description: None, ..first.clone() };
    assert_eq!(put(&second, Some(1)).await, Change::Done(2));
    let kept = PriorityClass { revision: 2, ..second };
    assert_eq!(store.priority_class("urgent").await.unwrap(), Some(kept.clone()));
    assert_eq!(store.priority_classes().await.unwrap(), [kept]);
    let delete = async |expected| {
        store.delete_priority_class("urgent", expected, &audit("priority_class.delete")).await
    };
    assert_eq!(delete(Some(1)).await.unwrap(), Change::Stale(2));
    assert_eq!(delete(Some(2)).await.unwrap(), Change::Done(3));
    assert_eq!(delete(None).await.unwrap(), Change::Missing);
    assert_eq!(store.priority_class("urgent").await.unwrap(), None);
}
