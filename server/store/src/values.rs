//! Conversion between our types and the three kinds of columns: binds parameters, reads rows.

use cubeloom_domain::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::{Any, Arguments, Decode, Encode, Row, Type};

use crate::error::StoreError;

/// Maximum of a counted amount, if a number is impossibly large: sums of a thousand such values, and programs
/// that parse JSON, can represent it.
pub(crate) const COUNTED: i64 = (1 << 53) - 1;

/// The parameters of a statement, in order.
pub(crate) struct Values {
    what: &'static str,
    pub(crate) arguments: AnyArguments,
}

impl Values {
    /// Capacity for `count` values of `what`.
    pub(crate) fn new(what: &'static str, count: usize) -> Self {
        let mut arguments = AnyArguments::default();
        arguments.reserve(count, 0);
        Self { what, arguments }
    }

    pub(crate) fn texts(what: &'static str, texts: &[&str]) -> Result<Self, StoreError> {
        let mut values = Self::new(what, texts.len());
        for text in texts {
            values.text(text)?;
        }
        Ok(values)
    }

    pub(crate) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// A text. PostgreSQL supports no NUL in texts, so it is removed.
    pub(crate) fn text(&mut self, value: &str) -> Result<&mut Self, StoreError> {
        if value.contains('\0') { self.add(value.replace('\0', "\u{fffd}")) } else { self.add(value) }
    }

    /// A number, up to 2^63 - 1. A larger value is no real amount, but for instance a counter that
    /// underflowed: [`COUNTED`] is stored instead, with a log message. A refused value would be retried
    /// forever, and block all other writes.
    pub(crate) fn int(&mut self, value: impl TryInto<i64>) -> Result<&mut Self, StoreError> {
        let stored = value.try_into().unwrap_or_else(|_| {
            tracing::error!(what = self.what, "a number is above 2^63 - 1: 2^53 - 1 is stored");
            COUNTED
        });
        self.add::<i64>(stored)
    }

    pub(crate) fn flag(&mut self, value: bool) -> Result<&mut Self, StoreError> {
        self.add(i64::from(value))
    }

    /// An optional number. NULLs keep their type, because PostgreSQL prepares statements by it.
    pub(crate) fn maybe_int(&mut self, value: Option<impl TryInto<i64>>) -> Result<&mut Self, StoreError> {
        match value {
            Some(value) => self.int(value),
            None => self.add(None::<i64>),
        }
    }

    pub(crate) fn maybe_time(&mut self, value: Option<Timestamp>) -> Result<&mut Self, StoreError> {
        self.maybe_int(value.map(|time| time.0))
    }

    pub(crate) fn maybe_text(&mut self, value: Option<&str>) -> Result<&mut Self, StoreError> {
        match value {
            Some(value) => self.text(value),
            None => self.add(None::<String>),
        }
    }

    /// A value as JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<&mut Self, StoreError> {
        let text = serde_json::to_string(value).map_err(|error| self.refused(error))?;
        self.add(text)
    }

    /// An optional value as JSON.
    pub(crate) fn maybe_json(&mut self, value: Option<&impl Serialize>) -> Result<&mut Self, StoreError> {
        match value {
            Some(value) => self.json(value),
            None => self.add(None::<String>),
        }
    }

    fn add<'t, T: Encode<'t, Any> + Type<Any>>(&mut self, value: T) -> Result<&mut Self, StoreError> {
        match self.arguments.add(value) {
            Ok(()) => Ok(self),
            Err(error) => Err(self.refused(error)),
        }
    }

    fn refused(&self, reason: impl ToString) -> StoreError {
        StoreError::Unstorable { what: self.what, reason: reason.to_string() }
    }
}

/// Reads the columns of a row from left to right.
pub(crate) struct Columns<'r> {
    what: &'static str,
    row: &'r AnyRow,
    at: usize,
}

impl<'r> Columns<'r> {
    pub(crate) fn of(what: &'static str, row: &'r AnyRow) -> Self {
        Self { what, row, at: 0 }
    }

    pub(crate) fn text(&mut self) -> Result<&'r str, StoreError> {
        self.next()
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<String>, StoreError> {
        self.next()
    }

    /// A text, parsed into `T`.
    pub(crate) fn parsed<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<T, StoreError> {
        self.text()?.parse().map_err(|error: T::Err| self.unreadable(error))
    }

    /// An optional text, parsed into `T`.
    pub(crate) fn maybe_parsed<T: std::str::FromStr<Err: ToString>>(
        &mut self,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.next::<Option<&str>>()? else { return Ok(None) };
        text.parse().map(Some).map_err(|error: T::Err| self.unreadable(error))
    }

    pub(crate) fn int<T: TryFrom<i64>>(&mut self) -> Result<T, StoreError> {
        let value: i64 = self.next()?;
        T::try_from(value).map_err(|_| self.unreadable(format!("{value} is out of range")))
    }

    pub(crate) fn maybe_int<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, StoreError> {
        let Some(value) = self.next::<Option<i64>>()? else { return Ok(None) };
        T::try_from(value).map(Some).map_err(|_| self.unreadable(format!("{value} is out of range")))
    }

    /// A value from JSON.
    pub(crate) fn json<T: DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        serde_json::from_str(self.text()?).map_err(|error| self.unreadable(error))
    }

    /// An optional value from JSON.
    pub(crate) fn maybe_json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        let Some(text) = self.next::<Option<&str>>()? else { return Ok(None) };
        serde_json::from_str(text).map(Some).map_err(|error| self.unreadable(error))
    }

    /// A value of an enum, by its serialized name.
    pub(crate) fn word<T: DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        let word = self.text()?;
        serde_json::from_value(Value::from(word)).map_err(|error| self.unreadable(error))
    }

    /// An optional value of an enum, by its serialized name.
    pub(crate) fn maybe_word<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        let Some(word) = self.next::<Option<&str>>()? else { return Ok(None) };
        serde_json::from_value(Value::from(word)).map(Some).map_err(|error| self.unreadable(error))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, StoreError> {
        Ok(self.int::<i64>()? != 0)
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        Ok(Timestamp(self.int()?))
    }

    pub(crate) fn maybe_time(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.maybe_int()?.map(Timestamp))
    }

    fn next<T: Decode<'r, Any> + Type<Any>>(&mut self) -> Result<T, StoreError> {
        let at = self.at;
        self.at += 1;
        self.row.try_get(at).map_err(|error| self.unreadable(error))
    }

    fn unreadable(&self, reason: impl ToString) -> StoreError {
        StoreError::Unreadable { what: self.what, reason: reason.to_string() }
    }
}
