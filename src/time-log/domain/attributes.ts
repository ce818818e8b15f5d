import { type Fault, validationError } from '../../../libs/errors/src/domain-error.js';
import type { AttributeValues } from './time-log-access.js';
import {
  type Attributes,
  type CheckedValues,
  faultsOf,
  markChecked,
  type TimeLogValues,
} from './time-log.js';

/** The result of a check of attributes. */
export interface CheckedAttributes {
  readonly faults: readonly Fault[];
  readonly input?: unknown;
  /** The attributes as a schema converted them. */
  readonly output?: Attributes | undefined;
}

const NOT_AN_OBJECT: Fault = {
  field: '',
  rule: 'type',
  params: { type: 'object' },
  message: 'the values of a time log must be an object',
};
const NO_ATTRIBUTES: Fault = {
  field: 'attributes',
  rule: 'unknown',
  params: {},
  message: 'unknown field: attributes',
};

/** The type of the values of an attribute. */
export type AttributeType = 'string' | 'number' | 'integer' | 'boolean';

/** The attributes of time logs: none. A subclass of the host kit accepts those that obey a schema. */
export class TimeLogAttributes {
  /** Whether logs have attributes. */
  readonly areKnown: boolean = false;

  /** The attributes by which logs can be filtered, and callers bound. */
  readonly filters: ReadonlyMap<string, AttributeType> = new Map();

  /**
   * Checks attributes, which are undefined if they are missing, together with the values to which the caller is bound.
   * These are added if they are missing; others are kept, and refused by `requireAccess`.
   */
  async check(...[sent]: [sent: unknown, bound?: AttributeValues]): Promise<CheckedAttributes> {
    return { faults: sent === undefined ? [] : [NO_ATTRIBUTES] };
  }

  /** Returns the faults of the values of a filter from the code of a host: unknown names, other types, too many. */
  filterFaults(values: unknown): readonly Fault[] {
    return values === undefined ? [] : [NO_ATTRIBUTES];
  }

  /**
   * Checks values, and returns them with their attributes as a schema converts them. Throws DomainError
   * VALIDATION_ERROR with all faults, and what `check` throws.
   */
  async applyTo(values: TimeLogValues, bound?: AttributeValues): Promise<CheckedValues> {
    const result = await this.examine(values, bound);
    if (!('faults' in result)) return result;
    throw validationError(result.faults);
  }

  /** Returns the same, or the faults if there are any. Throws what `check` throws. */
  async examine(
    values: TimeLogValues,
    bound?: AttributeValues,
  ): Promise<CheckedValues | Pick<CheckedAttributes, 'faults'>> {
    if (!isObject(values)) return { faults: [NOT_AN_OBJECT] };
    const { faults, input, output } = await this.check(values.attributes, bound);
    // Values may be an object with getters, of which a copy has none.
    const isSame = faults.length > 0 || output === values.attributes;
    const all = isSame ? values : { ...values, attributes: output };
    const found = [...faultsOf(all), ...faults];
    return found.length === 0 ? markChecked(all, input) : { faults: found };
  }
}

/** Returns whether values are an object: the code of a host may pass anything. */
export function isObject(values: unknown): boolean {
  return typeof values === 'object' && values !== null;
}
