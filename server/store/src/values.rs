//! Between our types and the three kinds of columns: writing parameters, reading rows.

use cubeloom_domain::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::{Any, Arguments, Decode, Encode, Row, Type};

use crate::error::StoreError;

/// The most of anything that is counted, where one number stands for more than is possible: sums of a thousand of it, and programs
/// that read JSON, can hold it.
pub(crate) const COUNTED: i64 = (1 << 53) - 1;

/// The values of a statement, in order.
pub(crate) struct Values {
    what: &'static str,
    pub(crate) arguments: AnyArguments,
}

impl Values {
    /// Room for `count` values of `what`.
    pub(crate) fn new(what: &'static str, count: usize) -> Self {
        let mut arguments = AnyArguments::default();
        arguments.reserve(count, 0);
        Self { what, arguments }
    }

    /// Some texts.
    pub(crate) fn texts(what: &'static str, texts: &[&str]) -> Result<Self, StoreError> {
        let mut values = Self::new(what, texts.len());
        for text in texts {
            values.text(text)?;
        }
        Ok(values)
    }

    /// Total number of items.
    pub(crate) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// A text. PostgreSQL has no NUL in texts, so none is stored.
    pub(crate) fn text(&mut self, value: &str) -> Result<&mut Self, StoreError> {
        if value.contains('\0') { self.add(value.replace('\0', "\u{fffd}")) } else { self.add(value) }
    }

    /// A number, up to 2^63 - 1. What is above that is no true amount of anything, as a counter that ran below 0: the most that
    /// is [`COUNTED`] is stored instead, and told. Refused it would be tried again for ever, and nothing else be stored.
    pub(crate) fn int(&mut self, value: impl TryInto<i64>) -> Result<&mut Self, StoreError> {
        let stored = value.try_into().unwrap_or_else(|_| {
            tracing::error!(what = self.what, "a number is above 2^63 - 1: 2^53 - 1 is stored");
            COUNTED
        });
        self.add::<i64>(stored)
    }

    /// A flag.
    pub(crate) fn flag(&mut self, value: bool) -> Result<&mut Self, StoreError> {
        self.add(i64::from(value))
    }

    /// A number that may be absent. Absent values keep their type: PostgreSQL prepares by it.
    pub(crate) fn maybe_int(&mut self, value: Option<impl TryInto<i64>>) -> Result<&mut Self, StoreError> {
        match value {
            Some(value) => self.int(value),
            None => self.add(None::<i64>),
        }
    }

    /// A moment that may be absent.
    pub(crate) fn maybe_time(&mut self, value: Option<Timestamp>) -> Result<&mut Self, StoreError> {
        self.maybe_int(value.map(|time| time.0))
    }

    /// A text that may be absent.
    pub(crate) fn maybe_text(&mut self, value: Option<&str>) -> Result<&mut Self, StoreError> {
        match value {
            Some(value) => self.text(value),
            None => self.add(None::<String>),
        }
    }

    /// A document.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<&mut Self, StoreError> {
        let text = serde_json::to_string(value).map_err(|error| self.refused(error))?;
        self.add(text)
    }

    /// A document that may be absent.
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
    /// The columns of a row of `what`.
    pub(crate) fn of(what: &'static str, row: &'r AnyRow) -> Self {
        Self { what, row, at: 0 }
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Result<&'r str, StoreError> {
        self.next()
    }

    /// A text that may be absent.
    pub(crate) fn maybe_text(&mut self) -> Result<Option<String>, StoreError> {
        self.next()
    }

    /// A text that is something more.
    pub(crate) fn parsed<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<T, StoreError> {
        self.text()?.parse().map_err(|error: T::Err| self.unreadable(error))
    }

    /// A text that is something more, and may be absent.
    pub(crate) fn maybe_parsed<T: std::str::FromStr<Err: ToString>>(
        &mut self,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.next::<Option<&str>>()? else { return Ok(None) };
        text.parse().map(Some).map_err(|error: T::Err| self.unreadable(error))
    }

    /// A number.
    pub(crate) fn int<T: TryFrom<i64>>(&mut self) -> Result<T, StoreError> {
        let value: i64 = self.next()?;
        T::try_from(value).map_err(|_| self.unreadable(format!("{value} is out of range")))
    }

    /// A number that may be absent.
    pub(crate) fn maybe_int<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, StoreError> {
        let Some(value) = self.next::<Option<i64>>()? else { return Ok(None) };
        T::try_from(value).map(Some).map_err(|_| self.unreadable(format!("{value} is out of range")))
    }

    /// A document.
    pub(crate) fn json<T: DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        serde_json::from_str(self.text()?).map_err(|error| self.unreadable(error))
    }

    /// A document that may be absent.
    pub(crate) fn maybe_json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        let Some(text) = self.next::<Option<&str>>()? else { return Ok(None) };
        serde_json::from_str(text).map(Some).map_err(|error| self.unreadable(error))
    }

    /// A word that stands for one value of an enum, by its name in documents.
    pub(crate) fn word<T: DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        let word = self.text()?;
        serde_json::from_value(Value::from(word)).map_err(|error| self.unreadable(error))
    }

    /// A word that may be absent.
    pub(crate) fn maybe_word<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        let Some(word) = self.next::<Option<&str>>()? else { return Ok(None) };
        serde_json::from_value(Value::from(word)).map(Some).map_err(|error| self.unreadable(error))
    }

    /// A flag.
    pub(crate) fn flag(&mut self) -> Result<bool, StoreError> {
        Ok(self.int::<i64>()? != 0)
    }

    /// A moment.
    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        Ok(Timestamp(self.int()?))
    }

    /// A moment that may be absent.
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
