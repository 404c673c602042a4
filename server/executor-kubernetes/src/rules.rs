//! Violations of a namespace's rules. Pure.

use crate::board::Seen;

/// A rule of the cluster that a job's pods violate, no matter which controller creates them: only a change of
/// the rules would help. An exhausted quota is no violation.
#[must_use]
pub fn forbidden(seen: &Seen) -> Option<String> {
    // The API server's message for each refused pod: `maximum memory usage per Container is 1Gi, but limit is
    // 2Gi`.
    let of_limits = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        words.windows(3).any(|three| matches!(three, ["per", "Container" | "Pod", "is"]))
    };
    let warnings = seen.events.iter().map(|event| &event.notice).filter(|notice| notice.warning);
    let mut words = warnings.map(|notice| plain(&notice.message));
    words.find(|words| {
        words.contains("is forbidden: ") && (of_limits(words) || words.contains("violates PodSecurity"))
    })
}

/// Extracts the API server's message from the Go value that a controller prints.
#[must_use]
pub fn plain(message: &str) -> String {
    let Some((_, quoted)) = message.split_once("Message:\"") else { return message.to_owned() };
    let mut text = String::new();
    let mut chars = quoted.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => text.extend(chars.next()),
            char => text.push(char),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use cubeloom_domain::executor::Notice;

    use super::*;
    use crate::board::Told;

    #[test]
    fn what_the_rules_of_a_namespace_forbid_differs_from_what_has_no_room_now() {
        let refused = |message: &str| {
            let notice = Notice {
                at: Timestamp(1),
                of: "Job/cl-a".into(),
                warning: true,
                reason: "FailedCreate".into(),
                message: message.into(),
            };
            let event = Told { uid: "e".into(), notice };
            forbidden(&Seen { events: [event].into(), ..Seen::default() })
        };
        let limit = "pods \"cl-a\" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi";
        assert_eq!(refused(&format!("Error creating: {limit}")), Some(format!("Error creating: {limit}")));
        let value = limit.replace('"', "\\\"");
        let printed = format!(
            "create pod failed: &errors.StatusError{{Status:\"Failure\", Message:\"{value}\", Code:403}}"
        );
        assert_eq!(refused(&printed).as_deref(), Some(limit));
        let full = "pods \"cl-a\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3";
        assert_eq!(refused(full), None);
        assert_eq!(refused("0/3 nodes are available"), None);
    }
}
