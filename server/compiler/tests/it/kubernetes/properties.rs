//! For every framework x option x cluster: the manifests have the shape that the API server and the webhooks
//! require.

use cubeloom_compiler::lower::kubernetes::lower;
use proptest::prelude::*;

use super::{cluster, shape, try_job, variety};

proptest! {
    #[test]
    fn every_object_has_the_shape_that_is_asked_for((task, facts) in variety::task_on_cluster()) {
        let (facts, kubernetes) = cluster(&facts);
        let job = try_job(&task, &facts).unwrap();
        let made = lower(&job, &kubernetes).unwrap();
        prop_assert_eq!(&made, &lower(&job, &kubernetes).unwrap(), "the same job gives the same objects");
        prop_assert!(!made.decisions.is_empty());
        let wrong = shape::check(&job, &kubernetes, &made);
        prop_assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
