import type { SchemaObject } from './open-api.js';

/**
 * A schema of OpenAPI 3.0 in terms of 3.1. Schemas with a title, at any depth, move to the named ones and leave a
 * reference. Throws where different schemas have one title.
 */
export function schema31(schema: SchemaObject, named: Record<string, object>): object {
  const { title, enum: values, minimum, exclusiveMinimum, example, ...rest } = schema as Typed;
  const { items, properties, allOf, oneOf, 'x-examples': examples, ...plain } = rest;
  const inside = (part: SchemaObject) => schema31(part, named);
  const whole = {
    ...plain,
    ...(values?.length === 1 ? { const: values[0] } : values && { enum: values }),
    ...(minimum !== undefined && { [exclusiveMinimum ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(example !== undefined ? { examples: [example] } : examples && { examples }),
    ...(items && { items: inside(items) }),
    ...(allOf && { allOf: allOf.map(inside) }),
    ...(oneOf && { oneOf: oneOf.map(inside) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inside(part)])),
    }),
  };
  if (title === undefined) return whole;
  if (JSON.stringify((named[title] ??= whole)) !== JSON.stringify(whole))
    throw new Error(`two schemas have the title ${title}: give one of them another`);
  return { $ref: `#/components/schemas/${title}` };
}

/** One of our schemas. Its type leaves nothing open. */
interface Typed extends Pick<SchemaObject, 'title' | 'minimum' | 'exclusiveMinimum'> {
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly items?: SchemaObject;
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly allOf?: readonly SchemaObject[];
  readonly oneOf?: readonly SchemaObject[];
  readonly 'x-examples'?: readonly unknown[];
}

/**
 * The schema of a parameter, with examples for readers and programs. What OpenAPI 3.0 calls an example would be filled
 * in by pages of documentation, as a filter that nobody asked for.
 */
export function withExamples(schema: SchemaObject, ...examples: readonly unknown[]): SchemaObject {
  return { ...schema, 'x-examples': examples } as SchemaObject;
}
