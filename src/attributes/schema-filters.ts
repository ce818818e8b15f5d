import { ATTRIBUTE_NAME } from '../../libs/auth/src/index.js';
import { type AttributeFilters, type AttributeType, isPlainObject } from '../time-log/index.js';
import { schemasIn } from './json-schema.js';
import type { AttributesSchema } from './schema-attribute-rules.js';

const SCALARS: ReadonlySet<unknown> = new Set<AttributeType>(['string', 'number', 'integer', 'boolean']);

/** Returns the properties of a JSON Schema by which logs can be filtered: those of a type that a filter can have. */
export function filtersIn(jsonSchema: object): AttributeFilters {
  const { properties } = jsonSchema as { readonly properties?: object };
  const types = Object.entries(properties ?? {})
    .filter(([name]) => ATTRIBUTE_NAME.test(name))
    .map(([name, property]) => [name, typeOf(property, jsonSchema)] as const);
  return new Map(types.filter((entry): entry is [string, AttributeType] => entry[1] !== undefined));
}

/** Returns the filters of a host's schema, which may give no JSON Schema. */
export function hostFilters(schema: AttributesSchema): AttributeFilters {
  const { jsonSchema } = schema['~standard'];
  try {
    return filtersIn(jsonSchema?.output({ target: 'draft-2020-12' }) ?? {});
  } catch {
    // The library cannot convert this schema.
    return new Map();
  }
}

/** Returns the type of the values of a schema, without null; undefined if it is none or not only one. */
function typeOf(schema: unknown, root: object, followed: readonly string[] = []): AttributeType | undefined {
  if (!isPlainObject(schema)) return undefined;
  const { type, items, $ref } = schema as {
    readonly type?: unknown;
    readonly items?: unknown;
    readonly $ref?: string;
  };
  if (type === undefined) {
    if (typeof $ref !== 'string' || followed.includes($ref)) return undefined;
    return typeOf(referenced($ref, root), root, [...followed, $ref]);
  }
  const types = [type].flat().filter((one) => one !== 'null');
  if (types.length !== 1) return undefined;
  if (types[0] === 'array') return typeOf(items, root) === 'string' ? 'strings' : undefined;
  return SCALARS.has(types[0]) ? (types[0] as AttributeType) : undefined;
}

/** Returns the schema at a reference inside the root: a JSON pointer or an anchor. */
function referenced(reference: string, root: object): unknown {
  for (const [pointer, schema] of schemasIn(root))
    if (
      reference === `#${pointer}` ||
      (schema.$anchor !== undefined && reference === `#${schema.$anchor as string}`)
    )
      return schema;
  return undefined;
}
