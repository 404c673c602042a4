//! The pipeline of the crash test: 200 cheap tasks whose sums depend on each other, and the expected sums.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

/// The items of the expanded task, as `work.sh` writes them.
const ITEMS: i64 = 20;
/// Tasks in one layer.
const WIDTH: usize = 20;

/// A pipeline, and the sum that each task must report; for an expanded task, one per instance.
pub struct Document {
    name: &'static str,
    tasks: Vec<Value>,
    sums: BTreeMap<String, Vec<i64>>,
}

impl Document {
    /// 200 tasks: layers that read two tasks of the previous layer, an expansion, two gangs of three workers,
    /// tasks that fail or hang once, and a skipped one. The last task adds everything up.
    pub fn of_200_tasks() -> Self {
        Self::with_layers("crash", 9, 8)
    }

    /// The same with three layers: 72 tasks.
    pub fn short() -> Self {
        Self::with_layers("crash-short", 3, 0)
    }

    /// Tasks that never end by themselves, after some that do.
    pub fn endless() -> Self {
        let mut document = Self { name: "endless", tasks: Vec::new(), sums: BTreeMap::new() };
        document.add("start", "0", "plain", 1, &[]);
        for at in 0..12 {
            document.add(&format!("hang{at}"), "0", "hang", 1, &["start"]);
        }
        document
    }

    /// A task and one that depends on it.
    pub fn pair() -> Self {
        let mut document = Self { name: "pair", tasks: Vec::new(), sums: BTreeMap::new() };
        document.add("start", "0", "plain", 1, &[]);
        document.add("end", "0", "plain", 1, &["start"]);
        document
    }

    /// One task on the whole machine, which in its first attempt hangs until it is stopped.
    pub fn borrowing() -> Self {
        let mut document = Self { name: "borrowing", tasks: Vec::new(), sums: BTreeMap::new() };
        document.add("long", "0", "hang-once", 1, &[]);
        document.last_with("resources", json!({"cpu": "8", "memory": "64Mi"}));
        document
    }

    /// A task that runs a stored pipeline, and one that depends on it.
    pub fn calling(pipeline: &str) -> Self {
        let mut document = Self { name: "calling", tasks: Vec::new(), sums: BTreeMap::new() };
        let call = json!({"name": "call", "template": "pipeline", "arguments": {"pipeline": pipeline}});
        document.tasks.push(call);
        document.add("end", "0", "plain", 1, &[]);
        document.last_with("needs", json!(["call"]));
        document
    }

    fn with_layers(name: &'static str, layers: usize, reduces: usize) -> Self {
        let mut document = Self { name, tasks: Vec::new(), sums: BTreeMap::new() };
        document.add("start", "0.01", "plain", 1, &[]);
        for at in 0..5 {
            document.add(&format!("retry{at}"), "0.01", "fail-once", 3, &["start"]);
            document
                .last_with("retry", json!({"attempts": 2, "on": ["error"], "backoff": {"initial": "20ms"}}));
        }
        document.add("late", "0", "hang-once", 5, &["start"]);
        // It ignores SIGTERM, too.
        document.last_with("retry", json!({"attempts": 2, "on": ["timeout"]}));
        document.last_with("timeout", json!("1s"));
        document.layers(layers);
        document.expansion();
        for at in 0..2 {
            document.add(&format!("gang{at}"), "0.02", "plain", 7, &[&cell(at, at), &cell(at, at + 9)]);
            document.make_gang(at);
        }
        document.add("never", "0", "plain", 0, &["start"]);
        document.last_with("when", json!("{{ tasks.start.outputs.sum > 1 }}"));
        document.sums.remove("never");
        document.ends(layers, reduces);
        document
    }

    fn layers(&mut self, layers: usize) {
        for layer in 0..layers {
            for at in 0..WIDTH {
                let pause = format!("0.{:03}", (layer * 7 + at * 11) % 31);
                let before = [cell(layer.wrapping_sub(1), at), cell(layer.wrapping_sub(1), (at + 7) % WIDTH)];
                let needs =
                    if layer == 0 { vec!["start"] } else { before.iter().map(String::as_str).collect() };
                self.add(&cell(layer, at), &pause, "plain", at as i64, &needs);
            }
        }
    }

    fn expansion(&mut self) {
        self.add("each", "0.01", "plain", 100, &["start"]);
        self.last_with("for_each", json!({"from": "{{ tasks.start.outputs.elements }}", "parallelism": 5}));
        self.last_words().push(json!("+{{ item }}"));
        let start = self.sums["start"][0];
        self.sums.insert("each".into(), (1..=ITEMS).map(|item| 100 + start + item).collect());
    }

    fn ends(&mut self, layers: usize, reduces: usize) {
        let last: Vec<String> = (0..WIDTH).map(|at| cell(layers - 1, at)).collect();
        for at in 0..reduces {
            let needs: Vec<&str> = last[at * 2..at * 2 + 4].iter().map(String::as_str).collect();
            self.add(&format!("reduce{at}"), "0.005", "plain", 1, &needs);
        }
        let others = (0..5).map(|at| format!("retry{at}")).chain((0..2).map(|at| format!("gang{at}")));
        let reduces = (0..reduces).map(|at| format!("reduce{at}"));
        let needs: Vec<String> =
            last.iter().cloned().chain(others).chain(reduces).chain(["late".to_owned()]).collect();
        self.add("end", "0", "plain", 0, &needs.iter().map(String::as_str).collect::<Vec<_>>());
        self.last()["needs"].as_array_mut().expect("a list").push(json!("each"));
        self.last_words().push(json!("+{{ tasks.each.outputs.sum | sum }}"));
        let each: i64 = self.sums["each"].iter().sum();
        self.sums.get_mut("end").expect("just added")[0] += each;
    }

    /// A task that adds `own` and the sums of its dependencies.
    fn add(&mut self, name: &str, pause: &str, what: &str, own: i64, needs: &[&str]) {
        let fixed = [
            json!("/bin/sh"),
            json!("{{ code }}/work.sh"),
            json!(pause),
            json!(what),
            json!(own.to_string()),
        ];
        // Text around the expression keeps the value a string.
        let read = needs.iter().map(|need| json!(format!("+{{{{ tasks.{need}.outputs.sum }}}}")));
        let words: Vec<Value> = fixed.into_iter().chain(read).collect();
        self.tasks.push(json!({
            "name": name, "template": "command", "arguments": {"command": words}, "needs": needs,
            "resources": {"cpu": "1", "memory": "64Mi"},
        }));
        let sum = own + needs.iter().map(|need| self.sums[*need][0]).sum::<i64>();
        self.sums.insert(name.into(), vec![sum]);
    }

    fn last(&mut self) -> &mut Value {
        self.tasks.last_mut().expect("a task")
    }

    fn last_with(&mut self, key: &str, value: Value) {
        self.last()[key] = value;
    }

    fn last_words(&mut self) -> &mut Vec<Value> {
        self.last()["arguments"]["command"].as_array_mut().expect("a list")
    }

    fn make_gang(&mut self, packages: usize) {
        let task = self.last();
        task["template"] = json!("indexed");
        task["arguments"]["workers"] = json!(3);
        // With packages, an environment has to be created. The uv stand-in ignores the names.
        task["arguments"]["requirements"] = json!(vec!["nothing==1"; packages]);
    }

    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    pub fn first(&self) -> &str {
        self.tasks[0]["name"].as_str().expect("a name")
    }

    /// The sum of each instance of each executed task.
    pub fn sums(&self) -> &BTreeMap<String, Vec<i64>> {
        &self.sums
    }

    /// Writes it and the workers' program into a folder.
    pub fn write(&self, folder: &Path, ledger: &Path) -> std::path::PathBuf {
        let document = json!({
            "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": self.name,
            "env": {"LEDGER": ledger}, "tasks": self.tasks,
        });
        let path = folder.join("pipeline.json");
        std::fs::create_dir_all(folder).expect("a folder for the pipeline");
        std::fs::write(folder.join("work.sh"), include_str!("work.sh")).expect("the workers' program");
        std::fs::write(&path, document.to_string()).expect("the pipeline");
        path
    }
}

fn cell(layer: usize, at: usize) -> String {
    format!("l{layer}t{at}")
}
