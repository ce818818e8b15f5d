/** What the document uses of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1), so that the compiler knows its form. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly SecurityRequirement[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, BearerScheme>>;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/** A scheme with the scopes that it takes; none at all: the operation is open. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

interface BearerScheme {
  readonly type: 'http';
  readonly scheme: 'bearer';
  readonly description: string;
}

/** The operations of a path, by method. */
export type PathItem = Readonly<Partial<Record<'get' | 'post', Operation>>>;

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly SecurityRequirement[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: true; readonly description: string; readonly content: Content };
  readonly responses: Responses;
}

/** By status. */
export type Responses = Readonly<Record<string, Response | Reference>>;

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Header | Reference>>;
  readonly content: Content;
}

/** By media type; JSON and text are always in UTF-8. */
type Content = Readonly<
  Record<string, { readonly schema: Schema; readonly examples: Readonly<Record<string, Example>> }>
>;

interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Reference {
  readonly $ref: string;
}

/** JSON Schema 2020-12. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean';
  readonly description?: string;
  readonly format?: 'uuid' | 'date' | 'date-time';
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly allOf?: readonly Schema[];
}
