//! Server-sent events as text: `id:`, `event:`, `data:`.

use std::sync::OnceLock;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use crate::api::events::view::LiveEvent;
use crate::texts::Lang;
use crate::told::{Sentences, told};

/// Keeps an idle connection from being closed as dead.
pub(super) const ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// An event, serialized once per language for all readers.
pub(super) struct Frame {
    english: Bytes,
    /// For events with messages: the event and its id, and the Chinese text once it is needed.
    chinese: Option<(Box<LiveEvent>, String, OnceLock<Bytes>)>,
}

impl Frame {
    /// The event with this id.
    pub(super) fn new(mut event: LiveEvent, id: String) -> Self {
        let english = of(&event, &id);
        let chinese = event.any().then(|| (Box::new(event), id, OnceLock::new()));
        Self { english, chinese }
    }

    pub(super) fn len(&self) -> usize {
        self.english.len()
    }

    /// The text in this language.
    pub(super) fn text(&self, lang: Lang) -> Bytes {
        match (&self.chinese, lang) {
            (Some((event, id, text)), Lang::Zh) => {
                text.get_or_init(|| of(&told(lang, LiveEvent::clone(event)), id)).clone()
            }
            _ => self.english.clone(),
        }
    }
}

/// An event of a room.
pub(super) fn of(event: &LiveEvent, id: &str) -> Bytes {
    let mut value = serde_json::to_value(event).unwrap_or_default();
    // The kind becomes the event's name.
    let kind = value.as_object_mut().and_then(|object| object.remove("kind"));
    let name = kind.as_ref().and_then(Value::as_str).unwrap_or("message");
    named(name, &value, id)
}

/// An event with its own name.
pub(crate) fn named(name: &str, data: &impl Serialize, id: &str) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    let mut text = String::with_capacity(data.len() + id.len() + name.len() + 24);
    if !id.is_empty() {
        text.push_str("id: ");
        text.push_str(id);
        text.push('\n');
    }
    text.push_str("event: ");
    text.push_str(name);
    // JSON has line breaks only inside strings, where they are escaped.
    text.push_str("\ndata: ");
    text.push_str(&data);
    text.push_str("\n\n");
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_block_of_lines() {
        let event = LiveEvent::Deleted { run_id: "a\nb".into() };
        assert_eq!(of(&event, "7-1"), "id: 7-1\nevent: deleted\ndata: {\"run_id\":\"a\\nb\"}\n\n");
        assert_eq!(of(&LiveEvent::Revoked {}, ""), "event: revoked\ndata: {}\n\n");
    }
}
