//! Do a role's workers get more memory while they run, and how much?

use std::time::Duration;

use cubeloom_domain::executor::NearlyFull;
use cubeloom_domain::sizing::{Kept, MOST_TIMES, NoMore, Reason, SizedRole};
use cubeloom_domain::{Bytes, Timestamp};

/// After a cluster did not provide more memory, nothing more is requested for this time: nodes do not become
/// free from one moment to the next.
const PAUSE: Duration = Duration::from_secs(5 * 60);

/// The memory that a role's workers are to get, or the reason why they get no more: they have grown often
/// enough. A refused increase counts as a try. `None` if they keep what they have without a reason to
/// report. Memory may be unmanaged, an increase was just refused, or the report predates their current
/// amount.
#[must_use]
pub fn wanted(
    sized: &SizedRole,
    kept: Kept,
    full: &NearlyFull,
    now: Timestamp,
) -> Option<Result<Bytes, NoMore>> {
    let refused = sized.not_grown.as_ref();
    let times = sized.grown.map_or(0, |grown| grown.times) + refused.map_or(0, |not| not.times);
    let is_late = full.limit < sized.gets.memory;
    let is_soon = refused.is_some_and(|not| now < not.at.plus(PAUSE));
    if kept.memory.is_some() || is_late || is_soon {
        return None;
    }
    if times >= MOST_TIMES {
        return Some(Err(NoMore::Times));
    }
    Some(Ok(cubeloom_sizing::grown(sized.gets.memory, sized.asked.memory)))
}

/// Whether OOM killed workers had received their last increase: one may die between the decision and its
/// execution, having used no more than its earlier amount. `kernel_peak` is the highest peak that the kernel
/// counted for any worker. Increases that the cluster refused are already reverted.
#[must_use]
pub fn was_given(sized: &SizedRole, kernel_peak: Option<Bytes>) -> bool {
    let is_last = matches!(sized.memory, Reason::NearlyFull { .. }) && sized.grown.is_some();
    let Some((before, used)) = sized.before.filter(|_| is_last).zip(sized.used.as_ref()) else {
        return true;
    };
    used.peak_memory.max(kernel_peak.unwrap_or_default()) > before.memory
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Cpu;
    use cubeloom_domain::sizing::{Keeper, Size};
    use cubeloom_domain::usage::RoleUsage;

    use super::*;

    const MIB: u64 = 1 << 20;
    const NOW: Timestamp = Timestamp(1);

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
        let wanted = |asked, gets| wanted(&sized(asked, gets), Kept::default(), &full(gets), NOW);
        assert_eq!(wanted(1024, 1024), Some(Ok(Bytes(1536 * MIB))));
        assert_eq!(wanted(1024, 256), Some(Ok(Bytes(1024 * MIB))));
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
            assert_eq!(wanted(&sized(512, 512), Kept::both(keeper), &full(512), NOW), None);
        }
        let mut role = sized(512, 512);
        for _ in 0..MOST_TIMES {
            let limit = role.gets.memory.0 / MIB;
            let memory = wanted(&role, Kept::default(), &full(limit), NOW).unwrap().unwrap();
            role = role.grown(memory, Timestamp(1));
            assert_eq!(wanted(&role, Kept::default(), &full(limit), NOW), None, "that is of before");
        }
        let last = full(role.gets.memory.0 / MIB);
        assert_eq!(wanted(&role, Kept::default(), &last, NOW), Some(Err(NoMore::Times)));
        assert_eq!(wanted(&role, Kept::both(Keeper::Unchecked), &last, NOW), None);
    }

    #[test]
    fn what_a_cluster_did_not_give_is_not_asked_again_at_once_and_counts_as_a_try() {
        let had = sized(512, 512);
        let mut role = had.clone();
        let mut now = NOW;
        for n in 1..=MOST_TIMES {
            let memory = wanted(&role, Kept::default(), &full(512), now).unwrap().unwrap();
            let grown = role.clone().grown(memory, now);
            assert_eq!(grown.not_given(Bytes(1), now, "no room"), None, "it was to get something else");
            role = grown.not_given(memory, now, "no room").unwrap();
            assert_eq!((role.gets, role.grown, role.changed_at()), (had.gets, None, Some(now)));
            let not = role.not_grown.clone().unwrap();
            assert_eq!((not.times, not.why.as_str()), (n, "no room"));
            assert_eq!(role.not_given(memory, now, "no room"), None, "told twice");
            let said = "memory 512Mi instead of 768Mi: the cluster did not provide 768Mi while it ran";
            assert_eq!(role.change().as_deref(), Some(said));
            let used = RoleUsage { peak_memory: Bytes(500 * MIB), ..RoleUsage::default() };
            assert!(
                was_given(&SizedRole { used: Some(used), ..role.clone() }, None),
                "it is taken back already"
            );
            assert_eq!(wanted(&role, Kept::default(), &full(512), now), None);
            now = now.plus(PAUSE);
        }
        let enough = Some(Err(NoMore::Times));
        assert_eq!(wanted(&role, Kept::default(), &full(512), now), enough, "three tries are enough");
    }
}
