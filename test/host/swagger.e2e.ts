import { afterEach, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import {
  type AttributesSchema,
  TimeLogModule,
  type TimeLogModuleOptions,
} from '../../src/embedding/index.js';
import { openApiPaths } from '../../src/embedding/open-api-paths.js';
import { enabledCapabilities } from '../../src/time-log/time-log.routes.js';
import { dereferenced, DOCUMENT_TEXT } from '../support/open-api.js';
import { hostDataSource, useHosts } from './embedded.js';

const ATTRIBUTES = z.strictObject({ ticket: z.string().max(9), billable: z.boolean().optional() });
const SELF = z.object({
  get parts() {
    return z.array(SELF).optional();
  },
  name: z.string(),
});
/** The operations of all capabilities. */
const ALL = enabledCapabilities().flatMap(({ operationIds }) => operationIds);
const fail = () => {
  throw new Error('the schema fails');
};

interface Body {
  readonly content?: Readonly<Record<string, Content>>;
}
interface Content {
  readonly schema: { readonly $ref: string };
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

describe('the OpenAPI paths of a module', () => {
  const hosts = useHosts();
  afterEach(() => hosts.close());

  const pathsOf = async (options: TimeLogModuleOptions) => {
    const timeLogs = TimeLogModule.forRoot({ caller: () => ({ scopes: [] }), ...options });
    await hosts.serve([hostDataSource(hosts.database.url), timeLogs]);
    const { paths, schemas } = hosts.app.get(TimeLogModule).openApiPaths('/work');
    return { paths: paths as Record<string, Record<string, Operation>>, schemas };
  };

  it.each<[string, AttributesSchema | undefined, boolean]>([
    ['no attributes', undefined, false],
    ['optional attributes', ATTRIBUTES.optional(), false],
    ['required attributes', ATTRIBUTES, true],
    ['attributes that are looked up', ATTRIBUTES.optional().refine(() => Promise.resolve(true)), false],
    ['a schema that refers to itself', SELF, true],
    ['a schema that fails', ATTRIBUTES.or(z.custom(() => fail())), false],
  ])(
    'refer to schemas that they have, and have only valid examples: %s',
    async (_what, attributes, isRequired) => {
      const { paths, schemas } = await pathsOf({ attributes });
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      ajv.addSchema({ $id: 'host:', components: { schemas } });
      const operations = Object.values(paths).flatMap((item) => Object.values(item));
      const contents = operations
        .flatMap(({ requestBody, responses }) => [requestBody, ...Object.values(responses)])
        .flatMap((body) => Object.values(body?.content ?? {}));
      expect(contents.length).toBeGreaterThan(40);
      const invalid = contents.flatMap(({ schema: { $ref }, examples = {} }) => {
        const validate = ajv.getSchema(`host:${$ref}`)!;
        return Object.values(examples).filter(({ value }) => !validate(value));
      });
      expect(invalid).toEqual([]);
      const references = JSON.stringify({ paths, schemas }).match(
        /"\$ref":"(?!#\/components\/schemas\/)[^"]+"/g,
      );
      expect(references).toBeNull();
      const { NewTimeLog: log } = schemas as Record<string, { required: string[] }>;
      expect(log!.required.includes('attributes')).toBe(isRequired);
    },
  );

  it('are those of our own document, below the prefix of the host', () => {
    const { paths, schemas } = openApiPaths('/work', ALL, undefined);
    const ours = dereferenced(JSON.parse(DOCUMENT_TEXT) as { paths: object });
    const expected = Object.entries(ours.paths).filter(([path]) => path.startsWith('/api/v1/'));
    expect(expected.length).toBeGreaterThan(5);
    expect(dereferenced({ paths, components: { schemas } }).paths).toEqual(
      Object.fromEntries(expected.map(([path, item]) => [path.replace('/api/v1', '/work'), item as object])),
    );
  });

  it('have the attributes of the host and the parameters of its filters', () => {
    const filters = new Map([['ticket', 'string'] as const]);
    const { paths, schemas } = openApiPaths('/work', ALL, { schema: ATTRIBUTES, filters });
    const attributes = { $ref: '#/components/schemas/Attributes' };
    expect(schemas.NewTimeLog).toMatchObject({ properties: { attributes } });
    expect(schemas.Attributes).toMatchObject({ type: 'object', properties: { ticket: { maxLength: 9 } } });
    for (const path of ['', '/totals', '/export'])
      expect(paths[`/work/time-logs${path}`]).toMatchObject({
        get: { parameters: expect.arrayContaining([expect.objectContaining({ name: 'attributes.ticket' })]) },
      });
  });

  it.each<[string, AttributesSchema]>([
    ['has no form in these words', z.object({ a: z.date() })],
    ['tells none', { '~standard': { version: 1, vendor: 'host', validate: (value) => ({ value }) } }],
  ])('have any object where the schema %s', (_what, schema) => {
    expect(openApiPaths('', ALL, { schema, filters: new Map() }).schemas.Attributes).toEqual({
      type: 'object',
    });
  });
});
