/** The key of attributes as sent, on checked values and on logs. All builds share it. */
const INPUT = Symbol.for('time-logs.input of attributes');

interface WithInput {
  readonly attributes?: unknown;
  readonly [INPUT]?: { readonly input: unknown };
}

/** Stores the input of the schema with the values. */
export function rememberSentAttributes(values: object, input: unknown): void {
  Object.defineProperty(values, INPUT, { value: { input } });
}

/** Returns whether a schema has converted the attributes. It must not get its own output as input. */
export function isAlreadyConverted(values: object): boolean {
  return INPUT in values;
}

/** Returns the attributes as sent; for a log from the store, as the schema converted them. */
export function sentAttributesOf(values: WithInput): unknown {
  const sent = values[INPUT];
  return sent ? sent.input : values.attributes;
}
