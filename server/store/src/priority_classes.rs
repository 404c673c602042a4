//! Priority classes.

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::priority::{Preempts, PriorityClass};

use crate::defined::Defined;
use crate::error::StoreError;
use crate::values::{Columns, Values};
use crate::{Change, Store};

impl Defined for PriorityClass {
    const WHAT: &'static str = "priority class";
    const TABLE: &'static str = "priority_classes";
    const COLUMNS: &'static [&'static str] = &["priority", "preempts", "description"];

    fn name(&self) -> &str {
        &self.name
    }

    fn write(&self, values: &mut Values) -> Result<(), StoreError> {
        values.int(self.priority)?.text(self.preempts.name())?;
        values.maybe_text(self.description.as_deref())?;
        Ok(())
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            name: columns.text()?.into(),
            priority: columns.int()?,
            preempts: columns.parsed::<Preempts>()?,
            description: columns.maybe_text()?,
            revision: columns.int()?,
        })
    }
}

impl Store {
    /// All priority classes, by name.
    pub async fn priority_classes(&self) -> Result<Vec<PriorityClass>, StoreError> {
        self.all_defined().await
    }

    pub async fn priority_class(&self, name: &str) -> Result<Option<PriorityClass>, StoreError> {
        self.defined(name).await
    }

    /// Creates or changes a priority class and assigns its revision. `expected` is 0 for one that must not
    /// exist yet. Runs keep the priority from their planning.
    pub async fn put_priority_class(
        &self,
        class: &PriorityClass,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.define(class, expected, audit).await
    }

    pub async fn delete_priority_class(
        &self,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.undefine::<PriorityClass>(name, expected, audit).await
    }
}
