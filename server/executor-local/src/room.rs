//! Free space on the disk with the server's folder: its database writes there, too.

use cubeloom_domain::Bytes;
use cubeloom_domain::disk::kept_free;

use crate::config::LocalConfig;

/// Why nothing new starts: too little free disk space.
pub(crate) fn lacking(config: &LocalConfig) -> Option<String> {
    let found = rustix::fs::statvfs(&config.data).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    let kept = kept_free(bytes(found.f_blocks), config.free);
    let free = bytes(found.f_bavail);
    (free < kept).then(|| {
        format!(
            "the disk of the server's folder has {} free, less than the reserved {} (`free` in `[local]`): no task starts until space is freed",
            megabytes(free),
            megabytes(kept)
        )
    })
}

/// Rounded, so that the reported reason does not change with each byte.
fn megabytes(bytes: u64) -> Bytes {
    Bytes(bytes >> 20 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_less_room_than_is_kept_free_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = LocalConfig::new(folder.path(), "shim");
        config.free = Some(0);
        assert_eq!(lacking(&config), None);
        config.free = Some(u64::MAX);
        let told = lacking(&config).unwrap();
        assert!(told.contains("`free` in `[local]`"), "{told}");
    }
}
