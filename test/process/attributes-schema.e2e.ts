import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { overTransport, tcpClient } from '../messages/test-clients.js';
import { lastLineOf } from '../support/commands.js';
import { runHere, startHere } from '../support/service-here.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { LOG, TIME_LOGS } from '../support/requests.js';
import { unusedPort } from '../support/unused-port.js';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'docker', 'attributes', 'person-billable-tags.json');

describe('the service with a schema of attributes', () => {
  const database = useTestDatabase();
  const inFolder = useFolder('time-logs-attributes-');
  let settings: Record<'DATABASE_URL' | 'ATTRIBUTES_SCHEMA' | 'MESSAGES_URL', string>;
  let messagesPort: number;
  let token: string;
  let url: string;
  let ids: string[];

  /** Sends a request that the committed document does not describe. */
  const send = async (path: string, sent?: unknown, method = sent === undefined ? 'GET' : 'POST') => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const body: unknown = isJson ? JSON.parse(text) : text;
    return { status: response.status, body, headers: response.headers };
  };
  const create = (attributes?: unknown) => send(TIME_LOGS, { ...LOG, attributes });

  beforeAll(async () => {
    messagesPort = await unusedPort();
    const MESSAGES_URL = `tcp://127.0.0.1:${messagesPort}`;
    settings = { DATABASE_URL: database.url, ATTRIBUTES_SCHEMA: EXAMPLE, MESSAGES_URL };
    const scopes = ['read', 'write', 'correct'].flatMap((scope) => ['--scope', `time-logs:${scope}`]);
    token = lastLineOf(await runHere('token', ['create', '--name', 'boss', ...scopes], settings));
    ({ url } = await startHere(settings));
    ids = [];
    for (const attributes of [
      { userId: 'ada', tags: ['a'] },
      { userId: 'bob', billable: false },
    ]) {
      const { status, body } = await create(attributes);
      expect({ status, body }).toMatchObject({
        status: 201,
        body: { data: { attributes: { billable: true, ...attributes } } },
      });
      ids.push((body as { readonly data: { readonly id: string } }).data.id);
    }
  });

  it('refuses attributes that do not follow the schema', async () => {
    expect(await create({ userId: 'ada', foo: 1 })).toMatchObject({
      status: 400,
      body: { error: 'VALIDATION_ERROR', message: 'attributes.foo is unknown' },
    });
  });

  it('answers and exports them', async () => {
    expect(await send(`${TIME_LOGS}/${ids[0]}`)).toMatchObject({
      status: 200,
      body: { data: { attributes: { userId: 'ada', billable: true, tags: ['a'] } } },
    });
    const { body: csv } = await send(`${TIME_LOGS}/export`);
    expect(csv).toMatch(/^id,projectId,date,duration,description,createdAt,attributes\n/);
    expect(csv).toContain('""userId"":');
  });

  it('takes and filters them by messages', async () => {
    const client = tcpClient(messagesPort);
    const testClient = overTransport(client, () => undefined);
    try {
      const attributes = { userId: 'eve', billable: false };
      expect(await testClient.record({ accessToken: token, timeLog: { ...LOG, attributes } })).toMatchObject({
        answer: { data: { attributes } },
      });
      const query = { 'attributes.userId': 'eve' };
      expect(await testClient.list({ accessToken: token, query })).toMatchObject({
        answer: { meta: { total: 1 } },
      });
    } finally {
      await client.close();
    }
  });

  it.each([
    ['{', 'wrong.json'],
    ['{"type":"array"}', 'wrong.json'],
    [undefined, 'missing.json'],
  ])('does not start with the schema %j', async (text, name) => {
    const file = inFolder(name);
    if (text !== undefined) await writeFile(file, text);
    const starting = startHere({ ...settings, ATTRIBUTES_SCHEMA: file });
    await expect(starting).rejects.toThrow(/^[^\n]*ATTRIBUTES_SCHEMA[^\n]*$/);
  });

  it('starts with a narrower schema, whose logs keep what they have, and with the first one again', async () => {
    const narrow = inFolder('narrow.json');
    await writeFile(narrow, '{"type":"object","properties":{"billable":{"type":"boolean"}}}');
    for (const [file, status] of [
      [narrow, 400],
      [EXAMPLE, 200],
    ] as const) {
      const service = await startHere({ DATABASE_URL: database.url, ATTRIBUTES_SCHEMA: file });
      const headers = { authorization: `Bearer ${token}` };
      const filtered = await fetch(`${service.url}${TIME_LOGS}?attributes.userId=ada`, { headers });
      const log = await fetch(`${service.url}${TIME_LOGS}/${ids[0]}`, { headers });
      expect([filtered.status, await log.json()]).toMatchObject([
        status,
        { data: { attributes: { userId: 'ada', tags: ['a'] } } },
      ]);
    }
  });
});
