import type { Fault } from '../../../libs/errors/src/domain-error.js';
import type { ConvertedAttributes } from './time-log.js';

const NO_ATTRIBUTES: Fault = {
  field: 'attributes',
  rule: 'unknown',
  params: {},
  message: 'unknown field: attributes',
};
const NONE: ConvertedAttributes = { faults: [] };

/** The values that attributes must have, by their names. Numbers are equal if their values are: 1 and 1.0. */
export type AttributeValues = Readonly<Record<string, string | number | boolean>>;

/** The values of a filter. An array must be contained. */
export type MatchedValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The type of the values of an attribute. `strings` is an array of texts. */
export type AttributeType = 'string' | 'number' | 'integer' | 'boolean' | 'strings';

/** The attributes by which logs can be filtered, and their types. */
export type AttributeFilters = ReadonlyMap<string, AttributeType>;

/** The rules for the attributes of logs: there are none. A subclass of the module of attributes has a schema. */
export class AttributeRules {
  /** Whether logs have attributes. */
  readonly haveAttributes: boolean = false;

  /** The attributes by which logs can be filtered, and callers bound, but not to arrays. */
  readonly filters: AttributeFilters = new Map();

  /**
   * Checks and converts attributes, which are undefined if they are missing, together with the values to which the
   * caller is bound. These are added if they are missing; others are kept, and refused by `requireAccess`.
   */
  async validate(...[sent]: [sent: unknown, bound?: AttributeValues]): Promise<ConvertedAttributes> {
    return sent === undefined ? NONE : { faults: [NO_ATTRIBUTES] };
  }

  /** Returns the faults of the values of a filter from the code of a host: no object, unknown names and so on. */
  filterFaults(values: unknown): readonly Fault[] {
    return values === undefined ? [] : [NO_ATTRIBUTES];
  }
}
