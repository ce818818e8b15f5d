import { MAX_ATTRIBUTE_LENGTH } from '../../libs/auth/src/index.js';
import type { AttributeFilters } from '../time-log/index.js';
import type { AttributesSchema } from './schema-attribute-rules.js';

type Direction = 'input' | 'output';

/** The named schemas that have attributes: in requests, in responses, and in part. */
const WITH_ATTRIBUTES: Readonly<Record<string, Direction | 'correction' | 'patch'>> = {
  NewTimeLog: 'input',
  // Without attributes it keeps those that are stored.
  TimeLogCorrection: 'correction',
  TimeLog: 'output',
  RecordedTimeLog: 'output',
  TimeLogPatch: 'patch',
};

/** The schemas of attributes. A patch has a part of them, which alone need not match the schema. */
type AttributesIn = Readonly<Record<Direction | 'patch', object>>;

interface LogSchema {
  readonly properties?: object;
  readonly required?: readonly string[];
}

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

/** Adds attributes to the named schemas of logs. */
export function withAttributes<Some extends object>(
  schemas: Some,
  attributesIn: AttributesIn,
  isRequired = false,
): Some {
  const changed = Object.entries(WITH_ATTRIBUTES).map(([name, kind]) => {
    const log = (schemas as Readonly<Record<string, LogSchema>>)[name]!;
    const properties = {
      ...log.properties,
      attributes: attributesIn[kind === 'correction' ? 'input' : kind],
    };
    const required = isRequired && kind === 'input' && [...(log.required ?? []), 'attributes'];
    return [name, { ...log, properties, ...(required && { required }) }];
  });
  return { ...schemas, ...(Object.fromEntries(changed) as object) };
}

/** Returns the query parameters of filters. */
export function filterParameters(filters: AttributeFilters) {
  return [...filters].map(([name, type]) => ({
    name: `attributes.${name}`,
    in: 'query',
    required: false,
    description: `Only logs whose attribute \`${name}\` ${type === 'strings' ? 'contains this text' : 'equals this value'}. At most 3 attributes at once. The cost grows with the number of logs that match.`,
    schema:
      type === 'string' || type === 'strings'
        ? { type: 'string', maxLength: MAX_ATTRIBUTE_LENGTH }
        : { type },
  }));
}

/** Returns the JSON Schema (2020-12) of attributes as they are sent, or that of any object if the library has none. */
export function jsonSchemaOf(schema: AttributesSchema): object {
  try {
    return schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? ANY_OBJECT;
  } catch {
    // The library cannot convert this schema.
    return ANY_OBJECT;
  }
}

const ANY_OBJECT = { type: 'object' };
