import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { DECLARED_TOKEN } from '../support/environment.js';
import type { OpenApiDocument } from '../support/open-api.js';
import { LOG, TIME_LOGS } from '../support/requests.js';
import { startHere } from '../support/service-here.js';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'docker', 'attributes', 'person-billable-tags.json');

describe('the service with a schema of attributes', () => {
  const database = useTestDatabase();
  const inFolder = useFolder('time-logs-attributes-');
  const ADA = { userId: 'ada', tags: ['a'] };
  let url: string;
  let id: string;

  const startWith = async (schema: string) => {
    const settings = { DATABASE_URL: database.url, ACCESS_TOKEN: DECLARED_TOKEN, ATTRIBUTES_SCHEMA: schema };
    ({ url } = await startHere(settings));
  };
  /** Sends a request that the committed document does not describe. */
  const send = (path: string, sent?: object) =>
    fetch(url + TIME_LOGS + path, {
      headers: { authorization: `Bearer ${DECLARED_TOKEN}`, 'content-type': 'application/json' },
      ...(sent && { method: 'POST', body: JSON.stringify(sent) }),
    });

  beforeAll(async () => {
    await startWith(EXAMPLE);
    const response = await send('', { ...LOG, attributes: ADA });
    const { data } = (await response.json()) as { data: { id: string; attributes: object } };
    expect(data.attributes).toEqual({ billable: true, ...ADA });
    ({ id } = data);
  });

  it('describes them in the document', async () => {
    const { components } = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
    const { $schema, ...described } = JSON.parse(await readFile(EXAMPLE, 'utf8')) as Record<string, unknown>;
    expect($schema).toBeDefined();
    expect(components.schemas.Attributes).toEqual(described);
  });

  it('exports them', async () => {
    const csv = await (await send('/export')).text();
    expect(csv).toMatch(/^id,projectId,date,duration,description,createdAt,attributes\n/);
    expect(csv).toContain('""userId"":');
  });

  it.each([
    ['{', 'wrong.json'],
    ['{"type":"array"}', 'wrong.json'],
    [undefined, 'missing.json'],
  ])('does not start with the schema %j', async (text, name) => {
    const file = inFolder(name);
    if (text !== undefined) await writeFile(file, text);
    await expect(startWith(file)).rejects.toThrow(/^[^\n]*ATTRIBUTES_SCHEMA[^\n]*$/);
  });

  it('starts with a narrower schema, whose logs keep what they have, and with the first one again', async () => {
    const narrow = inFolder('narrow.json');
    await writeFile(narrow, '{"type":"object","properties":{"billable":{"type":"boolean"}}}');
    for (const [file, status] of [
      [narrow, 400],
      [EXAMPLE, 200],
    ] as const) {
      await startWith(file);
      expect((await send('?attributes.userId=ada')).status).toBe(status);
      expect(await (await send(`/${id}`)).json()).toMatchObject({ data: { attributes: ADA } });
    }
  });
});
