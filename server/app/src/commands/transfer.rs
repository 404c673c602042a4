//! `cubeloom transfer`: the inputs of the worker's program besides its arguments.

use std::collections::BTreeMap;

/// The environment: credentials, and the run's folder.
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
