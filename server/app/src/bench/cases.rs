//! The list of cases.

use std::pin::Pin;

use super::figures::Figure;
use super::{Setting, admission, fake, history, local, web};

/// What a case yields.
pub type Outcome = Pin<Box<dyn Future<Output = anyhow::Result<Vec<Figure>>>>>;

/// One thing that is measured.
pub struct Case {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    /// Whether one round is enough: it takes minutes, or compares medians by itself.
    pub once: bool,
    /// Runs one round.
    pub run: fn(Setting) -> Outcome,
}

/// All cases, in the order they are run.
pub const CASES: &[Case] = &[
    Case {
        name: "python",
        about: "40 sequential tasks, a Python process each, beside a bare loop of the same commands",
        once: false,
        run: |setting| Box::pin(local::python(setting)),
    },
    Case {
        name: "noop",
        about: "40 sequential tasks of a static no-op, beside a bare loop of the same commands",
        once: false,
        run: |setting| Box::pin(local::noop(setting)),
    },
    Case {
        name: "parallel",
        about: "40 tasks at once, a Python process each, beside the same commands started at once",
        once: false,
        run: |setting| Box::pin(local::parallel(setting)),
    },
    Case {
        name: "flow",
        about: "a flow of 3 steps, 100 times, beside 3 bare commands",
        once: false,
        run: |setting| Box::pin(local::flow(setting)),
    },
    Case {
        name: "long",
        about: "10 tasks that sleep for 2 s, at once",
        once: false,
        run: |setting| Box::pin(local::long(setting)),
    },
    Case {
        name: "admission",
        about: "1,000 queues with 50,000 waiting jobs: admissions a second, and passes",
        once: false,
        run: |setting| Box::pin(admission::queue(setting)),
    },
    Case {
        name: "nodes",
        about: "the same, where the desk knows who is on each of 1,000 nodes with 8 cards",
        once: false,
        run: |setting| Box::pin(admission::nodes(setting)),
    },
    Case {
        name: "month",
        about: "a simulated month of 10,000 jobs, gangs of 1 to 64 cards, with failures (seed 1)",
        once: true,
        run: |setting| Box::pin(admission::month(setting)),
    },
    Case {
        name: "sqlite",
        about: "dispatches a second over a pretended cluster, durable, on SQLite",
        once: false,
        run: |setting| Box::pin(fake::sqlite(setting)),
    },
    Case {
        name: "postgres",
        about: "dispatches a second over a pretended cluster, durable, on PostgreSQL",
        once: false,
        run: |setting| Box::pin(fake::postgres(setting)),
    },
    Case {
        name: "plan",
        about: "planning a document of 100,000 tasks, beside reading it as bare JSON",
        once: false,
        run: |setting| Box::pin(fake::plan(setting)),
    },
    Case {
        name: "large",
        about: "a run of 100,000 tasks over a pretended cluster, on SQLite",
        once: false,
        run: |setting| Box::pin(fake::large(setting)),
    },
    Case {
        name: "history",
        about: "a pass with millions of finished tasks in the database, beside an empty one",
        once: true,
        run: |setting| Box::pin(history::history(setting)),
    },
    Case {
        name: "web",
        about: "1,000 requests a second beside a running engine, next to a bare handler; 1,000 idle listeners",
        once: false,
        run: |setting| Box::pin(web::web(setting)),
    },
];

/// Not cases of their own.
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
