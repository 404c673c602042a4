//! Types of API calls from the OpenAPI document, looked up by the literal path:
//! `/runs/${run}/tasks?limit=200` is `/runs/{run}/tasks`. Types only: no code is emitted.

import type { components, paths } from "./schema";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** An API schema, by its name in the OpenAPI document. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** A page of a list. */
export interface Page<Item> {
  items: Item[];
  next_cursor?: string | null;
}

type Parts<Path extends string> = Path extends `${infer Part}/${infer Rest}` ? [Part, ...Parts<Rest>] : [Path];
type WithoutQuery<Path extends string> = Path extends `${infer Before}?${string}` ? Before : Path;
/** The segments of every documented path. */
type Documented = { [Path in keyof paths]: Parts<Path> };

/** Whether a literal path matches a documented one: parameters match any text. */
type Fits<Written, Wanted> = Written extends [infer One, ...infer Ones]
  ? Wanted extends [infer Other, ...infer Others]
    ? Other extends `{${string}}` ? Fits<Ones, Others> : One extends Other ? Fits<Ones, Others> : false
    : false
  : Wanted extends [] ? true : false;

type Endpoint<Path extends string> = {
  [One in keyof Documented]: Fits<Parts<WithoutQuery<Path>>, Documented[One]> extends true ? One : never;
}[keyof Documented];

type Operation<M extends Method, Path extends string> = Endpoint<Path> extends infer One extends keyof paths ? paths[One][Lowercase<M> & keyof paths[One]] : never;

/** Whether a path is only known at run time. */
type Open<Path extends string> = string extends WithoutQuery<Path> ? true : WithoutQuery<Path> extends `/${string}` ? (Path extends `/${infer Rest}` ? (string extends Rest ? true : false) : true) : true;

/** The path, if it is documented with this method. */
export type Known<M extends Method, Path extends string> = Open<Path> extends true ? Path : [Operation<M, Path>] extends [undefined] ? never : Path;

type Json<Holder> = Holder extends { content: { "application/json": infer Value } } ? Value : never;
type Archive<Holder> = Holder extends { content: { "application/gzip": unknown } } ? Blob : never;
type Form<Holder> = Holder extends { content: { "multipart/form-data": unknown } } ? FormData : never;
type Good = 200 | 201 | 202;

/** The response type. */
export type Answered<M extends Method, Path extends string> = Open<Path> extends true ? unknown : Operation<M, Path> extends { responses: infer Responses } ? Json<Responses[Good & keyof Responses]> : never;

/** The request body type. */
export type Body<M extends Method, Path extends string> = Open<Path> extends true ? unknown : Operation<M, Path> extends { requestBody?: infer Sent } ? Json<NonNullable<Sent>> | Archive<NonNullable<Sent>> | Form<NonNullable<Sent>> : undefined;
