import type { Operation, SchemaObject } from '../../../libs/open-api/src/index.js';
import type { AttributesSchema } from '../domain/attributes.js';

type Direction = 'input' | 'output';

/** The titles of schemas that have attributes: of what is sent, and of what is answered. */
const WITH_ATTRIBUTES: Readonly<Record<string, Direction>> = {
  NewTimeLog: 'input',
  TimeLog: 'output',
  RecordedTimeLog: 'output',
};

/** An operation whose logs have attributes of this form. */
export function withAttributesForm(operation: Operation, schema: AttributesSchema): Operation {
  const forms = { input: formOf(schema, 'input'), output: formOf(schema, 'output') };
  return JSON.parse(JSON.stringify(operation), (_name, part: SchemaObject | null) => {
    if (typeof part?.title !== 'string') return part;
    const direction = WITH_ATTRIBUTES[part.title];
    if (direction === undefined) return part;
    return { ...part, properties: { ...part.properties, attributes: forms[direction] } };
  }) as Operation;
}

/** What the schema tells of its form, in the words of OpenAPI 3.0; else any object. */
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
