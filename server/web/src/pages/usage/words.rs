//! Amounts and names as text.

use cubeloom_domain::accounting::{By, Line, Money};

use crate::pages::Frame;

/// Hours, with a useful number of digits.
pub(in crate::pages) fn hours(amount: f64) -> String {
    match amount {
        _ if amount == 0.0 => "0".into(),
        _ if amount < 0.01 => "< 0.01".into(),
        _ if amount < 10.0 => format!("{amount:.2}"),
        _ if amount < 1000.0 => format!("{amount:.1}"),
        _ => format!("{amount:.0}"),
    }
}

/// An amount of money with its currency.
pub(in crate::pages) fn money(amount: Money, currency: Option<&str>) -> String {
    match currency {
        Some(currency) => format!("{} {currency}", amount.rounded()),
        None => amount.rounded(),
    }
}

/// Used share of the requested amount, in percent.
pub(in crate::pages) fn percent(used: f64, asked: f64) -> String {
    if asked > 0.0 { format!("{:.0} %", (used / asked * 100.0).min(999.0)) } else { "–".into() }
}

/// Text key of a budget's level.
pub(in crate::pages) fn level(level: &str) -> &'static str {
    match level {
        "warned" => "usage.level-warned",
        "spent" => "usage.level-spent",
        "stopped" => "usage.level-stopped",
        _ => "usage.level-within",
    }
}

/// Text key of a grouping.
pub(super) fn way(by: By) -> &'static str {
    match by {
        By::Day => "usage.day",
        By::Project => "usage.project",
        By::User => "usage.user",
        By::Pipeline => "usage.pipeline",
        By::Template => "usage.template",
        By::NodeGroup => "usage.node-group",
    }
}

/// Name of a group.
pub(super) fn name(frame: &Frame, by: By, line: &Line) -> String {
    let name = match by {
        By::Day => line.day.to_string(),
        By::Project => line.project.clone(),
        By::User => line.user.clone(),
        By::Pipeline if line.pipeline.is_empty() => String::new(),
        By::Pipeline => format!("{} / {}", line.project, line.pipeline),
        By::Template => line.template.clone(),
        By::NodeGroup if line.node_group.is_empty() => line.cluster.clone(),
        By::NodeGroup => format!("{} / {}", line.cluster, line.node_group),
    };
    if name.is_empty() { frame.t("usage.unknown").to_owned() } else { name }
}

/// Name of the groups without their own color.
pub(super) fn other(frame: &Frame, count: usize) -> String {
    frame.t_with("usage.others", [("n", count)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_say_no_more_than_they_mean() {
        let written = [0.0, 0.004, 0.5, 12.34, 12_345.6].map(hours);
        assert_eq!(written, ["0", "< 0.01", "0.50", "12.3", "12346"]);
        assert_eq!((percent(1.0, 4.0), percent(1.0, 0.0)), ("25 %".into(), "–".into()));
        assert_eq!(money(Money(1_999_999), Some("EUR")), "2.00 EUR");
        assert_eq!(money(Money(5_000), None), "0.01");
    }
}
