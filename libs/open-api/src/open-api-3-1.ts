import type { OpenAPIObject } from '@nestjs/swagger';
import { withTitles } from './named-schemas.js';
import type { SchemaObject } from './open-api.js';
import { schema31 } from './schema-3-1.js';
import { type Answer as AnswerOf, phraseOf, sharedErrors } from './shared-errors.js';

interface Described {
  schema: SchemaObject;
}
interface Body {
  readonly content?: Readonly<Record<string, Described>>;
}
type Answer = AnswerOf<Described>;
interface Operation {
  security?: object[];
  readonly parameters?: (Described & { readonly name: string })[];
  readonly requestBody?: Body;
  readonly responses: Record<string, Answer>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses?: Record<string, Answer> };
}

/** A document of OpenAPI 3.1. Its references only lead to its own components. */
export type OpenApiDocument = Omit<OpenAPIObject, 'paths' | 'components'> & {
  readonly paths: object;
  readonly components: Readonly<Record<'schemas' | 'parameters' | 'headers', object>> & {
    readonly responses: Readonly<Record<string, { readonly description?: string }>>;
  };
};

/**
 * The document in terms of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1). Parts that occur more than once become
 * components, with references to them: schemas under their titles, headers and parameters under their names, answers
 * under the phrases of their statuses, and errors even where they occur once. Answers that are components already stay,
 * since they may belong to no operation.
 * Throws where different schemas have one title.
 */
export function openApi31(document: OpenAPIObject): OpenApiDocument {
  // Deep copies, so that no two parts are the same object.
  const { schemas: titled = {}, ...parts } = document.components ?? {};
  const copy = JSON.parse(JSON.stringify({ ...document, components: parts })) as Document & OpenAPIObject;
  const known = JSON.parse(JSON.stringify(titled)) as Record<string, object>;
  const { paths, components, ...rest } = withTitles(copy, known);
  const { responses: elsewhere = {}, ...others } = components;
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  // Only the empty requirement means that everybody may call. Leaving it out says the same.
  for (const operation of operations) {
    if (JSON.stringify(operation.security) === '[{}]') operation.security = [];
  }
  const answers = [...operations.map(({ responses }) => responses), elsewhere];
  const everyAnswer = answers.flatMap((byStatus) => Object.values(byStatus));
  const parameterLists = operations.map(({ parameters = [] }) => parameters);
  const headerMaps = everyAnswer.map(({ headers = {} }) => headers);
  const bodies = [...everyAnswer, ...operations.flatMap(({ requestBody = {} }) => requestBody)];

  const schemas: Record<string, object> = {};
  for (const described of [
    ...parameterLists.flat(),
    ...[...headerMaps, ...bodies.map(({ content = {} }) => content)].flatMap((map) => Object.values(map)),
  ]) {
    described.schema = schema31(described.schema, schemas);
  }
  // Headers come before the answers that hold them.
  const headers = once('headers', headerMaps, (name) => name);
  const parameters = once('parameters', parameterLists, (_index, { name }) => name);
  const ofOperations = answers.slice(0, -1);
  const errors = sharedErrors(ofOperations, byPhrase(elsewhere));
  const responses = once('responses', ofOperations, phraseOf, errors);
  return {
    ...rest,
    openapi: '3.1.1',
    paths,
    components: {
      ...others,
      schemas,
      parameters,
      headers,
      responses,
    },
  };
}

/**
 * Replaces parts that occur more than once by references, and leaves what is one already. Returns these parts by name.
 * A name has one value.
 */
function once<T extends object>(
  kind: 'headers' | 'parameters' | 'responses',
  holders: readonly (Record<string, T> | T[])[],
  nameOf: (key: string, value: T) => string,
  taken: Readonly<Record<string, T>> = {},
): Record<string, T> {
  const places = holders
    .flatMap((holder) =>
      Object.entries(holder).map(([key, value]) => ({
        holder: holder as Record<string, object>,
        key,
        value,
      })),
    )
    .filter(({ value }) => !('$ref' in value));
  const named: Record<string, T> = { ...taken };
  const counts = new Map<string, number>();
  const textOf = ({ key, value }: { key: string; value: T }) => nameOf(key, value) + JSON.stringify(value);
  for (const place of places) counts.set(textOf(place), (counts.get(textOf(place)) ?? 0) + 1);
  for (const place of places) {
    const { holder, key, value } = place;
    if (counts.get(textOf(place)) === 1) continue;
    const name = nameOf(key, value);
    named[name] ??= value;
    if (JSON.stringify(named[name]) === JSON.stringify(value))
      holder[key] = { $ref: `#/components/${kind}/${name}` };
  }
  return named;
}

function byPhrase(answers: Readonly<Record<string, Answer>>): Record<string, Answer> {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [phraseOf(status), answer]));
}
