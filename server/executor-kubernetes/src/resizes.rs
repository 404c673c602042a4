//! Namespaces in which running pods can get more memory: the RBAC right is per namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Known rights by namespace, and the namespaces to check.
#[derive(Default)]
pub struct Resizes(Mutex<Known>);

#[derive(Default)]
struct Known {
    may: BTreeMap<String, bool>,
    wanted: BTreeSet<String>,
}

impl Resizes {
    /// Sets the results.
    pub fn set(&self, may: BTreeMap<String, bool>) {
        self.lock().may = may;
    }

    /// Whether pods can get more memory in any namespace.
    pub fn any(&self) -> bool {
        self.lock().may.values().any(|may| *may)
    }

    /// Whether pods of a namespace can. For an unchecked namespace it assumes what holds elsewhere, and
    /// schedules a check.
    pub fn may(&self, namespace: &str) -> bool {
        let mut known = self.lock();
        if let Some(may) = known.may.get(namespace) {
            return *may;
        }
        known.wanted.insert(namespace.to_owned());
        known.may.values().any(|may| *may)
    }

    /// Namespaces to check.
    pub fn wanted(&self) -> BTreeSet<String> {
        self.lock().wanted.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_namespace_without_the_right_says_nothing_of_another() {
        let resizes = Resizes::default();
        assert!(!resizes.any() && !resizes.may("a"), "before anybody was asked");
        resizes.set([("a".to_owned(), true), ("b".to_owned(), false)].into());
        assert!(resizes.any() && resizes.may("a") && !resizes.may("b"));
        assert!(resizes.may("c"), "as elsewhere");
        assert_eq!(resizes.wanted(), ["a".to_owned(), "c".to_owned()].into());
        resizes.set([("c".to_owned(), false)].into());
        assert!(!resizes.may("c") && !resizes.any());
    }
}
