import { MAX_ATTRIBUTE_LENGTH } from '../../auth/src/index.js';
import type { SchemaObject, Schemas } from '../../open-api/src/index.js';
import type { AttributeFilters } from './attribute-filters.js';
import type { AttributesSchema } from './schema-attributes.js';

type Direction = 'input' | 'output';

/** The named schemas that have attributes, in requests and in responses. */
const WITH_ATTRIBUTES: Readonly<Record<string, Direction>> = {
  NewTimeLog: 'input',
  TimeLog: 'output',
  RecordedTimeLog: 'output',
};

/** Returns whether a log must have attributes; undefined if the schema does not answer at once. */
export function requiresAttributes(schema: AttributesSchema): boolean | undefined {
  try {
    const result = schema['~standard'].validate(undefined);
    if (!('then' in result)) return result.issues !== undefined;
    result.catch(() => undefined);
  } catch {
    // The schema itself fails, which requests report.
  }
  return undefined;
}

/** Adds the schema of attributes to the schemas of logs. Hosts may lack the types of OpenAPI. */
export function withAttributesSchema<Some extends object>(
  named: Some,
  schema: AttributesSchema,
  isRequired = false,
): Some {
  const schemas = named as unknown as Schemas;
  const withAttributes = (name: string, attributes: SchemaObject): SchemaObject => {
    const { properties, ...log } = schemas[name]!;
    return { ...log, properties: { ...properties, attributes } };
  };
  const changed = Object.entries(WITH_ATTRIBUTES).map(([name, direction]) => [
    name,
    withAttributes(name, jsonSchemaOf(schema, direction)),
  ]);
  // A patch has a part of the attributes, which alone need not match their schema.
  const TimeLogPatch = withAttributes('TimeLogPatch', { ...ANY_OBJECT, nullable: true });
  const described: Schemas = { ...schemas, ...(Object.fromEntries(changed) as Schemas), TimeLogPatch };
  if (!isRequired) return described as unknown as Some;
  const { required = [], ...log } = described.NewTimeLog!;
  return { ...described, NewTimeLog: { ...log, required: [...required, 'attributes'] } } as unknown as Some;
}

/** Returns the query parameters of filters. */
export function filterParameters(filters: AttributeFilters) {
  return [...filters].map(([name, type]) => ({
    name: `attributes.${name}`,
    in: 'query',
    required: false,
    description: `Only logs whose attribute \`${name}\` equals this value. At most 3 attributes at once. The cost grows with the number of logs that match.`,
    schema: type === 'string' ? { type, minLength: 1, maxLength: MAX_ATTRIBUTE_LENGTH } : { type },
  }));
}

const ANY_OBJECT: SchemaObject = { type: 'object', additionalProperties: true };

function jsonSchemaOf(schema: AttributesSchema, direction: Direction): SchemaObject {
  try {
    const jsonSchema = schema['~standard'].jsonSchema?.[direction]({ target: 'openapi-3.0' });
    // A reference would point into another document.
    if (jsonSchema === undefined || JSON.stringify(jsonSchema).includes('"$ref"')) return ANY_OBJECT;
    return withoutTitles(jsonSchema);
  } catch {
    // The library cannot convert this schema.
    return ANY_OBJECT;
  }
}

/** Copies a schema without titles, which name schemas in our documents and could collide. */
function withoutTitles(jsonSchema: object): SchemaObject {
  return JSON.parse(JSON.stringify(jsonSchema), (name, value: unknown) =>
    name === '$schema' || (name === 'title' && typeof value === 'string') ? undefined : value,
  ) as SchemaObject;
}
