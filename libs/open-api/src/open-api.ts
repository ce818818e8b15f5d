import type { OpenAPIObject } from '@nestjs/swagger';

type Whole<T> = Exclude<NonNullable<T>, { $ref: string }>;

// Parts of an OpenAPI 3.0 document (https://spec.openapis.org/oas/v3.0.4), with the types of @nestjs/swagger.

export type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
export type ParameterObject = Whole<NonNullable<OperationObject['parameters']>[number]>;
export type RequestBodyObject = Whole<OperationObject['requestBody']>;
export type ResponseObject = Whole<OperationObject['responses'][string]>;
/** The answers, by status. */
export type Responses = Readonly<Record<number, ResponseObject>>;
type HeaderObject = Whole<NonNullable<ResponseObject['headers']>[string]>;
export type Headers = Readonly<Record<string, HeaderObject>>;
/** A schema with a `title` is a named one: our own document holds it once, under that name. */
export type SchemaObject = Whole<ParameterObject['schema']>;
/** A group of operations on a page of documentation. */
export interface TagObject {
  readonly name: string;
  readonly description: string;
}
