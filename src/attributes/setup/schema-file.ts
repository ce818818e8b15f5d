import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { readTextFile } from '../../../libs/strict-url/src/index.js';
import { type AttributeType, isPlainObject } from '../../time-log/index.js';
import { ruleOfType } from '../attribute-filters.js';
import type { SchemaIssue } from '../attribute-issues.js';
import { jsonFault } from '../json.js';
import { requireKeywords, schemasIn } from '../json-schema.js';
import { type AttributesDefinition, type AttributesSchema, OWN_VENDOR } from '../schema-attribute-rules.js';
import { filtersIn } from '../schema-filters.js';
import { addExactKeywords } from './exact-keywords.js';

/** A keyword of 0.3, which has no effect. */
const FILTER = 'x-filter';

/** Reads a file with a JSON Schema (2020-12) for an object. Throws a one-line Error that says what to do. */
export function readSchemaFile(path: string): AttributesDefinition {
  try {
    return definitionOf(JSON.parse(readTextFile(path)));
  } catch (error) {
    const reason = (error as Error).message.replace(/\s+/g, ' ');
    const advice = 'ATTRIBUTES_SCHEMA must name a file with a JSON Schema (2020-12) for an object';
    throw new Error(`${path} cannot be the schema of attributes: ${reason}. ${advice}`, { cause: error });
  }
}

/** The name under which ajv holds the schema. */
const ROOT = 'attributes';

function definitionOf(json: unknown): AttributesDefinition {
  const jsonSchema = Object(json) as { readonly type?: unknown };
  if (jsonSchema.type !== 'object') throw new Error('it lacks "type": "object"');
  const ajv = new Ajv2020({
    // Its strict mode refuses valid schemas, such as `required` without `properties`.
    strict: false,
    logger: false,
    allErrors: true,
    useDefaults: true,
    ownProperties: true,
  });
  formats.default(ajv);
  addExactKeywords(ajv);
  ajv.addKeyword(FILTER);
  ajv.addSchema(jsonSchema, ROOT);
  requireKeywords(jsonSchema, [FILTER]);
  requireFormats(jsonSchema, ajv);
  const isValid = ajv.getSchema(ROOT)!;
  requireDefaults(jsonSchema, ajv);
  const validate = (sent: unknown) => {
    // Copied, since defaults are written into it.
    const value = copyForAjv(sent ?? {});
    if (isValid(value) !== true) return { issues: issuesOf(isValid.errors ?? []) };
    const isMissing = sent === undefined && Object.keys(value as object).length === 0;
    return { value: isMissing ? undefined : value };
  };
  const schema: AttributesSchema = {
    '~standard': {
      version: 1,
      vendor: OWN_VENDOR,
      validate,
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  };
  return { schema, filters: filtersIn(jsonSchema) };
}

/** An object that inherits nothing. One of `Object.create(null)` takes three times as long to read. */
class Blank {
  static {
    Object.setPrototypeOf(this.prototype, null);
    Reflect.deleteProperty(this.prototype, 'constructor');
  }

  [name: string]: unknown;
}

/** Returns a copy of JSON whose objects inherit nothing: ajv takes an inherited `constructor` for an attribute. */
function copyForAjv(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyForAjv);
  if (!isPlainObject(value)) return value;
  const copy = new Blank();
  for (const [name, member] of Object.entries(value))
    if (member !== undefined) copy[name] = copyForAjv(member);
  return copy;
}

/** Throws an Error for a default that its own schema refuses: each log without the value would be refused. */
function requireDefaults(jsonSchema: object, ajv: Ajv2020): void {
  for (const [pointer, part] of schemasIn(jsonSchema)) {
    if (part.default === undefined) continue;
    const place = `the default at #${pointer}`;
    const fault = jsonFault(part.default, { depth: Infinity, bytes: Infinity });
    if (fault !== undefined) throw new Error(`${place} ${fault}`);
    if (ajv.getSchema(`${ROOT}#${pointer}`)!(copyForAjv(part.default)) !== true)
      throw new Error(`${place} is not valid by its own schema`);
  }
}

/** Throws an Error for a format that ajv does not know, which it would ignore. */
function requireFormats(schema: object, { formats }: Ajv2020): void {
  for (const [pointer, { format }] of schemasIn(schema))
    if (format !== undefined && formats[format as string] === undefined)
      throw new Error(`unknown format "${format as string}" at #${pointer}`);
}

/** Keywords with schemas, whose own errors are about the alternatives. */
const COMPOSED = ['anyOf', 'oneOf', 'not'];

function issuesOf(errors: readonly ErrorObject[]): SchemaIssue[] {
  const composed = errors.filter(({ keyword }) => COMPOSED.includes(keyword));
  return errors
    .filter(
      ({ keyword, schemaPath }) =>
        keyword !== 'if' && !composed.some((one) => schemaPath.startsWith(`${one.schemaPath}/`)),
    )
    .map(({ instancePath, keyword, params }) => {
      const steps = instancePath.split('/').slice(1);
      const path = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
      const { missingProperty, additionalProperty, unevaluatedProperty } = params as Params;
      const member = missingProperty ?? additionalProperty ?? unevaluatedProperty;
      if (member !== undefined)
        return {
          message: missingProperty === undefined ? 'is unknown' : 'is required',
          path: [...path, member],
        };
      return { message: RULES[keyword]?.(params as Params) ?? 'is not valid', path };
    });
}

/** The parameters of errors as ajv reports them. */
interface Params {
  readonly missingProperty?: string;
  readonly additionalProperty?: string;
  readonly unevaluatedProperty?: string;
  readonly type: string | readonly string[];
  readonly limit: number;
  readonly multipleOf: number;
  readonly format: string;
  readonly pattern: string;
  readonly allowedValue: unknown;
  readonly allowedValues: readonly unknown[];
}

/** The messages of keywords. They name no value that was sent. */
const RULES: Readonly<Record<string, (params: Params) => string>> = {
  type: ({ type }) => [type].flat().map(typeRule).join(' or ').replaceAll('or must be', 'or'),
  enum: ({ allowedValues }) => `must be one of ${allowedValues.map(textOf).join(', ')}`,
  const: ({ allowedValue }) => `must be ${textOf(allowedValue)}`,
  minLength: ({ limit }) => `must be at least ${counted(limit, 'character')}`,
  maxLength: ({ limit }) => `must be at most ${counted(limit, 'character')}`,
  pattern: ({ pattern }) => `must match the pattern ${pattern}`,
  format: ({ format }) => `must be in the format ${format}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  minItems: ({ limit }) => `must have at least ${counted(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${counted(limit, 'item')}`,
  uniqueItems: () => 'must not have equal items',
  minProperties: ({ limit }) => `must have at least ${counted(limit, 'member')}`,
  maxProperties: ({ limit }) => `must have at most ${counted(limit, 'member')}`,
};

const OTHER_TYPES: Readonly<Record<string, string>> = {
  array: 'must be an array',
  object: 'must be an object',
  null: 'must be null',
};

function typeRule(type: string): string {
  return OTHER_TYPES[type] ?? ruleOfType(type as AttributeType);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
