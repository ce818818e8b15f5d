import { DomainError } from '../../../libs/errors/src/domain-error.js';
import {
  type Attributes,
  check,
  type CheckedValues,
  faultsOf,
  requireObject,
  type TimeLogValues,
} from './time-log.js';

/** The result of a check of attributes. */
export interface CheckedAttributes {
  /** The error messages for the caller. */
  readonly faults: readonly string[];
  /** The same for the log, without names and values from the caller. */
  readonly logged?: readonly string[];
  readonly input?: unknown;
  /** The attributes as a schema converted them. */
  readonly output?: Attributes | undefined;
}

/** The attributes of time logs: none. A subclass of the host kit accepts those that obey a schema. */
export class TimeLogAttributes {
  /** Whether logs have attributes. */
  readonly areKnown: boolean = false;

  /** Checks attributes, which are undefined if they are missing. */
  async check(sent: unknown): Promise<CheckedAttributes> {
    return { faults: sent === undefined ? [] : ['unknown field: attributes'] };
  }

  /**
   * Checks values, and returns them with their attributes as a schema converts them. Throws DomainError
   * VALIDATION_ERROR with all faults, and what `check` throws.
   */
  async applyTo(values: TimeLogValues): Promise<CheckedValues> {
    requireObject(values);
    const checked = await this.check(values.attributes);
    if (checked.faults.length === 0) {
      // Values may be an object with getters, of which a copy has none.
      const isSame = checked.output === values.attributes;
      return check(isSame ? values : { ...values, attributes: checked.output }, checked.input);
    }
    const own = faultsOf(values);
    throw new DomainError('VALIDATION_ERROR', [...own, ...checked.faults].join('; '), {
      logged: [...own, ...(checked.logged ?? checked.faults)].join('; '),
    });
  }
}
