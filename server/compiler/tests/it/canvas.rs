//! The canvas of a pipeline: its problems have paths, and no run depends on it.

use cubeloom_compiler::{Digests, Outputs, cache_key, check_pipeline, job, parse_pipeline, validate};
use cubeloom_domain::canvas::{Direction, Point};
use cubeloom_domain::{Code, JsonMap, Problem, Severity, TaskIx};

use crate::support::{fixtures, machine, try_plan};

const TASKS: &str = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  \
    - {name: pull, template: echo, arguments: {words: [x]}, cache: true}\n  \
    - {name: train, template: echo, needs: [pull], arguments: {words: [y]}}\n";

fn problems(canvas: &str) -> Vec<(Severity, Code, String)> {
    let (_, problems) = check_pipeline(&format!("{TASKS}canvas: {canvas}\n"), &fixtures(), &machine());
    problems.into_iter().map(|Problem { severity, code, path, .. }| (severity, code, path)).collect()
}

#[test]
fn a_drawing_is_read_and_written_back() {
    let text = format!(
        "{TASKS}canvas:\n  direction: down\n  positions: {{pull: [10, -20.5]}}\n  frames: {{f1: {{title: Data, tasks: [pull]}}}}\n  \
         notes: {{n1: {{text: 'why', at: [0, 1], size: [200, 80]}}}}\n"
    );
    let pipeline = parse_pipeline(&text).unwrap().pipeline;
    assert_eq!(pipeline.canvas.direction, Some(Direction::Down));
    assert_eq!(pipeline.canvas.positions["pull"], Point(10.0, -20.5));
    let json = serde_json::to_string(&pipeline).unwrap();
    assert!(json.contains(r#""positions":{"pull":[10,-20.5]}"#), "{json}");
    assert_eq!(parse_pipeline(&json).unwrap().pipeline, pipeline);
}

#[test]
fn what_cannot_be_drawn_is_told_with_its_path() {
    let error = |code, path: &str| vec![(Severity::Error, code, path.to_owned())];
    for (canvas, expected) in [
        ("{direction: left}", error(Code::InvalidValue, "/canvas/direction")),
        ("{positions: {pull: [1]}}", error(Code::WrongType, "/canvas/positions/pull")),
        ("{positions: {pull: {x: 1}}}", error(Code::WrongType, "/canvas/positions/pull")),
        ("{positions: {pull: [1, .nan]}}", error(Code::WrongType, "/canvas/positions/pull/1")),
        ("{positions: {pull: [1, 1e9]}}", error(Code::InvalidValue, "/canvas/positions/pull/1")),
        ("{frames: {f1: {tasks: [pull]}}}", error(Code::MissingKey, "/canvas/frames/f1")),
        ("{frames: {'a b': {title: x, tasks: []}}}", error(Code::InvalidName, "/canvas/frames/a b")),
        (
            "{notes: {n: {text: x, at: [0, 0], size: [0, 5]}}}",
            error(Code::InvalidValue, "/canvas/notes/n/size"),
        ),
        ("{nodes: {}}", error(Code::UnknownKey, "/canvas/nodes")),
    ] {
        assert_eq!(problems(canvas), expected, "{canvas}");
    }
}

#[test]
fn a_drawing_has_bounds() {
    let note = |at: usize, text: &str| format!("n{at}: {{text: {text}, at: [0, 0], size: [1, 1]}}");
    let many: Vec<String> = (0..10_001).map(|at| note(at, "x")).collect();
    for (canvas, path) in [
        (format!("{{notes: {{{}}}}}", note(1, &"x".repeat(10_001))), "/canvas/notes/n1/text"),
        (format!("{{frames: {{f: {{title: {}, tasks: []}}}}}}", "x".repeat(201)), "/canvas/frames/f/title"),
        (format!("{{notes: {{{}}}}}", many.join(", ")), "/canvas"),
    ] {
        assert_eq!(problems(&canvas), [(Severity::Error, Code::TooLarge, path.to_owned())]);
    }
}

#[test]
fn tasks_that_are_not_there_are_a_warning() {
    let canvas = "{positions: {pul: [1, 2]}, frames: {a: {title: A, tasks: [train, pull, gone]}, b: {title: B, tasks: [pull]}}}";
    let warning = |code, path: &str| (Severity::Warning, code, path.to_owned());
    assert_eq!(
        problems(canvas),
        [
            warning(Code::UnknownTask, "/canvas/positions/pul"),
            warning(Code::UnknownTask, "/canvas/frames/a/tasks/2"),
            warning(Code::Suspicious, "/canvas/frames/b/tasks/0"),
        ]
    );
    let document = parse_pipeline(&format!("{TASKS}canvas: {canvas}\n")).unwrap();
    let told = validate(&document, &fixtures(), &machine());
    assert!(told[0].message.contains("did you mean `pull`?"), "{told:?}");
}

#[test]
fn nothing_that_runs_depends_on_the_drawing() {
    let plan = |text: &str| try_plan(text, JsonMap::new(), &fixtures(), &machine()).unwrap().plan;
    let key = |text: &str| {
        let plan = plan(text);
        let job = job(&plan, TaskIx(0), 0, None, 1, None, &Outputs::new()).unwrap();
        cache_key(&plan, TaskIx(0), &job, &Digests::default())
    };
    let drawn = format!(
        "{TASKS}canvas: {{direction: down, positions: {{pull: [5, 6]}}, notes: {{n: {{text: x, at: [0, 0], size: [9, 9]}}}}}}\n"
    );
    assert_ne!(parse_pipeline(TASKS).unwrap().pipeline, parse_pipeline(&drawn).unwrap().pipeline);
    assert_eq!(serde_json::to_value(plan(TASKS)).unwrap(), serde_json::to_value(plan(&drawn)).unwrap());
    assert_eq!(key(TASKS), key(&drawn));
}
