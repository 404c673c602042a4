//! Do the workers of a role get more memory while they run, and how much?

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::NearlyFull;
use cubeloom_domain::sizing::{Kept, SizedRole};

/// How often the workers of a role get more while they run: as often as an instance is tried again with more. What grows on
/// has a fault, and would take the whole node.
const TIMES: u32 = 3;

/// The memory that the workers of a role are to get; `None` where they keep what they have: it is left alone, they have got more
/// often enough, or the report is of before they got what they have.
#[must_use]
pub fn wanted(sized: &SizedRole, kept: Kept, full: &NearlyFull) -> Option<Bytes> {
    let times = sized.grown.map_or(0, |grown| grown.times);
    let is_late = full.limit < sized.gets.memory;
    if kept.memory.is_some() || times >= TIMES || is_late {
        return None;
    }
    Some(cubeloom_sizing::grown(sized.gets.memory, sized.asked.memory))
}

/// Whether workers whose memory ran out had what they were last to get while they ran: one may die between the decision and its
/// doing, and then it used no more than it had before. `kernel_peak` is the most that the kernel counted of any worker.
#[must_use]
pub fn was_given(sized: &SizedRole, kernel_peak: Option<Bytes>) -> bool {
    let Some((before, used)) = sized.before.filter(|_| sized.grown.is_some()).zip(sized.used.as_ref()) else {
        return true;
    };
    used.peak_memory.max(kernel_peak.unwrap_or_default()) > before.memory
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::sizing::{Keeper, Reason, Size};
    use cubeloom_domain::usage::RoleUsage;
    use cubeloom_domain::{Cpu, Timestamp};

    use super::*;

    const MIB: u64 = 1 << 20;

    fn sized(asked: u64, gets: u64) -> SizedRole {
        let size = |mib: u64| Size { cpu: Cpu(1000), memory: Bytes(mib * MIB) };
        SizedRole {
            gets: size(gets),
            ..SizedRole::asked("worker", size(asked), Reason::Asked, Reason::Asked)
        }
    }

    fn full(limit: u64) -> NearlyFull {
        NearlyFull { role: "worker".into(), limit: Bytes(limit * MIB), used: Bytes(limit * MIB) }
    }

    #[test]
    fn half_as_much_again_follows_and_at_least_what_was_asked_for() {
        let wanted = |asked, gets| wanted(&sized(asked, gets), Kept::default(), &full(gets));
        assert_eq!(wanted(1024, 1024), Some(Bytes(1536 * MIB)));
        assert_eq!(wanted(1024, 256), Some(Bytes(1024 * MIB)));
    }

    #[test]
    fn who_dies_before_it_is_given_more_had_what_it_had_before() {
        let used = |mib: u64| RoleUsage { peak_memory: Bytes(mib * MIB), ..RoleUsage::default() };
        let grown = sized(512, 512).grown(Bytes(768 * MIB), Timestamp(1));
        let with = |mib| SizedRole { used: Some(used(mib)), ..grown.clone() };
        assert!(!was_given(&with(500), None) && !was_given(&with(500), Some(Bytes(512 * MIB))));
        assert!(was_given(&with(600), None) && was_given(&with(500), Some(Bytes(768 * MIB))));
        assert!(was_given(&grown, None), "nobody knows what it used");
        assert!(
            was_given(&SizedRole { used: Some(used(1)), ..sized(512, 512) }, None),
            "it was to get no more"
        );
    }

    #[test]
    fn an_amount_that_is_left_alone_stays_and_none_grows_for_ever() {
        for keeper in [Keeper::Template, Keeper::Unchecked, Keeper::Pinned] {
            assert_eq!(wanted(&sized(512, 512), Kept::both(keeper), &full(512)), None);
        }
        let mut role = sized(512, 512);
        for _ in 0..TIMES {
            let limit = role.gets.memory.0 / MIB;
            let memory = wanted(&role, Kept::default(), &full(limit)).unwrap();
            role = role.grown(memory, Timestamp(1));
            assert_eq!(wanted(&role, Kept::default(), &full(limit)), None, "that is of before");
        }
        assert_eq!(wanted(&role, Kept::default(), &full(role.gets.memory.0 / MIB)), None);
    }
}
