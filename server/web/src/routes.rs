//! Routes with handlers of one type. Axum's code around a handler is compiled once per handler type. Each
//! time, the compiler proves that the handler's future is `Send`, through everything that it awaits. With
//! about 300 handlers, this took a third of this crate's build time.

use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::MethodRouter;
use futures::future::BoxFuture;
use utoipa::__dev::{SchemaReferences, Tags};
use utoipa_axum::PathItemExt;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::state::Web;

type Future = BoxFuture<'static, Response>;

/// A type-erased handler.
#[derive(Clone)]
pub(crate) struct AnyHandler(Arc<dyn Fn(Request, Web) -> Future + Send + Sync>);

impl AnyHandler {
    pub(crate) fn new<T, H: Handler<T, Web, Future = Future>>(handler: H) -> Self {
        Self(Arc::new(move |request, web| handler.clone().call(request, web)))
    }
}

impl Handler<(), Web> for AnyHandler {
    type Future = Future;

    fn call(self, request: Request, web: Web) -> Future {
        (self.0)(request, web)
    }
}

/// As [`axum::routing::get`].
pub(crate) fn get<T, H: Handler<T, Web, Future = Future>>(handler: H) -> MethodRouter<Web> {
    axum::routing::get(AnyHandler::new(handler))
}

/// As [`axum::routing::post`].
pub(crate) fn post<T, H: Handler<T, Web, Future = Future>>(handler: H) -> MethodRouter<Web> {
    axum::routing::post(AnyHandler::new(handler))
}

/// Adds the handler documented by `D`, which `#[utoipa::path]` generates.
pub(crate) fn add<D>(routes: &mut UtoipaMethodRouter<Web>, handler: AnyHandler)
where
    D: utoipa::Path + SchemaReferences + for<'t> Tags<'t>,
{
    let (schemas, paths, router) = routes;
    let mut operation = D::operation();
    let tags = D::tags();
    if !tags.is_empty() {
        operation.tags.get_or_insert_default().extend(tags.into_iter().map(ToOwned::to_owned));
    }
    D::schemas(schemas);
    for method in D::methods() {
        *router = std::mem::take(router).on(method.to_method_filter(), handler.clone());
    }
    paths.add_path_operation(D::path(), D::methods(), operation);
}

/// Like [`utoipa_axum::routes`], for functions named `function` or `module::function`. It relies on that
/// macro's naming: `#[utoipa::path]` generates a type `__path_function` beside the function.
macro_rules! routes {
    ($($name:ident $(:: $function:ident)?),+ $(,)?) => {{
        let mut routes = utoipa_axum::router::UtoipaMethodRouter::default();
        $($crate::routes::routes!(@add routes, $name $(:: $function)?);)+
        routes
    }};
    (@add $routes:ident, $function:ident) => {
        utoipa_axum::paste! {
            $crate::routes::add::<[<__path_ $function>]>(&mut $routes, $crate::routes::AnyHandler::new($function))
        }
    };
    (@add $routes:ident, $module:ident :: $function:ident) => {
        utoipa_axum::paste! {
            $crate::routes::add::<$module::[<__path_ $function>]>(
                &mut $routes,
                $crate::routes::AnyHandler::new($module::$function),
            )
        }
    };
}

pub(crate) use routes;
