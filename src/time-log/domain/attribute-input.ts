/** Marks values that are checked, and logs whose attributes a schema has changed; builds share it. */
const INPUT = Symbol.for('time-logs.input of attributes');

interface WithInput {
  readonly attributes?: unknown;
  readonly [INPUT]?: { readonly input: unknown };
}

/** Notes what the schema was given. */
export function keepInput(values: object, input: unknown): void {
  Object.defineProperty(values, INPUT, { value: { input } });
}

/** Returns whether what the schema was given is noted. It must not be given its own output. */
export function hasInput(values: object): boolean {
  return INPUT in values;
}

/** The attributes as they were sent; those of a log that was stored are as the schema has put them out. */
export function inputOf(values: WithInput): unknown {
  const kept = values[INPUT];
  return kept ? kept.input : values.attributes;
}
