import { filterParameters, jsonSchemaOf, requiresAttributes, withAttributes } from './attributes-document.js';
import type { AttributesDefinition } from './schema-attributes.js';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: object[] }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const FILTERED = ['/api/v1/time-logs', '/api/v1/time-logs/totals', '/api/v1/time-logs/export'];
/** The path of the schema of attributes in the document, to which the references in it are relative. */
const ATTRIBUTES = '#/components/schemas/Attributes';

/** Adds attributes and their filters to the OpenAPI document. */
export function describeAttributes(text: string, definition: AttributesDefinition): string {
  const { schema, filters } = definition;
  const isRequired = requiresAttributes(schema) === true;
  const { paths, components, ...document } = JSON.parse(text, (_name, value: unknown) =>
    isRequired ? withoutExamples(value) : value,
  ) as Document;
  const description =
    'Values to which a token is bound are added if they are missing. A `PUT` without attributes keeps the stored ones.';
  const attributes = { $ref: ATTRIBUTES, description };
  // Generators of clients reject a type that is a list.
  const patch = {
    type: 'object',
    description: 'The members to change; `null` removes one, or all attributes.',
  };
  const attributesIn = { input: attributes, output: attributes, patch };
  const schemas: Record<string, object> = withAttributes(components.schemas, attributesIn, isRequired);
  schemas.Attributes = JSON.parse(JSON.stringify(jsonSchemaOf(schema)), (name, value: unknown) => {
    if (name === '$schema' || name === '$id') return undefined;
    // A property may have this name, too. The name of an anchor belongs to the whole document.
    return name === '$ref' && typeof value === 'string' ? value.replace(/^#(?=\/|$)/, ATTRIBUTES) : value;
  }) as object;
  const parameters = filterParameters(filters);
  const filtered = FILTERED.map((path) => {
    const { get, ...operations } = paths[path]!;
    return [
      path,
      { ...operations, get: { ...get, parameters: [...(get?.parameters ?? []), ...parameters] } },
    ];
  });
  const all = { ...paths, ...(Object.fromEntries(filtered) as object) };
  return JSON.stringify({ ...document, paths: all, components: { ...components, schemas } }, undefined, 2);
}

/** Removes the examples of new logs, which have no attributes. */
function withoutExamples(value: unknown): unknown {
  const { schema } = (value ?? {}) as { readonly schema?: { readonly $ref?: string } };
  return /[/]NewTimeLogs?$/.test(schema?.$ref ?? '') ? { schema } : value;
}
