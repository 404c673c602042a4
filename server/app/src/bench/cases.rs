//! The list of cases.

use std::pin::Pin;

use super::figures::Figure;
use super::{Setting, admission, fake, history, local, web};

/// The result of a case.
pub type Outcome = Pin<Box<dyn Future<Output = anyhow::Result<Vec<Figure>>>>>;

/// A benchmark case.
pub struct Case {
    /// Its name on the command line.
    pub name: &'static str,
    pub about: &'static str,
    /// Whether one round is enough, because it takes minutes, or compares medians itself.
    pub once: bool,
    pub run: fn(Setting) -> Outcome,
}

/// All cases, in execution order.
pub const CASES: &[Case] = &[
    Case {
        name: "python",
        about: "40 sequential Python tasks, compared with a loop of the same commands",
        once: false,
        run: |setting| Box::pin(local::python(setting)),
    },
    Case {
        name: "noop",
        about: "40 sequential tasks of a static no-op, compared with a loop of the same commands",
        once: false,
        run: |setting| Box::pin(local::noop(setting)),
    },
    Case {
        name: "parallel",
        about: "40 parallel Python tasks, compared with the same commands in parallel",
        once: false,
        run: |setting| Box::pin(local::parallel(setting)),
    },
    Case {
        name: "flow",
        about: "a flow of 3 steps, 100 times, compared with 3 plain commands",
        once: false,
        run: |setting| Box::pin(local::flow(setting)),
    },
    Case {
        name: "long",
        about: "10 parallel tasks that sleep for 2 s",
        once: false,
        run: |setting| Box::pin(local::long(setting)),
    },
    Case {
        name: "admission",
        about: "1,000 queues with 50,000 pending jobs: admissions per second, and scheduling cycles",
        once: false,
        run: |setting| Box::pin(admission::queue(setting)),
    },
    Case {
        name: "nodes",
        about: "the same with the allocations of 1,000 nodes with 8 GPUs each",
        once: false,
        run: |setting| Box::pin(admission::nodes(setting)),
    },
    Case {
        name: "month",
        about: "a simulated month of 10,000 jobs, gangs of 1 to 64 GPUs, with failures (seed 1)",
        once: true,
        run: |setting| Box::pin(admission::month(setting)),
    },
    Case {
        name: "sqlite",
        about: "dispatches per second on a fake cluster, durable, on SQLite",
        once: false,
        run: |setting| Box::pin(fake::sqlite(setting)),
    },
    Case {
        name: "postgres",
        about: "dispatches per second on a fake cluster, durable, on PostgreSQL",
        once: false,
        run: |setting| Box::pin(fake::postgres(setting)),
    },
    Case {
        name: "plan",
        about: "planning a document of 100,000 tasks, compared with parsing it as JSON",
        once: false,
        run: |setting| Box::pin(fake::plan(setting)),
    },
    Case {
        name: "large",
        about: "a run of 100,000 tasks on a fake cluster, on SQLite",
        once: false,
        run: |setting| Box::pin(fake::large(setting)),
    },
    Case {
        name: "history",
        about: "a scheduling cycle with millions of finished tasks in the database, compared with an empty one",
        once: true,
        run: |setting| Box::pin(history::history(setting)),
    },
    Case {
        name: "web",
        about: "1,000 requests per second while an engine runs, compared with a bare handler; 1,000 idle listeners",
        once: false,
        run: |setting| Box::pin(web::web(setting)),
    },
];

/// Helper processes, which are not cases of their own.
pub const PARTS: &[Case] = &[
    Case {
        name: "prepare",
        about: "plans the run of the case `large`",
        once: true,
        run: |setting| Box::pin(fake::prepare(setting)),
    },
    Case {
        name: "bare",
        about: "the bare handler of the case `web`",
        once: true,
        run: |setting| Box::pin(web::bare::bare(setting)),
    },
];
