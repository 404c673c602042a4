//! Routes whose handlers have one type. What axum puts around a handler is compiled once for each type of handler, and each
//! time the compiler proves again, through everything that the handler awaits, that its future is `Send`: with some 300
//! handlers that was a third of the time that this crate takes to build.

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

/// A handler of any type.
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

/// Adds the handler that `D`, made by `#[utoipa::path]`, documents.
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

/// As [`utoipa_axum::routes`], of functions that are named as `function` or `module::function`. It relies on what that macro does:
/// `#[utoipa::path]` puts a type `__path_function` beside the function.
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
