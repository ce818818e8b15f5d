import { type AttributesDefinition, describeAttributes } from '../attributes/index.js';
import { DOCUMENT_TEXT } from './document.js';

/** The parts of an OpenAPI document (3.1) that describe time logs. */
export interface OpenApiPaths {
  readonly paths: Readonly<Record<string, object>>;
  /** The named schemas to which the paths refer. */
  readonly schemas: Readonly<Record<string, object>>;
}

/** The parts of our document that this file reads. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const OUR_PREFIX = '/api/v1';
const SCHEMAS = '#/components/schemas/';

/** Returns the paths of these operations below a prefix, without references except to schemas. */
export function openApiPaths(
  prefix: string,
  operationIds: readonly string[],
  attributes: AttributesDefinition | undefined,
): OpenApiPaths {
  const text = attributes ? describeAttributes(DOCUMENT_TEXT, attributes) : DOCUMENT_TEXT;
  const document = JSON.parse(text) as Document;
  const paths = Object.entries(document.paths).flatMap(([path, operations]) => {
    const enabled = Object.entries(operations).filter(([, { operationId }]) =>
      operationIds.includes(operationId),
    );
    if (enabled.length === 0) return [];
    return [[prefix + path.slice(OUR_PREFIX.length), resolved(Object.fromEntries(enabled), document)]];
  });
  return {
    paths: Object.fromEntries(paths) as OpenApiPaths['paths'],
    schemas: document.components.schemas,
  };
}

/** Replaces the references to parameters, headers and responses. */
function resolved(part: unknown, document: Document): unknown {
  return JSON.parse(JSON.stringify(part), (_name, value: { readonly $ref?: string } | null) => {
    const { $ref, ...own } = value ?? {};
    if (typeof $ref !== 'string' || $ref.startsWith(SCHEMAS)) return value;
    const keys = $ref.slice('#/'.length).split('/');
    const target = keys.reduce<unknown>((node, key) => Reflect.get(node as object, key), document);
    return resolved({ ...(target as object), ...own }, document);
  });
}
