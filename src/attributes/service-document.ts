import { filterParameters, jsonSchemaOf, requiresAttributes, withAttributes } from './attributes-document.js';
import type { AttributesDefinition } from './schema-attribute-rules.js';

/** A reference, or another object. */
type Parameter = object & { readonly $ref?: string };

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: Parameter[] }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** A parameter of every operation that filters logs: the feed, which has no attributes, lacks it. */
const OF_FILTERS = '#/components/parameters/from';
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
  for (const { get } of Object.values(paths))
    if (get?.parameters?.some(({ $ref }) => $ref === OF_FILTERS)) get.parameters.push(...parameters);
  return JSON.stringify({ ...document, paths, components: { ...components, schemas } }, undefined, 2);
}

/** Removes the examples of new logs, which have no attributes. */
function withoutExamples(value: unknown): unknown {
  const { schema } = (value ?? {}) as { readonly schema?: { readonly $ref?: string } };
  return /[/]NewTimeLogs?$/.test(schema?.$ref ?? '') ? { schema } : value;
}
