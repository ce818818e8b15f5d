import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { issueTexts, type SchemaIssue } from './attribute-issues.js';
import { frozen, isPlainObject, type JsonBounds, jsonCopy, jsonFault } from './json.js';
import {
  areChecked,
  type Attributes,
  check,
  type CheckedValues,
  faultsOf,
  requireObject,
  type TimeLogValues,
} from './time-log.js';

/** The form of what a host keeps with its logs: a Standard Schema (https://standardschema.dev), such as one of zod. */
export interface AttributesSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaVerdict | Promise<SchemaVerdict>;
    /** Its form as JSON Schema, for documentation (https://standardschema.dev/json-schema). */
    readonly jsonSchema?: Readonly<Record<'input' | 'output', (options: { target: string }) => object>>;
  };
}

type SchemaVerdict =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** Attributes that were sent, after a look at them. */
export interface CheckedAttributes {
  /** What is wrong with them, as messages for the caller. */
  readonly faults: readonly string[];
  /** The same for the log: names and messages may hold what the caller made up. */
  readonly logged?: readonly string[];
  readonly input?: unknown;
  /** What the schema has made of them. */
  readonly output?: Attributes | undefined;
}

const LOGGED = ['attributes must obey their schema'];
/** Where a schema takes attributes, and what it makes of them cannot be stored. */
const NOT_STORABLE = ['attributes is not valid'];

/** What time logs have beside their own values: what the schema of a host says, or nothing. */
export class TimeLogAttributes {
  constructor(
    readonly schema?: AttributesSchema,
    private readonly bounds: JsonBounds = { depth: Infinity, bytes: Infinity },
    /** Told what is wrong with the schema itself. */
    private readonly report: (fault: string) => void = () => undefined,
  ) {}

  /** Whether logs have attributes. */
  get areKnown(): boolean {
    return this.schema !== undefined;
  }

  /**
   * What becomes of attributes that were sent, or were not: the schema decides about that too. Throws what it throws.
   */
  async check(sent: unknown): Promise<CheckedAttributes> {
    if (this.schema === undefined) return { faults: sent === undefined ? [] : ['unknown field: attributes'] };
    if (sent === undefined) return this.ask(this.schema, undefined);
    const fault = this.objectFault(sent);
    return fault === undefined ? this.ask(this.schema, sent) : { faults: [`attributes ${fault}`] };
  }

  /**
   * Checks values that code of a host gives, and returns them with their attributes as the schema puts them out. Throws
   * DomainError VALIDATION_ERROR with the faults of all, and what `check` throws.
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

  private async ask(schema: AttributesSchema, sent: unknown): Promise<CheckedAttributes> {
    // Before the schema: it may change what it is given.
    const input = sent === undefined ? undefined : jsonCopy(sent);
    const verdict = await schema['~standard'].validate(sent);
    if (verdict.issues) return { faults: issueTexts(verdict.issues, input), logged: LOGGED };
    const output = verdict.value ?? undefined;
    if (output === undefined) return { faults: [], input, output };
    const fault = this.objectFault(output);
    // What hooks of the host are shown is what is stored.
    if (fault === undefined) return { faults: [], input, output: frozen(jsonCopy(output)) as Attributes };
    // No caller may bring about an error of the server, and what was sent led to this.
    this.report(`what the schema of attributes puts out ${fault}`);
    return { faults: NOT_STORABLE };
  }

  private objectFault(value: unknown): string | undefined {
    return isPlainObject(value) ? jsonFault(value, this.bounds) : 'must be an object';
  }
}
