import type { SchemaObject, Schemas } from '../../../libs/open-api/src/index.js';
import type { AttributesSchema } from '../domain/attributes.js';

type Direction = 'input' | 'output';

/** The named schemas that have attributes, in requests and in answers. */
const WITH_ATTRIBUTES: Readonly<Record<string, Direction>> = {
  NewTimeLog: 'input',
  TimeLog: 'output',
  RecordedTimeLog: 'output',
};

/** Adds attributes of this form to the schemas of logs. */
export function withAttributesForm(schemas: Schemas, schema: AttributesSchema): Schemas {
  const changed = Object.entries(WITH_ATTRIBUTES).map(([name, direction]) => {
    const { properties, ...log } = schemas[name]!;
    return [name, { ...log, properties: { ...properties, attributes: formOf(schema, direction) } }];
  });
  return { ...schemas, ...(Object.fromEntries(changed) as Schemas) };
}
function formOf(schema: AttributesSchema, direction: Direction): SchemaObject {
  const any: SchemaObject = { type: 'object', additionalProperties: true };
  try {
    const form = schema['~standard'].jsonSchema?.[direction]({ target: 'openapi-3.0' });
    // A reference leads into a document that is not there.
    if (form === undefined || JSON.stringify(form).includes('"$ref"')) return any;
    return plain(form);
  } catch {
    // It has no such form, or not in these words.
    return any;
  }
}

/** Without titles: in our documents these name schemas, and one of the host's could be that of another. */
function plain(form: object): SchemaObject {
  return JSON.parse(JSON.stringify(form), (name, value: unknown) =>
    name === '$schema' || (name === 'title' && typeof value === 'string') ? undefined : value,
  ) as SchemaObject;
}
