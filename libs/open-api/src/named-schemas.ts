import type { Type } from '@nestjs/common';

const SCHEMAS = '#/components/schemas/';

/**
 * A part of a document with references in the place of schemas that have a title, at any depth. The models, by title,
 * are classes of which @nestjs/swagger makes these schemas, whatever these are.
 */
export function withReferences<Part>(part: Part, models: Map<string, Type>): Part {
  return mapped(part, (node) => {
    const { title, ...schema } = node as { readonly title?: unknown };
    if (typeof title !== 'string') return node;
    if (!models.has(title)) models.set(title, modelOf(title, schema));
    return { $ref: SCHEMAS + title };
  }) as Part;
}

/** A part of a document with the named schemas in the place of references to them, under their titles. */
export function withTitles<Part>(part: Part, schemas: Readonly<Record<string, object>>): Part {
  return mapped(part, (node) => {
    const { $ref } = node as { readonly $ref?: unknown };
    if (typeof $ref !== 'string' || !$ref.startsWith(SCHEMAS)) return node;
    const title = $ref.slice(SCHEMAS.length);
    return { title, ...withTitles(schemas[title]!, schemas) };
  }) as Part;
}

/** A model has no member of its own: its schema says all. What it takes for granted of a class is undone. */
function modelOf(name: string, schema: object): Type {
  const model = { [name]: class {} }[name]!;
  Reflect.defineMetadata(
    'swagger/apiSchema',
    [{ name, type: undefined, properties: undefined, ...schema }],
    model,
  );
  return model;
}

/** Examples are values, whatever they look like. */
function mapped(part: unknown, change: (node: object) => object): unknown {
  if (Array.isArray(part)) return part.map((each) => mapped(each, change));
  if (typeof part !== 'object' || part === null) return part;
  const whole = Object.entries(part).map(([key, value]: [string, unknown]) => [
    key,
    key === 'examples' ? value : mapped(value, change),
  ]);
  return change(Object.fromEntries(whole) as object);
}
