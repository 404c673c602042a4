//! A run's tasks as a JUnit file, which CI systems show as test results.
//!
//! Format: <https://github.com/testmoapp/junitxml>. A task is a test case, a skipped task a skipped one.

use cubeloom_domain::Timestamp;
use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::Report;

/// The file's text.
///
/// # Errors
/// Never in practice: it is written to memory.
pub fn junit(report: &Report, now: Timestamp) -> std::io::Result<Vec<u8>> {
    let board = &report.board;
    let count = |words: &[&str]| {
        board.tasks.iter().filter(|task| words.contains(&task.status.word.as_str())).count().to_string()
    };
    let seconds = |time: std::time::Duration| format!("{:.3}", time.as_secs_f64());
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let suite = writer
        .create_element("testsuite")
        .with_attribute(("name", board.pipeline.as_str()))
        .with_attribute(("tests", board.tasks.len().to_string().as_str()))
        .with_attribute(("failures", count(&["failed"]).as_str()))
        .with_attribute(("skipped", count(&SKIPPED).as_str()))
        .with_attribute(("time", seconds(board.age(now)).as_str()))
        .with_attribute(("id", report.run.as_str()));
    suite.write_inner_content(|writer| {
        for task in &board.tasks {
            let case = writer
                .create_element("testcase")
                .with_attribute(("classname", board.pipeline.as_str()))
                .with_attribute(("name", task.name.as_str()))
                .with_attribute(("time", seconds(task.status.time.unwrap_or_default()).as_str()));
            let word = task.status.word.as_str();
            if word == "failed" {
                case.write_inner_content(|writer| failure(writer, report, &task.name, &task.status.detail))?;
            } else if SKIPPED.contains(&word) {
                case.write_inner_content(|writer| {
                    writer.create_element("skipped").with_attribute(("message", word)).write_empty()?;
                    Ok(())
                })?;
            } else {
                case.write_empty()?;
            }
        }
        Ok(())
    })?;
    Ok(writer.into_inner())
}

/// Words of tasks that did not run to an end.
const SKIPPED: [&str; 4] = ["skipped", "not run", "cancelled", "stopped early"];

fn failure(writer: &mut Writer<Vec<u8>>, report: &Report, task: &str, detail: &str) -> std::io::Result<()> {
    let failed = report.failures.iter().find(|failed| failed.task == task);
    let (kind, message) =
        failed.map_or(("", detail), |failed| (failed.kind.as_str(), failed.message.as_str()));
    let lines = failed.map(|failed| failed.last_lines.join("\n")).unwrap_or_default();
    writer
        .create_element("failure")
        .with_attribute(("type", kind))
        .with_attribute(("message", printable(message).as_str()))
        .write_text_content(BytesText::new(&printable(&lines)))?;
    Ok(())
}

/// Without the control characters that XML 1.0 forbids, such as those of colors.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
