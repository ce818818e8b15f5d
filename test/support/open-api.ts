import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The document that the service serves. */
export const DOCUMENT_TEXT = readFileSync(
  join(import.meta.dirname, '..', '..', 'src', 'api-docs', 'openapi.json'),
  'utf8',
);

// The parts of a document of OpenAPI 3.1 that the tests read (https://spec.openapis.org/oas/v3.1.1).

export interface OpenApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly security: readonly object[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<string, Operation>>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly security?: readonly object[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly description: string; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Header | Reference>>;
  /** Without it there is no body. */
  readonly content?: Content;
}

export type Content = Readonly<
  Record<string, { readonly schema: Schema; readonly examples: Readonly<Record<string, Example>> }>
>;

interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly schema: Schema;
}

interface Header {
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Reference {
  readonly $ref: string;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: object;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

/**
 * The path of a document that a request target means, as the service takes it: any case, with or without a trailing
 * slash, with any number of leading ones.
 */
export function pathOf(target: string, paths: readonly string[]): string | undefined {
  const origin = target.replace(/^https?:\/\/[^/?]*/, '');
  const path = origin
    .split('?')[0]!
    .replace(/^\/+/, '/')
    .replace(/(?<=.)\/$/, '');
  // One that is written out comes before one that a parameter matches too.
  return paths
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .find((template) => new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`, 'i').test(path));
}

/** A document in which the parts that it refers to replace the references; members next to a reference win. */
export function dereferenced<T extends object>(document: T): T {
  const whole = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map(whole);
    if ('$ref' in node) {
      const { $ref, ...own } = node as Reference;
      return { ...(whole(at(document, $ref)) as object), ...own };
    }
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, whole(value)]));
  };
  return whole(document) as T;
}

/** Returns the value of `#/a/b` in a document. */
function at(document: object, reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
}
