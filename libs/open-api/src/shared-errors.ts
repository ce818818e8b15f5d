import { STATUS_CODES } from 'node:http';

interface Example {
  readonly value?: unknown;
}

/** An answer of a document that may be changed. */
export interface Answer<Part = object> {
  readonly description?: string;
  readonly headers?: Record<string, Part>;
  readonly content?: Readonly<Record<string, Part & { examples?: Record<string, Example> }>>;
}

/** The first status of an error (RFC 9110, section 15.5). */
const FIRST_ERROR = 400;

/**
 * Moves the errors of all operations to the components, one for each status, and returns these by name. Each has the
 * examples of all operations. An operation keeps a reference, and beside it its own description where it has another
 * one (OpenAPI 3.1.1, Reference Object). An error of another form than the first of its status stays where it is.
 */
export function sharedErrors<A extends Answer>(
  operations: readonly Record<string, A>[],
  known: Readonly<Record<string, A>>,
): Record<string, A> {
  const named = { ...known };
  for (const responses of operations) {
    for (const [status, answer] of Object.entries(responses)) {
      if (Number(status) < FIRST_ERROR) continue;
      const name = phraseOf(status);
      const one = (named[name] ??= structuredClone(answer));
      if (formOf(one) !== formOf(answer)) continue;
      addExamples(one, answer);
      const { description } = answer;
      const reference = { $ref: `#/components/responses/${name}` };
      const own = description === one.description ? {} : { description };
      (responses as Record<string, object>)[status] = { ...reference, ...own };
    }
  }
  return named;
}

/** The name for the answer of a status: `404` is `NotFound` (RFC 9110, section 15). */
export function phraseOf(status: number | string): string {
  return (STATUS_CODES[status] ?? String(status)).replace(/\W/g, '');
}

/** All that a program reads of an answer. */
function formOf({ headers, content = {} }: Answer): string {
  const bodies = Object.entries(content).map(([type, body]) => [type, { ...body, examples: undefined }]);
  return JSON.stringify([headers, bodies]);
}

function addExamples(to: Answer, from: Answer): void {
  for (const [type, { examples }] of Object.entries(from.content ?? {})) {
    if (examples === undefined) continue;
    const all = (to.content![type]!.examples ??= {});
    const known = new Set(Object.values(all).map(({ value }) => JSON.stringify(value)));
    for (const [name, example] of Object.entries(examples))
      if (!known.has(JSON.stringify(example.value))) all[freeName(name, all)] = example;
  }
}

/** The name, or where it is taken the name with the next free number. */
function freeName(name: string, taken: object): string {
  if (!(name in taken)) return name;
  const stem = name.replace(/_\d+$/, '');
  let number = 2;
  while (`${stem}_${number}` in taken) number++;
  return `${stem}_${number}`;
}
