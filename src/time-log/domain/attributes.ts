import type { Fault } from '../../../libs/errors/src/domain-error.js';
import type { AttributeValues } from './time-log-access.js';
import type { ConvertedAttributes } from './time-log.js';

const NO_ATTRIBUTES: Fault = {
  field: 'attributes',
  rule: 'unknown',
  params: {},
  message: 'unknown field: attributes',
};
const NONE: ConvertedAttributes = { faults: [] };

/** The type of the values of an attribute. `strings` is an array of texts. */
export type AttributeType = 'string' | 'number' | 'integer' | 'boolean' | 'strings';

/** The attributes of time logs: none. A subclass of the module of attributes accepts those that obey a schema. */
export class TimeLogAttributes {
  /** Whether logs have attributes. */
  readonly areKnown: boolean = false;

  /** The attributes by which logs can be filtered, and callers bound, but not to arrays. */
  readonly filters: ReadonlyMap<string, AttributeType> = new Map();

  /**
   * Checks and converts attributes, which are undefined if they are missing, together with the values to which the
   * caller is bound. These are added if they are missing; others are kept, and refused by `requireAccess`.
   */
  async validate(...[sent]: [sent: unknown, bound?: AttributeValues]): Promise<ConvertedAttributes> {
    return sent === undefined ? NONE : { faults: [NO_ATTRIBUTES] };
  }

  /** Returns the faults of the values of a filter from the code of a host: unknown names, other types, too many. */
  filterFaults(values: unknown): readonly Fault[] {
    return values === undefined ? [] : [NO_ATTRIBUTES];
  }
}
