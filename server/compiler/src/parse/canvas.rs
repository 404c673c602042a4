//! The decoder of `canvas`: positions, frames and notes, with limits on each.

use cubeloom_domain::Code;
use cubeloom_domain::canvas::{
    Canvas, Direction, Frame, MAX_COORDINATE, MAX_ITEMS, MAX_NOTE, MAX_POSITIONS, MAX_TITLE, Note, Point,
};

use super::decode::Decoder;
use super::keys;
use super::node::{Kind, Node};

/// The form of frame and note ids, for messages.
const ID: &str = "an id: use letters, digits, `-` and `_`, at most 63";

pub fn canvas(d: &mut Decoder, node: &Node<'_>) -> Option<Canvas> {
    let map = d.map(node, "the canvas", keys::CANVAS)?;
    let directions = [("right", Direction::Right), ("down", Direction::Down)];
    let canvas = Canvas {
        direction: d.optional(map, "direction", |d, node| d.one_of(node, &directions)),
        positions: d.optional(map, "positions", |d, node| d.table(node, point)).unwrap_or_default(),
        frames: d.optional(map, "frames", |d, node| d.named(node, is_id, ID, frame)).unwrap_or_default(),
        notes: d.optional(map, "notes", |d, node| d.named(node, is_id, ID, note)).unwrap_or_default(),
    };
    at_most(d, node, canvas.positions.len(), MAX_POSITIONS, "positions");
    at_most(d, node, canvas.frames.len() + canvas.notes.len(), MAX_ITEMS, "frames and notes");
    Some(canvas)
}

fn at_most(d: &mut Decoder, node: &Node<'_>, count: usize, most: usize, what: &str) {
    if count > most {
        d.problem(node, Code::TooLarge, format!("{count} {what} are too many; at most {most} are drawn"));
    }
}

fn is_id(key: &str) -> bool {
    (1..=63).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn frame(d: &mut Decoder, node: &Node<'_>) -> Option<Frame> {
    let map = d.map(node, "a frame", keys::FRAME)?;
    Some(Frame {
        title: d.required(map, "title", |d, node| bounded(d, node, MAX_TITLE)).unwrap_or_default(),
        tasks: d.required(map, "tasks", |d, node| d.list(node, Decoder::word)).unwrap_or_default(),
    })
}

fn note(d: &mut Decoder, node: &Node<'_>) -> Option<Note> {
    let map = d.map(node, "a note", keys::NOTE)?;
    Some(Note {
        text: d.required(map, "text", |d, node| bounded(d, node, MAX_NOTE)).unwrap_or_default(),
        at: d.required(map, "at", point).unwrap_or_default(),
        size: d.required(map, "size", size).unwrap_or_default(),
    })
}

fn bounded(d: &mut Decoder, node: &Node<'_>, most: usize) -> Option<String> {
    let text = d.text(node)?;
    let length = text.chars().count();
    if length > most {
        d.problem(node, Code::TooLarge, format!("has {length} characters; at most {most} are kept"));
    }
    Some(text)
}

/// Two numbers, as `[120, 80]`.
fn point(d: &mut Decoder, node: &Node<'_>) -> Option<Point> {
    if !matches!(&node.kind, Kind::List(items) if items.len() == 2) {
        d.wrong_type(node, "two numbers, such as [120, 80]");
        return None;
    }
    match d.list(node, coordinate)?.as_slice() {
        [x, y] => Some(Point(*x, *y)),
        _ => None,
    }
}

fn coordinate(d: &mut Decoder, node: &Node<'_>) -> Option<f64> {
    let value = d.float(node)?;
    if value.abs() > MAX_COORDINATE {
        let message =
            format!("{value} is not allowed: must be between -{MAX_COORDINATE} and {MAX_COORDINATE}");
        d.problem(node, Code::InvalidValue, message);
    }
    Some(value)
}

fn size(d: &mut Decoder, node: &Node<'_>) -> Option<Point> {
    let size = point(d, node)?;
    if size.0 <= 0.0 || size.1 <= 0.0 {
        d.problem(node, Code::InvalidValue, "a width and a height must be more than 0");
    }
    Some(size)
}
