import type { SchemaObject, Schemas } from '../../../open-api/src/index.js';
import type { AttributesSchema } from './schema-attributes.js';

type Direction = 'input' | 'output';

/** The named schemas that have attributes, in requests and in responses. */
const WITH_ATTRIBUTES: Readonly<Record<string, Direction>> = {
  NewTimeLog: 'input',
  TimeLog: 'output',
  RecordedTimeLog: 'output',
};

/** Adds the schema of attributes to the schemas of logs. */
export function withAttributesSchema(schemas: Schemas, schema: AttributesSchema): Schemas {
  const changed = Object.entries(WITH_ATTRIBUTES).map(([name, direction]) => {
    const { properties, ...log } = schemas[name]!;
    return [name, { ...log, properties: { ...properties, attributes: jsonSchemaOf(schema, direction) } }];
  });
  return { ...schemas, ...(Object.fromEntries(changed) as Schemas) };
}

function jsonSchemaOf(schema: AttributesSchema, direction: Direction): SchemaObject {
  const any: SchemaObject = { type: 'object', additionalProperties: true };
  try {
    const jsonSchema = schema['~standard'].jsonSchema?.[direction]({ target: 'openapi-3.0' });
    // A reference would point into another document.
    if (jsonSchema === undefined || JSON.stringify(jsonSchema).includes('"$ref"')) return any;
    return withoutTitles(jsonSchema);
  } catch {
    // The library cannot convert this schema.
    return any;
  }
}

/** Copies a schema without titles, which name schemas in our documents and could collide. */
function withoutTitles(jsonSchema: object): SchemaObject {
  return JSON.parse(JSON.stringify(jsonSchema), (name, value: unknown) =>
    name === '$schema' || (name === 'title' && typeof value === 'string') ? undefined : value,
  ) as SchemaObject;
}
