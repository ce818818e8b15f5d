import type { OpenAPIObject } from '@nestjs/swagger';

type WithoutRef<T> = Exclude<NonNullable<T>, { $ref: string }>;
type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
type ParameterObject = WithoutRef<NonNullable<OperationObject['parameters']>[number]>;
type RequestBodyObject = WithoutRef<OperationObject['requestBody']>;
export type ResponseObject = WithoutRef<OperationObject['responses'][string]>;
export type SchemaObject = WithoutRef<ParameterObject['schema']>;

/** An operation of OpenAPI 3.0. It has no references except those to named schemas. */
export interface Operation extends Pick<OperationObject, 'operationId' | 'summary' | 'description' | 'tags'> {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly ParameterObject[];
  /** The JSON body. */
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

export const SCHEMA_REF_PREFIX = '#/components/schemas/';

/** Translates an OpenAPI 3.1 document to 3.0. Resolves all references except those to schemas. */
export function toOpenApi30(document: object): Operations {
  const translate = (node: unknown, isParameter = false): unknown => {
    if (Array.isArray(node)) return node.map((each) => translate(each, isParameter));
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...own } = node as Node;
    if ($ref?.startsWith(SCHEMA_REF_PREFIX) === false)
      return translate({ ...resolve($ref, document), ...own });
    const { examples, ...rest } = node as Node;
    const parts = Object.entries(rest).map(([key, part]) => [
      key,
      translate(part, isParameter || 'in' in rest),
    ]);
    return {
      ...Object.fromEntries(parts),
      ...(examples !== undefined && translateExamples(examples, isParameter)),
    };
  };
  return translate(document) as Operations;
}

interface Node {
  readonly $ref?: string;
  /** An array in a schema. */
  readonly examples?: object | readonly unknown[];
}

/** Translates examples. API pages would send the `example` of a parameter as a filter. */
function translateExamples(examples: object, isParameter: boolean): object {
  if (!Array.isArray(examples)) return { examples };
  return isParameter ? { 'x-examples': examples } : { example: examples[0] as unknown };
}

/** Returns the part of a document that `#/components/headers/Link`, for example, refers to. */
function resolve(reference: string, document: object): object {
  const names = reference.split('/').slice(1);
  return names.reduce((node, name) => (node as Record<string, object>)[name]!, document);
}
