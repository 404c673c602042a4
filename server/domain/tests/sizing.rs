//! The stored form of sizing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use cubeloom_domain::sizing::{Reason, Size, SizedRole};
use cubeloom_domain::{Bytes, Cpu, Timestamp};
use serde_json::{Value, json};

fn sized() -> SizedRole {
    let asked = Size { cpu: Cpu(1000), memory: Bytes(1 << 30) };
    SizedRole::asked("worker", asked, Reason::Asked, Reason::Asked)
}

#[test]
fn a_risk_that_is_not_known_is_not_stored_and_one_that_was_is_read() {
    assert_eq!(sized().risk, None);
    let mut stored = serde_json::to_value(sized()).unwrap();
    assert_eq!(stored.get("risk"), None);
    assert_eq!(serde_json::from_value::<SizedRole>(stored.clone()).unwrap(), sized());
    // Earlier versions always stored a risk.
    stored["risk"] = json!(0.0);
    assert_eq!(serde_json::from_value::<SizedRole>(stored.clone()).unwrap().risk, Some(0.0));
    stored["risk"] = Value::Null;
    assert_eq!(serde_json::from_value::<SizedRole>(stored).unwrap().risk, None);
}

#[test]
fn what_changes_while_it_runs_has_not_the_risk_of_before() {
    let began = SizedRole { risk: Some(0.25), ..sized() };
    let grown = began.grown(Bytes(3 << 29), Timestamp(1));
    assert_eq!(grown.risk, None);
    let grown = SizedRole { risk: Some(0.125), ..grown };
    assert_eq!(grown.not_given(Bytes(3 << 29), Timestamp(2), "no room").unwrap().risk, None);
}
