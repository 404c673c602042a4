//! Memory growth of workers: increases while they run, refusals, and bounds.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AttemptSizing, Reason, SizedRole};
use crate::clock::Timestamp;
use crate::quantity::Bytes;

/// Maximum number of increases: per run, by retries after OOM kills, and per attempt, while workers run. A
/// program that keeps growing has a bug, and would take the whole node.
pub const MOST_TIMES: u32 = 3;

/// Workers got more memory while they ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grown {
    /// Time of the last increase.
    pub at: Timestamp,
    /// Number of increases.
    pub times: u32,
}

/// The cluster refused more memory to running workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotGrown {
    /// Time of the last refusal.
    pub at: Timestamp,
    /// Number of refusals.
    pub times: u32,
    /// The cluster's reason.
    pub why: String,
}

/// What keeps workers from more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoMore {
    /// No node has more.
    Node,
    /// The nodes could not hold the required number of workers.
    Nodes,
    /// The quota of the project, a group above it, or the person is exhausted.
    Quota,
    /// No more is free.
    Room,
    /// The maximum number of increases and refusals is reached.
    Times,
}

impl fmt::Display for NoMore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node => "no node is known to have more",
            Self::Nodes => "the nodes have no capacity for more",
            Self::Quota => "the quota allows no more",
            Self::Room => "no more was free",
            Self::Times => "it was increased three times, the maximum",
        })
    }
}

impl SizedRole {
    /// Reason for the memory, and what bounded it.
    #[must_use]
    pub fn memory_because(&self) -> String {
        match self.bounded {
            Some(bounded) => format!("{}, and {bounded}", self.memory),
            None => self.memory.to_string(),
        }
    }

    /// Records why no growth is requested while they run. Returns `false` if that is already recorded. The
    /// latest reason is last.
    pub fn note_no_more(&mut self, why: NoMore) -> bool {
        let noted = self.not_asked.iter().position(|noted| *noted == why);
        if let Some(at) = noted {
            self.not_asked.remove(at);
        }
        self.not_asked.push(why);
        noted.is_none()
    }

    /// The cluster's reason for refusing the last growth. `None` if it did not refuse, or none was requested.
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        let not = self.not_grown.as_ref().filter(|_| matches!(self.memory, Reason::NotGiven { .. }))?;
        Some(&not.why)
    }

    /// Why they got no more memory while they ran, by the latest reason. `None` if they did, or had enough.
    #[must_use]
    pub fn why_no_more(&self) -> Option<String> {
        match (self.not_asked.last(), self.refused()) {
            // The maximum number of tries follows from the refusals.
            (None | Some(NoMore::Times), Some(refused)) => Some(refused.to_owned()),
            (own, _) => own.map(NoMore::to_string),
        }
    }

    /// Reasons why they got no more memory, in addition to those for what they got: one sentence each.
    fn said_of_no_more(&self) -> Vec<String> {
        let is_same = self.gets.memory == self.asked.memory && self.bounded.is_some();
        let stays = is_same.then(|| self.memory_because());
        let refused = self.not_grown.as_ref().map(|NotGrown { times, why, .. }| match times {
            1 => format!("the cluster did not provide more memory while it ran: {why}"),
            _ => format!(
                "the cluster did not provide more memory while it ran, {times} times, the last one: {why}"
            ),
        });
        let own = self.not_asked.iter().map(|why| format!("its memory was not raised while it ran: {why}"));
        stays.into_iter().chain(refused).chain(own).collect()
    }
}

impl AttemptSizing {
    /// Reverts the last growth of a role, which the cluster refused. Returns `false` if it was not the last
    /// one.
    pub fn not_given(&mut self, role: &str, wanted: Bytes, at: Timestamp, why: &str) -> bool {
        let Some(of_role) = self.roles.iter_mut().find(|sized| sized.role == role) else { return false };
        let Some(less) = of_role.not_given(wanted, at, why) else { return false };
        *of_role = less;
        for other in self.roles.iter_mut().filter(|sized| sized.role != role) {
            other.before = Some(other.gets);
        }
        true
    }

    /// Gives the workers of one role more memory, from a time on at which they run. The other roles do not
    /// change.
    pub fn grow(&mut self, role: &str, memory: Bytes, at: Timestamp) {
        for sized in &mut self.roles {
            if sized.role == role {
                *sized = sized.clone().grown(memory, at);
            } else {
                sized.before = Some(sized.gets);
            }
        }
    }

    /// Records why no growth of a role is requested while it runs. Returns `false` if that is already
    /// recorded.
    pub fn note_no_more(&mut self, role: &str, why: NoMore) -> bool {
        let sized = self.roles.iter_mut().find(|sized| sized.role == role);
        sized.is_some_and(|sized| sized.note_no_more(why))
    }

    /// Why the workers of a role got no more memory while they ran. Without a role, for the first one with a
    /// reason.
    #[must_use]
    pub fn why_no_more(&self, role: Option<&str>) -> Option<String> {
        let mut roles = self.roles.iter().filter(|sized| role.is_none_or(|role| role == sized.role));
        roles.find_map(SizedRole::why_no_more)
    }

    /// Reasons why workers got no more memory: one sentence each, with the role's name if there are several.
    #[must_use]
    pub fn no_more(&self) -> Vec<String> {
        let is_one = self.roles.len() == 1;
        let said = self.roles.iter().flat_map(|sized| {
            let named = move |said: String| if is_one { said } else { format!("{}: {said}", sized.role) };
            sized.said_of_no_more().into_iter().map(named)
        });
        said.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Cpu;
    use crate::sizing::Size;

    const GIB: u64 = 1 << 30;

    fn asked(role: &str, memory: Reason) -> SizedRole {
        SizedRole::asked(role, Size { cpu: Cpu(1000), memory: Bytes(2 * GIB) }, memory, Reason::Asked)
    }

    #[test]
    fn what_kept_workers_from_more_is_said_with_what_they_get() {
        let ran_out = asked("worker", Reason::RanOut { had: Bytes(2 * GIB) });
        let mut sizing = AttemptSizing { roles: vec![ran_out], ..AttemptSizing::default() };
        assert_eq!(sizing.no_more(), [""; 0]);
        sizing.roles[0].bounded = Some(NoMore::Node);
        assert_eq!(sizing.sentence(), None);
        assert_eq!(sizing.no_more(), ["2Gi was not enough, and no node is known to have more"]);
        sizing.roles[0].gets.memory = Bytes(3 * GIB);
        sizing.roles[0].bounded = Some(NoMore::Quota);
        let said = "memory 3Gi instead of 2Gi: 2Gi was not enough, and the quota allows no more";
        assert_eq!((sizing.sentence().as_deref(), sizing.no_more().len()), (Some(said), 0));
    }

    #[test]
    fn each_reason_is_noted_once_and_the_last_is_said_of_the_end() {
        let roles = vec![asked("ps", Reason::Asked), asked("worker", Reason::Asked)];
        let mut sizing = AttemptSizing { roles, ..AttemptSizing::default() };
        assert!(!sizing.note_no_more("nobody", NoMore::Room));
        let noted = [NoMore::Room, NoMore::Quota, NoMore::Room].map(|why| sizing.note_no_more("worker", why));
        assert_eq!(noted, [true, true, false]);
        let not_raised = "worker: its memory was not raised while it ran:";
        let said =
            [format!("{not_raised} the quota allows no more"), format!("{not_raised} no more was free")];
        assert_eq!(sizing.no_more(), said);
        assert_eq!(sizing.why_no_more(Some("worker")).as_deref(), Some("no more was free"));
        assert_eq!(sizing.why_no_more(None), sizing.why_no_more(Some("worker")));
        assert_eq!(sizing.why_no_more(Some("ps")), None);
        // A later increase shows that there was capacity.
        sizing.grow("worker", Bytes(3 * GIB), Timestamp(1));
        assert_eq!((sizing.no_more().len(), sizing.why_no_more(None)), (0, None));
    }

    #[test]
    fn the_cluster_says_in_its_own_words_why_it_gives_no_more() {
        let mut role = asked("worker", Reason::Asked);
        for at in [1, 2] {
            role = role.grown(Bytes(3 * GIB), Timestamp(at));
            assert_eq!(role.refused(), None);
            role = role.not_given(Bytes(3 * GIB), Timestamp(at), "worker-1: no room").unwrap();
        }
        role.note_no_more(NoMore::Times);
        assert_eq!(MOST_TIMES, 3, "the sentence has it as a word");
        assert_eq!(role.refused(), Some("worker-1: no room"));
        assert_eq!(role.why_no_more().as_deref(), Some("worker-1: no room"));
        let said = [
            "the cluster did not provide more memory while it ran, 2 times, the last one: worker-1: no room",
            "its memory was not raised while it ran: it was increased three times, the maximum",
        ];
        let sizing = AttemptSizing { roles: vec![role], ..AttemptSizing::default() };
        assert_eq!(sizing.no_more(), said);
    }

    #[test]
    fn what_was_stored_before_is_read() {
        let role = asked("worker", Reason::Asked);
        let text = serde_json::to_string(&role).unwrap();
        assert!(!text.contains("bounded") && !text.contains("not_asked"), "{text}");
        assert_eq!(serde_json::from_str::<SizedRole>(&text).unwrap(), role);
    }
}
