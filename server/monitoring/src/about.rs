//! Label selectors of queries.

use cubeloom_domain::kubernetes::PROGRAMS;

use crate::prometheus::quoted;

/// Scope of a query.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About<'a> {
    /// Matchers of the cluster's labels, each followed by a comma.
    pub(crate) cluster: &'a str,
    /// One GPU. `None` means all.
    pub(crate) card: Option<&'a str>,
    /// One node. `None` means all.
    pub(crate) node: Option<&'a str>,
    /// Pods.
    pub(crate) pods: &'a [String],
    /// GPUs, if the query is not about a single one.
    pub(crate) cards: &'a [&'a str],
    /// Node-exporters, by their `instance` label in Prometheus.
    pub(crate) instances: &'a [String],
}

impl About<'_> {
    /// The query with its placeholders replaced.
    pub(crate) fn fill(&self, text: &str) -> String {
        let one = |label: &str, value: Option<&str>| {
            let own = value.map(|value| format!("{label}={},", quoted(value))).unwrap_or_default();
            format!("{}{own}", self.cluster)
        };
        let cards = |label: &str| match self.cards {
            [] => one(label, self.card),
            // A UUID contains no regex metacharacters.
            some => format!("{}{label}=~{},", self.cluster, quoted(&some.join("|"))),
        };
        // Pod names contain no regex metacharacters except the dot, which also matches itself.
        let pods = format!("{}pod=~{}", self.cluster, quoted(&self.pods.join("|")));
        let holders = format!("{}exported_pod=~{}", self.cluster, quoted(&self.pods.join("|")));
        let named = format!("{}podname=~{}", self.cluster, quoted(&self.pods.join("|")));
        let instances: Vec<String> = self.instances.iter().map(|one| literal(one)).collect();
        let instances = format!("{}instance=~{}", self.cluster, quoted(&instances.join("|")));
        text.replace("$card", &cards("UUID"))
            .replace("$programs", &format!("container=~{}", quoted(&PROGRAMS.join("|"))))
            .replace("$instances", &instances)
            .replace("$named", &named)
            .replace("$hami", &cards("device_uuid"))
            .replace("$before", &cards("deviceuuid"))
            .replace("$node", &one("nodename", self.node))
            .replace("$pods", &pods)
            .replace("$holders", &holders)
            .replace("$cluster", self.cluster)
    }
}

/// A regex that matches only this text: an address may contain `.`, `[` and `]`.
fn literal(text: &str) -> String {
    let mut expression = String::new();
    for sign in text.chars() {
        if sign.is_ascii_punctuation() {
            expression.push('\\');
        }
        expression.push(sign);
    }
    expression
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::monitoring::CardMeasure;
    use cubeloom_domain::usage::Measure;

    use super::*;
    use crate::queries::{
        AGE, CARDS, CARDS_MEMORY, CARDS_WORK, HOLDERS, KNOWN, NODE_IO_WAIT, NODES, PODS, PODS_IO_WAIT,
        PODS_NODES, PODS_USED, of_workers, over_time,
    };

    #[test]
    fn every_query_is_filled() {
        let about = About {
            cluster: "cluster=\"east\",",
            card: Some("GPU-1"),
            node: Some("n1"),
            pods: &["cl-a".into()],
            cards: &[],
            instances: &["[::1]:9100".into()],
        };
        let mut texts = vec![KNOWN, HOLDERS, AGE];
        texts.extend(CARDS.iter().map(|query| query.text));
        texts.extend(NODES.iter().map(|query| query.text));
        texts.extend(PODS.iter().map(|query| query.text));
        texts.extend([NODE_IO_WAIT, PODS_NODES, PODS_IO_WAIT, CARDS_MEMORY, CARDS_WORK]);
        texts.extend(Measure::ALL.map(of_workers));
        let pods_used = PODS_USED.map(|(text, _)| text.replace("$step", "15s"));
        texts.extend(pods_used.iter().map(String::as_str));
        texts.extend(CardMeasure::ALL.map(|measure| over_time(measure).0));
        let some = About { card: None, cards: &["GPU-1", "GPU-2"], ..about };
        for label in ["UUID", "device_uuid", "deviceuuid"] {
            let named = format!(",{label}=~\"GPU-1|GPU-2\",");
            assert!(some.fill(over_time(CardMeasure::Usage).0).contains(&named), "{named}");
        }
        let named = r#"instance=~"\\[\\:\\:1\\]\\:9100""#;
        assert!(about.fill(PODS_IO_WAIT).contains(named), "{}", about.fill(PODS_IO_WAIT));
        let filled = texts.iter().flat_map(|text| [about.fill(text), some.fill(text)]);
        for filled in filled {
            assert!(!filled.replace("\"$1\"", "").contains('$'), "{filled}");
            let selectors = filled.matches('{').count();
            assert_eq!(filled.matches("cluster=\"east\"").count(), selectors, "{filled}");
        }
    }
}
