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
  return withForms(operation, {
    input: formOf(schema, 'input'),
    output: formOf(schema, 'output'),
  }) as Operation;
}

function withForms(part: unknown, forms: Readonly<Record<Direction, SchemaObject>>): unknown {
  if (Array.isArray(part)) return part.map((one) => withForms(one, forms));
  if (typeof part !== 'object' || part === null) return part;
  const copy = Object.fromEntries(Object.entries(part).map(([name, one]) => [name, withForms(one, forms)]));
  const direction = typeof copy.title === 'string' ? WITH_ATTRIBUTES[copy.title] : undefined;
  if (direction === undefined) return copy;
  return { ...copy, properties: { ...(copy.properties as object), attributes: forms[direction] } };
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
