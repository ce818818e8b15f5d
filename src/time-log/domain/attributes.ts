import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { issueTexts, type SchemaIssue } from './attribute-issues.js';
import { deepFreeze, isPlainObject, type JsonBounds, jsonCopy, jsonFault } from './json.js';
import {
  areChecked,
  type Attributes,
  check,
  type CheckedValues,
  faultsOf,
  requireObject,
  type TimeLogValues,
} from './time-log.js';

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

type SchemaResult =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** The result of a check of attributes. */
export interface CheckedAttributes {
  /** The error messages for the caller. */
  readonly faults: readonly string[];
  /** The same for the log, without names and values from the caller. */
  readonly logged?: readonly string[];
  readonly input?: unknown;
  /** The attributes as the schema converted them. */
  readonly output?: Attributes | undefined;
}

const LOGGED_FAULTS = ['attributes must obey their schema'];
/** The fault for the caller if the output of the schema cannot be stored. */
const NOT_STORABLE = ['attributes is not valid'];

/** The attributes of time logs: checked by the schema of a host, or unknown without one. */
export class TimeLogAttributes {
  constructor(
    readonly schema?: AttributesSchema,
    private readonly bounds: JsonBounds = { depth: Infinity, bytes: Infinity },
    /** Reports an error of the schema itself. */
    private readonly report: (fault: string) => void = () => undefined,
  ) {}

  /** Returns whether logs have attributes. */
  get areKnown(): boolean {
    return this.schema !== undefined;
  }

  /** Checks attributes. The schema also decides about missing ones. Throws what the schema throws. */
  async check(sent: unknown): Promise<CheckedAttributes> {
    if (this.schema === undefined) return { faults: sent === undefined ? [] : ['unknown field: attributes'] };
    if (sent === undefined) return this.validate(this.schema, undefined);
    const fault = this.objectFault(sent);
    return fault === undefined ? this.validate(this.schema, sent) : { faults: [`attributes ${fault}`] };
  }

  /**
   * Checks values, and returns them with their attributes as the schema converts them. Throws DomainError
   * VALIDATION_ERROR with all faults, and what `check` throws.
   */
  async applyTo(values: TimeLogValues): Promise<CheckedValues> {
    requireObject(values);
    if (areChecked(values)) return values;
    if (!this.areKnown && values.attributes === undefined) return check(values, undefined);
    const checked = await this.check(values.attributes);
    if (checked.faults.length === 0) return check({ ...values, attributes: checked.output }, checked.input);
    const own = faultsOf(values);
    throw new DomainError('VALIDATION_ERROR', [...own, ...checked.faults].join('; '), {
      logged: [...own, ...(checked.logged ?? checked.faults)].join('; '),
    });
  }

  private async validate(schema: AttributesSchema, sent: unknown): Promise<CheckedAttributes> {
    // Copied first, since the schema may change its argument.
    const input = sent === undefined ? undefined : jsonCopy(sent);
    const result = await schema['~standard'].validate(sent);
    if (result.issues) return { faults: issueTexts(result.issues, input), logged: LOGGED_FAULTS };
    const output = result.value ?? undefined;
    if (output === undefined) return { faults: [], input, output };
    const fault = this.objectFault(output);
    // Hooks must not change the attributes that are stored.
    if (fault === undefined) return { faults: [], input, output: deepFreeze(jsonCopy(output)) as Attributes };
    // The response is a 400, since no input may cause a server error.
    this.report(`the output of the schema of attributes ${fault}`);
    return { faults: NOT_STORABLE };
  }

  private objectFault(value: unknown): string | undefined {
    return isPlainObject(value) ? jsonFault(value, this.bounds) : 'must be an object';
  }
}
