//! Metrics of requests to the API server: count, duration and result.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use cubeloom_domain::measure::{self, Measure};
use http::{Request, Response};
use tower::{Layer, Service};

/// Tower layer that records requests to a cluster.
#[derive(Clone)]
pub struct Measured {
    cluster: Arc<str>,
}

impl Measured {
    /// For the cluster of this name.
    pub fn new(cluster: &str) -> Self {
        Self { cluster: cluster.into() }
    }
}

impl<S> Layer<S> for Measured {
    type Service = MeasuredService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        MeasuredService { inner, cluster: Arc::clone(&self.cluster) }
    }
}

/// The service that a client sends its requests through.
pub struct MeasuredService<S> {
    inner: S,
    cluster: Arc<str>,
}

impl<S, A, B> Service<Request<A>> for MeasuredService<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (cluster, method, began) = (Arc::clone(&self.cluster), request.method().clone(), Instant::now());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            measure::tell(&Measure::Asked {
                cluster: &cluster,
                method: method.as_str(),
                status: answer.as_ref().ok().map(|answer| answer.status().as_u16()),
                took: began.elapsed(),
            });
            answer
        })
    }
}
