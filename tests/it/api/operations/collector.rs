//! An OpenTelemetry collector: accepts OTLP over HTTP on its own port, and keeps the spans.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use prost::Message;

#[derive(Clone, Debug)]
pub struct Span {
    pub service: String,
    pub name: String,
    /// Trace id in hexadecimal.
    pub trace: String,
    /// Id of the parent span; empty for a root span.
    pub parent: String,
    /// Attributes, as text.
    pub attributes: BTreeMap<String, String>,
}

/// A collector that runs until the test ends.
pub struct Collector {
    url: String,
    spans: Arc<Mutex<Vec<Span>>>,
}

impl Collector {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let spans = Arc::<Mutex<Vec<Span>>>::default();
        let kept = Arc::clone(&spans);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || while take(&stream, &kept).is_some() {});
            }
        });
        Self { url, spans }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The spans received so far.
    pub fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads one request. `None` at the end of the connection.
fn take(stream: &TcpStream, kept: &Mutex<Vec<Span>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    assert!(line.starts_with("POST /v1/traces "), "{line}");
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        match header.split_once(": ") {
            Some(("content-length", value)) => length = value.parse().ok()?,
            Some(("content-type", value)) => assert_eq!(value, "application/x-protobuf"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request = ExportTraceServiceRequest::decode(body.as_slice()).expect("OTLP");
    kept.lock().unwrap_or_else(PoisonError::into_inner).extend(spans(request));
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
    let mut stream = stream;
    stream.write_all(answer.as_bytes()).ok()
}

fn spans(request: ExportTraceServiceRequest) -> Vec<Span> {
    let mut all = Vec::new();
    for part in request.resource_spans {
        let about = attributes(part.resource.map(|resource| resource.attributes).unwrap_or_default());
        let service = about.get("service.name").cloned().unwrap_or_default();
        all.extend(part.scope_spans.into_iter().flat_map(|scope| scope.spans).map(|span| Span {
            service: service.clone(),
            name: span.name,
            trace: hexadecimal(&span.trace_id),
            parent: hexadecimal(&span.parent_span_id),
            attributes: attributes(span.attributes),
        }));
    }
    all
}

fn attributes(pairs: Vec<KeyValue>) -> BTreeMap<String, String> {
    pairs.into_iter().map(|pair| (pair.key, shown(pair.value))).collect()
}

fn shown(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::BoolValue(flag)) => flag.to_string(),
        other => format!("{other:?}"),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
