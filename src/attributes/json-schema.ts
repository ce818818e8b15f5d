import type { FuncKeywordDefinition } from 'ajv';
import type * as AjvModule from 'ajv/dist/2020.js';
import { isPlainObject } from '../time-log/index.js';
import { isMultipleOf } from './decimal.js';

type Ajv = AjvModule.Ajv2020;
type SchemaObject = Readonly<Record<string, unknown>>;

/** The keywords of JSON Schema 2020-12 that hold one schema, a list of schemas, or schemas by name. */
const ONE = [
  ...['additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'propertyNames'],
  ...['then', 'unevaluatedItems', 'unevaluatedProperties'],
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
/** `definitions` and `dependencies` are of earlier versions, and the metaschema still has them. */
const MAPS = [
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'],
];
const KEYWORDS = new Set([
  ...ONE,
  ...LISTS,
  ...MAPS,
  ...['$anchor', '$comment', '$dynamicAnchor', '$dynamicRef', '$id', '$ref', '$schema', '$vocabulary'],
  ...['const', 'contentEncoding', 'contentMediaType', 'default', 'dependentRequired', 'deprecated'],
  ...['description', 'enum', 'examples', 'exclusiveMaximum', 'exclusiveMinimum', 'format', 'maxContains'],
  ...['maxItems', 'maxLength', 'maxProperties', 'maximum', 'minContains', 'minItems', 'minLength'],
  ...['minProperties', 'minimum', 'multipleOf', 'pattern', 'readOnly', 'required', 'title', 'type'],
  ...['uniqueItems', 'writeOnly'],
]);

/** Returns each schema in a valid schema, with its place as a JSON pointer in a URI fragment. */
export function* schemasIn(
  schema: unknown,
  pointer = '',
): Generator<[pointer: string, schema: SchemaObject]> {
  if (!isPlainObject(schema)) return;
  yield [pointer, schema];
  for (const [keyword, value] of Object.entries(schema)) {
    const place = `${pointer}/${keyword}`;
    if (ONE.includes(keyword)) yield* schemasIn(value, place);
    if (!LISTS.includes(keyword) && !MAPS.includes(keyword)) continue;
    for (const [name, member] of Object.entries(value as object))
      yield* schemasIn(
        member,
        `${place}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
      );
  }
}

/** Throws an Error if a schema has a keyword that is neither of JSON Schema 2020-12 nor one of `more`. */
export function requireKeywords(schema: object, more: readonly string[]): void {
  for (const [pointer, part] of schemasIn(schema)) {
    const unknown = Object.keys(part).find((keyword) => !KEYWORDS.has(keyword) && !more.includes(keyword));
    if (unknown !== undefined) throw new Error(`unknown keyword: "${unknown}" at #${pointer}`);
  }
}

/** Throws an Error for a format that ajv does not know, which it would ignore. */
export function requireFormats(schema: object, { formats }: Ajv): void {
  for (const [pointer, { format }] of schemasIn(schema))
    if (format !== undefined && formats[format as string] === undefined)
      throw new Error(`unknown format "${format as string}" at #${pointer}`);
}

/**
 * Replaces the keywords of ajv 8.20 that compare values: its multipleOf divides as doubles (0.3 is no multiple of 0.1),
 * and the others call a member `valueOf` or `toString` of an object that was sent.
 */
export function addExactKeywords(ajv: Ajv, { _ }: typeof AjvModule): void {
  const add = (definition: FuncKeywordDefinition & { readonly keyword: string }) => {
    ajv.removeKeyword(definition.keyword);
    ajv.addKeyword({ ...definition, errors: false });
  };
  add({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: 'must be a multiple', params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}` },
    compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor),
  });
  add({
    keyword: 'const',
    error: { message: 'must be equal', params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}` },
    compile: (allowed: unknown) => (value: unknown) => canonical(value) === canonical(allowed),
  });
  add({
    keyword: 'enum',
    schemaType: 'array',
    error: { message: 'must be equal to one', params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}` },
    compile: (allowed: readonly unknown[]) => {
      const texts = new Set(allowed.map(canonical));
      return (value: unknown) => texts.has(canonical(value));
    },
  });
  add({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have equal items' },
    compile: (isRequired: boolean) => (items: readonly unknown[]) =>
      !isRequired || new Set(items.map(canonical)).size === items.length,
  });
}

/** Returns a text that two values have in common only if they are equal as JSON. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    isPlainObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
