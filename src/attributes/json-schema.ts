import { isPlainObject } from '../time-log/index.js';

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
