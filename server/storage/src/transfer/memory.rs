//! Limits the memory of uploads. Part size grows with a file's size, and the number of ranges is the user's
//! choice, but a task's memory is fixed. So fewer parts and ranges are in flight if they do not fit.

use std::path::Path;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::TransferError;
use super::stop::Stop;

/// Mount point of control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// Values above this mean "no limit" in cgroup version 1: 2^63 minus a page.
const UNLIMITED: u64 = 1 << 62;

/// Maximum memory that the program itself needs.
const PROGRAM: u64 = 32 << 20;

/// Unit of memory allocation, in bytes.
const PIECE: u64 = 1 << 10;

/// The memory shared by all uploads of a transfer.
pub(crate) struct Memory {
    /// Memory limit of the process in bytes; `None`: unlimited.
    limit: Option<u64>,
    pieces: Semaphore,
}

/// Memory of one upload: `width` ranges read ahead, as many parts in flight, and one part being filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) range: u64,
    pub(crate) part: u64,
    pub(crate) width: usize,
}

impl Held {
    fn bytes(self) -> u64 {
        self.part + (self.range + self.part) * self.width as u64
    }

    /// The largest width that fits into `room` bytes: at least one range and one part.
    fn within(self, room: u64) -> Self {
        let fits = room.saturating_sub(self.part) / (self.range + self.part).max(1);
        Self { width: usize::try_from(fits).unwrap_or(usize::MAX).clamp(1, self.width.max(1)), ..self }
    }
}

impl Memory {
    /// Uses half of the process's `limit`, in bytes: the other half is for the program itself, connections
    /// and their encryption.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit, pieces: Semaphore::new(pieces(limit.unwrap_or_default() / 2) as usize) }
    }

    /// The memory that one of `files` concurrent uploads gets of what it `wants`.
    ///
    /// # Errors
    /// [`TransferError::Memory`] if not even one range and one part at a time fit beside the program: the
    /// process would be OOM killed midway.
    pub(crate) fn share(&self, url: &str, wants: Held, files: usize) -> Result<Held, TransferError> {
        let Some(limit) = self.limit else { return Ok(wants) };
        let needed = Held { width: 1, ..wants }.bytes();
        if needed > limit - PROGRAM.min(limit / 4) {
            return Err(TransferError::Memory { url: url.to_owned(), part: wants.part, needed, limit });
        }
        Ok(wants.within(limit / 2 / files.max(1) as u64))
    }

    /// Waits until others have released enough memory. A request larger than the total runs alone.
    pub(crate) async fn take(
        &self,
        held: Held,
        stop: &Stop,
    ) -> Result<Option<SemaphorePermit<'_>>, TransferError> {
        let Some(limit) = self.limit else { return Ok(None) };
        let wanted = pieces(held.bytes()).min(pieces(limit / 2));
        // Never closed.
        Ok(stop.or(self.pieces.acquire_many(wanted)).await?.ok())
    }
}

fn pieces(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(PIECE)).unwrap_or(u32::MAX).max(1)
}

/// Memory limit of this process in bytes, from its control groups; `None` if none of them has a limit.
pub(crate) fn of_this_process() -> Option<u64> {
    let named = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    least(&named, Path::new(GROUPS))
}

/// The minimum limit of the control groups in `named` (`/proc/PID/cgroup`) and their ancestors. In a
/// container the names may be the host's: missing groups are skipped, but the mounted root counts.
fn least(named: &str, mounted: &Path) -> Option<u64> {
    named.lines().filter_map(|line| group(line, mounted)).flatten().min()
}

/// The limits from one group up to the root of its hierarchy.
fn group(line: &str, mounted: &Path) -> Option<Vec<u64>> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let (tree, file) = match controllers {
        "" => (mounted.to_owned(), "memory.max"),
        some if some.split(',').any(|one| one == "memory") => {
            (mounted.join("memory"), "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let place = tree.join(path.trim_start_matches('/'));
    let limits = place.ancestors().take_while(|above| above.starts_with(&tree)).filter_map(|above| {
        let text = std::fs::read_to_string(above.join(file)).ok()?;
        text.trim().parse().ok().filter(|limit| *limit < UNLIMITED)
    });
    Some(limits.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_least_limit_on_the_way_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("jobs/one/step/memory.max", "max\n");
        write("jobs/one/memory.max", "268435456\n");
        write("jobs/memory.max", "536870912\n");
        assert_eq!(least("0::/jobs/one/step\n", folder.path()), Some(256 * MIB));
        assert_eq!(least("0::/elsewhere\n", folder.path()), None);
        write("memory/docker/memory.limit_in_bytes", "134217728\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(least("4:cpu,cpuacct:/docker\n7:memory:/docker\n", folder.path()), Some(128 * MIB));
        assert_eq!(least("7:memory:/of/the/host\n", folder.path()), None);
        assert_eq!(least("what is this", folder.path()), None);
    }

    #[test]
    fn what_is_held_stays_within_half_of_the_limit_where_one_at_a_time_does() {
        let memory = Memory::new(Some(256 * MIB));
        let wants = Held { range: 64 * MIB, part: 64 * MIB, width: 4 };
        // Alone, it has memory for the part being filled, but for no range beside it: the minimum of one
        // applies.
        assert_eq!(memory.share("s3://b/k", wants, 1).unwrap().width, 1);
        let usual = Held { range: 8 * MIB, part: 8 * MIB, width: 4 };
        assert_eq!(memory.share("s3://b/k", usual, 1).unwrap(), usual);
        let wide = Held { width: 32, ..usual };
        assert_eq!(memory.share("s3://b/k", wide, 1).unwrap().width, 7);
        assert!(memory.share("s3://b/k", wide, 1).unwrap().bytes() <= 128 * MIB);
        let huge = Held { part: 120 * MIB, ..usual };
        let refused = memory.share("s3://b/k", huge, 1).unwrap_err().to_string();
        assert!(refused.contains("s3://b/k") && refused.contains("260046848 bytes of memory"), "{refused}");
        assert_eq!(Memory::new(None).share("s3://b/k", huge, 1).unwrap(), huge);
    }

    #[tokio::test]
    async fn uploads_wait_for_memory_that_others_hold() {
        let memory = Memory::new(Some(64 * MIB));
        let stop = Stop::default();
        let held = Held { range: 4 * MIB, part: 8 * MIB, width: 1 };
        let first = memory.take(held, &stop).await.unwrap();
        let second = memory.take(held, &stop);
        tokio::pin!(second);
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        drop(second.await.unwrap());
        // A request larger than the total runs alone.
        drop(memory.take(Held { part: 60 * MIB, ..held }, &stop).await.unwrap());
    }
}
