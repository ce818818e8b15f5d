import { type Fault, faultOf } from '../../libs/errors/src/index.js';
import {
  type AttributeFilters,
  type Attributes,
  type AttributeValues,
  type ConvertedAttributes,
  isPlainObject,
  AttributeRules,
} from '../time-log/index.js';
import { filterValuesFaults } from './attribute-filters.js';
import { issueFaults, type SchemaIssue } from './attribute-issues.js';
import { frozenCopy, type JsonBounds, jsonFault } from './json.js';

/** The schema of attributes: a Standard Schema (https://standardschema.dev), such as one of zod. */
export interface AttributesSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>;
    /** The same as JSON Schema, for documentation (https://standardschema.dev/json-schema). */
    readonly jsonSchema?: Readonly<Record<'input' | 'output', (options: { target: string }) => object>>;
  };
}

/** A schema of attributes, and its properties by which logs can be filtered. */
export interface AttributesDefinition {
  readonly schema: AttributesSchema;
  readonly filters: AttributeFilters;
}

/** The type of the attributes of logs with a schema, for `TimeLog<A>` and the other types that take one. */
export type AttributesOf<Schema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Extract<Output, Attributes>
  : Attributes;

/** The type of attributes as they are sent, such as without defaults: `TimeLogService<A, SentAttributesOf<…>>`. */
export type SentAttributesOf<Schema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined };
}
  ? Extract<Input, Attributes>
  : Attributes;

type SchemaResult =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** The fault for the caller if the output of the schema cannot be stored. */
const NOT_STORABLE = faultOf('attributes', null, 'schema', 'is not valid');

/** The vendor of schemas from files, whose messages contain no sent values. */
export const OWN_VENDOR = 'time-logs';

/** Attributes that obey a schema. */
export class SchemaAttributeRules extends AttributeRules {
  override readonly haveAttributes = true;

  constructor(
    private readonly schema: AttributesSchema,
    private readonly bounds: JsonBounds = { depth: Infinity, bytes: Infinity },
    /** Reports an error of the schema itself. */
    private readonly report: (fault: string) => void = () => undefined,
    override readonly filters: AttributeFilters = new Map(),
  ) {
    super();
  }

  /** Checks and converts attributes. The schema also decides about missing ones. Throws what the schema throws. */
  override async validate(sent: unknown, values?: AttributeValues): Promise<ConvertedAttributes> {
    const bound = values && this.declared(values);
    const all = bound && (sent === undefined || isPlainObject(sent)) ? { ...bound, ...sent } : sent;
    const fault = all === undefined ? undefined : this.objectFault(all);
    if (fault === undefined) return this.convert(all, bound);
    const { depth, bytes } = this.bounds;
    return { faults: [faultOf('attributes', all, 'json', fault, { depth, bytes })] };
  }

  override filterFaults(values: unknown): readonly Fault[] {
    return values === undefined ? [] : filterValuesFaults(this.filters, values);
  }

  /** Returns the values that have a filter. The services refuse callers with others, which is not for the schema. */
  private declared(values: AttributeValues): AttributeValues {
    return Object.fromEntries(Object.entries(values).filter(([name]) => this.filters.has(name)));
  }

  private async convert(sent: unknown, bound: AttributeValues | undefined): Promise<ConvertedAttributes> {
    const standard = this.schema['~standard'];
    const isOwn = standard.vendor === OWN_VENDOR;
    // Copied first, since the schema of a host may change its argument.
    const input = (isOwn || sent === undefined ? sent : frozenCopy(sent)) as Attributes | undefined;
    const result = await standard.validate(sent);
    if (result.issues) return { faults: issueFaults(result.issues, isOwn ? undefined : input) };
    // An empty object lacks the values to which a caller is bound, which is then refused.
    const output = result.value ?? (bound && {});
    if (output === undefined) return { faults: [], input, output };
    const fault = this.objectFault(output);
    if (fault !== undefined) {
      // The response is a 400, since no input may cause a server error.
      this.report(`the output of the schema of attributes ${fault}`);
      return { faults: [NOT_STORABLE] };
    }
    // Hooks must not change the attributes that are stored.
    const stored = frozenCopy(output) as Attributes;
    return { faults: [], input, output: stored };
  }

  private objectFault(value: unknown): string | undefined {
    return isPlainObject(value) ? jsonFault(value, this.bounds) : 'must be an object';
  }
}
