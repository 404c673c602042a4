//! File access rules for workers without a mount namespace, if the server is not root: Landlock, which any
//! process may apply to itself. <https://docs.kernel.org/userspace-api/landlock.html>

use std::io;
use std::path::{Path, PathBuf};

use cubeloom_files::{Dir, Links, own};
use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::OFlags;

use crate::spec::Fence;

/// The requested ABI version; an older kernel enforces what it supports.
const FILES: ABI = ABI::V5;
const SCOPES: ABI = ABI::V6;

/// Paths that any program may write to: devices, its own process, temporary files.
const SHARED: [&str; 4] = ["/dev", "/proc", "/tmp", "/var/tmp"];

/// Applies the rules to this process and its children.
pub(super) fn put_up(fence: &Fence) -> io::Result<()> {
    restrict(fence).map_err(io::Error::other)
}

fn restrict(fence: &Fence) -> Result<(), RulesetError> {
    let all = AccessFs::from_all(FILES);
    let read = AccessFs::from_read(FILES);
    let mut rules = Ruleset::default().handle_access(all)?.scope(Scope::from_all(SCOPES))?.create()?;
    for path in &fence.write {
        let below = fence.hidden.iter().find_map(|hidden| Some((hidden, path.strip_prefix(hidden).ok()?)));
        rules =
            match below.map(|(hidden, inside)| Dir::open(hidden)?.at(inside, OFlags::PATH, Links::Refused)) {
                // Workers may have put symlinks there, which would grant access to something else.
                Some(Ok(opened)) => rules.add_rule(PathBeneath::new(opened, all))?,
                Some(Err(_)) => rules,
                None => allow(rules, path, all)?,
            };
    }
    for path in &fence.read {
        rules = allow(rules, path, read)?;
    }
    for path in beside(Path::new("/"), &fence.hidden) {
        let shared = SHARED.iter().any(|shared| path.starts_with(shared));
        rules = allow(rules, &path, if shared { all } else { read })?;
    }
    rules.restrict_self()?;
    Ok(())
}

/// Paths that do not exist, or that this process may not open itself, need no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(folder) => rules.add_rule(PathBeneath::new(folder, access)),
        Err(_) => Ok(rules),
    }
}

/// The largest folders and files below `folder` without any hidden path.
fn beside(folder: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let entries = own::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| {
            let real = own::canonicalize(&path).unwrap_or_else(|_| path.clone());
            if hidden.iter().any(|hidden| real.starts_with(hidden)) {
                Vec::new()
            } else if !hidden.iter().any(|hidden| hidden.starts_with(&real)) {
                vec![path]
            } else if real == path {
                beside(&path, hidden)
            } else {
                // A symlink to an ancestor of a hidden path: its target is handled elsewhere.
                Vec::new()
            }
        })
        .collect()
}

/// Whether this kernel supports Landlock.
pub(crate) fn is_there() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create)
        .is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_hidden_is_below_nothing_that_is_let_in() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        for name in ["a/data/keys", "a/other", "b", "c/deep/data"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        symlink(top.join("a"), top.join("link-above")).unwrap();
        symlink(top.join("a/data/keys"), top.join("link-into")).unwrap();
        symlink(top.join("b"), top.join("link-beside")).unwrap();
        let hidden = [top.join("a/data"), top.join("c/deep/data")];
        let mut found = beside(&top, &hidden);
        found.sort();
        assert_eq!(found, [top.join("a/other"), top.join("b"), top.join("link-beside")]);
    }
}
