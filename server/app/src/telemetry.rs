//! Logs on standard error, filtered by `RUST_LOG`, and spans for an OpenTelemetry collector if one is
//! configured.

use std::time::Duration;

use anyhow::Context;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::context;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracing::Subscriber;
use tracing_subscriber::filter::{EnvFilter, LevelFilter, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::show::Above;

/// The timeout of an export.
const SEND: Duration = Duration::from_secs(5);
/// How long the program waits at exit for the last export.
const LAST: Duration = Duration::from_secs(2);

/// The default verbosity without `RUST_LOG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Warnings and errors: a user reads the results.
    Quiet,
    /// The server's activity.
    Server,
}

/// Exports spans, and the remaining ones on drop. A separate thread exports, so callers never wait for it.
pub struct Telemetry(Option<SdkTracerProvider>);

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(provider) = &self.0
            && let Err(error) = provider.shutdown_with_timeout(LAST)
        {
            tracing::debug!(%error, "the last spans were not sent");
        }
    }
}

/// Starts it. `collector` is the base URL of a collector that accepts OTLP over HTTP,
/// `http://localhost:4318`.
pub fn start(level: Level, collector: Option<&str>) -> anyhow::Result<Telemetry> {
    let provider = collector.map(provider).transpose()?;
    let spans = provider.as_ref().map(|provider| spans(provider.tracer("cubeloom")));
    let _ = tracing_subscriber::registry().with(messages(level)).with(spans).try_init();
    Ok(Telemetry(provider))
}

fn messages<S: Subscriber + Send + Sync + for<'span> LookupSpan<'span>>(
    level: Level,
) -> Box<dyn Layer<S> + Send + Sync> {
    // The caller logs the result of a kube request, with the cluster and the object; kube's own logs name
    // neither.
    let usual = match level {
        Level::Quiet => "warn,kube_client::client=off",
        Level::Server => "info,kube_client::client=off",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(|| Above)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false);
    match level {
        Level::Quiet => layer.without_time().with_filter(filter).boxed(),
        Level::Server => layer.with_filter(filter).boxed(),
    }
}

/// Our own spans, whatever the log filter. Spans of libraries are not exported.
fn spans<S: Subscriber + Send + Sync + for<'span> LookupSpan<'span>>(
    tracer: SdkTracer,
) -> impl Layer<S> + Send + Sync {
    let ours = filter_fn(|about| about.is_span() && about.target().starts_with("cubeloom"));
    tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_tracer(tracer)
        .with_filter(ours.with_max_level_hint(LevelFilter::DEBUG))
}

fn provider(collector: &str) -> anyhow::Result<SdkTracerProvider> {
    let explain = || format!("[telemetry] otlp_endpoint: no spans can be sent to {collector}");
    crate::web::choose_tls();
    let client = reqwest::blocking::Client::builder()
        .timeout(SEND)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .with_context(explain)?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_endpoint(format!("{}/v1/traces", collector.trim_end_matches('/')))
        .build()
        .with_context(explain)?;
    let resource = Resource::builder().with_service_name("cubeloom").build();
    Ok(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build())
}

/// Middleware that continues the trace in a request's `traceparent`.
pub async fn continue_trace(request: Request, next: Next) -> Response {
    let parent = TraceContextPropagator::new().extract(&HeaderExtractor(request.headers()));
    context::FutureExt::with_context(next.run(request), parent).await
}
