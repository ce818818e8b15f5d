import type { OpenAPIObject } from '@nestjs/swagger';

type Whole<T> = Exclude<NonNullable<T>, { $ref: string }>;

// The parts of a document of OpenAPI 3.0 (https://spec.openapis.org/oas/v3.0.4), by the types of @nestjs/swagger.

export type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
export type ParameterObject = Whole<NonNullable<OperationObject['parameters']>[number]>;
export type RequestBodyObject = Whole<OperationObject['requestBody']>;
export type ResponseObject = Whole<OperationObject['responses'][string]>;
/** What is answered, by status. */
export type Responses = Readonly<Record<number, ResponseObject>>;
type HeaderObject = Whole<NonNullable<ResponseObject['headers']>[string]>;
export type Headers = Readonly<Record<string, HeaderObject>>;
/** A `title` makes a schema a named one: our own document has it once, under that name. */
export type SchemaObject = Whole<ParameterObject['schema']>;
/** Under which a page of documentation shows operations together. */
export interface TagObject {
  readonly name: string;
  readonly description: string;
}
