import type { OpenAPIObject } from '@nestjs/swagger';

type Whole<T> = Exclude<NonNullable<T>, { $ref: string }>;
type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
type ParameterObject = Whole<NonNullable<OperationObject['parameters']>[number]>;
type RequestBodyObject = Whole<OperationObject['requestBody']>;
export type ResponseObject = Whole<OperationObject['responses'][string]>;
export type SchemaObject = Whole<ParameterObject['schema']>;

/** An operation of OpenAPI 3.0 (https://spec.openapis.org/oas/v3.0.4). Its only references are to named schemas. */
export interface Operation extends Pick<OperationObject, 'operationId' | 'summary' | 'description' | 'tags'> {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly ParameterObject[];
  /** JSON. */
  readonly requestBody?: RequestBodyObject;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The named schemas of a document. */
export type Schemas = Readonly<Record<string, SchemaObject>>;

/** The parts of a document that describe operations, by path and method. */
export interface Operations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}

export const SCHEMAS = '#/components/schemas/';

/** Translates a document of OpenAPI 3.1 to 3.0. All named parts but schemas replace the references to them. */
export function openApi30(document: object): Operations {
  const translate = (node: unknown, isParameter = false): unknown => {
    if (Array.isArray(node)) return node.map((each) => translate(each, isParameter));
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...own } = node as Node;
    if ($ref?.startsWith(SCHEMAS) === false) return translate({ ...partAt($ref, document), ...own });
    const { const: only, exclusiveMinimum: bound, examples, ...rest } = node as Node;
    const parts = Object.entries(rest).map(([key, part]) => [
      key,
      translate(part, isParameter || 'in' in rest),
    ]);
    return {
      ...Object.fromEntries(parts),
      ...(only !== undefined && { enum: [only] }),
      ...(bound !== undefined && { minimum: bound, exclusiveMinimum: true }),
      ...(examples !== undefined && examplesOf30(examples, isParameter)),
    };
  };
  return translate(document) as Operations;
}

interface Node {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly exclusiveMinimum?: number;
  /** An array in a schema. */
  readonly examples?: object | readonly unknown[];
}

/** A page of documentation fills in the `example` of a parameter, as a filter that the reader did not ask for. */
function examplesOf30(examples: object, isParameter: boolean): object {
  if (!Array.isArray(examples)) return { examples };
  return isParameter ? { 'x-examples': examples } : { example: examples[0] as unknown };
}

/** Returns the part of a document that a reference such as `#/components/headers/Link` points to. */
function partAt(reference: string, document: object): object {
  const names = reference.split('/').slice(1);
  return names.reduce((node, name) => (node as Record<string, object>)[name]!, document);
}
