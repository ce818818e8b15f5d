import type { AttributeType } from '../../../src/time-log/index.js';
import { type AttributeFilters, filtersOf } from './attribute-filters.js';
import type { AttributesSchema } from './schema-attributes.js';

/** The attributes that a host names: an array, or an object with their types. */
export type FilterNames = readonly string[] | Readonly<Record<string, AttributeType>>;

/** Returns the filters that a host names. Throws a one-line Error that says what to do. */
export function hostFilters(schema: AttributesSchema, filters: FilterNames = []): AttributeFilters {
  if (!isNames(filters)) return filtersOf(Object.entries(filters));
  const properties = propertiesOf(schema);
  const unknown = filters.find((name) => typeof properties[name]?.type !== 'string');
  if (unknown !== undefined)
    throw new Error(
      `the schema of attributes has no type for the filter ${unknown}: write filters: { ${unknown}: 'string' }, or the type that its values have`,
    );
  return filtersOf(filters.map((name) => [name, properties[name]!.type]));
}

function isNames(filters: FilterNames): filters is readonly string[] {
  return Array.isArray(filters);
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
}

/** Returns the properties of stored attributes; none if the schema cannot be converted. */
function propertiesOf(schema: AttributesSchema): NonNullable<JsonSchema['properties']> {
  try {
    const output = schema['~standard'].jsonSchema?.output({ target: 'draft-2020-12' });
    return (output as JsonSchema | undefined)?.properties ?? {};
  } catch {
    return {};
  }
}
