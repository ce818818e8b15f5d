import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LOG, refusal, TIME_LOGS } from '../support/requests.js';
import { BOUND_TO, startTcpHost, type TcpHost } from './host.js';

const [OWN, OTHER] = BOUND_TO as [string, string];
const FOREIGN = 'b0000000-0000-4000-8000-00000000000f';
const NOT_ALLOWED = refusal('FORBIDDEN', 'the token does not allow this project');
const malformed = (message: string) => refusal('VALIDATION_ERROR', message);
const NO_UUID = malformed('projectId must be a UUID');
const NO_UUIDS = malformed('projectId must be a UUID, or at most 100 separated by commas');

let host: TcpHost;

beforeAll(async () => {
  host = await startTcpHost();
  for (const projectId of BOUND_TO) await record(projectId);
});
afterAll(() => host.close());

async function ask(token: string, path: string, method = 'GET', body?: object) {
  const answer = await fetch(`http://127.0.0.1:${host.port}${TIME_LOGS}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    status: answer.status,
    challenge: answer.headers.get('www-authenticate'),
  };
}
async function record(projectId: string, duration = 1): Promise<string> {
  const { body } = await ask('unbound', '', 'POST', { ...LOG, projectId, duration });
  return (body as { data: { id: string } }).data.id;
}
describe('a caller who is bound to projects, over messages', () => {
  const recordAs = (accessToken: string, projectId: string, idempotencyKey?: string) =>
    host.door.record({
      accessToken,
      timeLog: { ...LOG, projectId },
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });

  it.each([undefined, 'with a key'])('records for its own projects alone: %s', async (kind) => {
    const key = () => kind && randomUUID();
    for (const projectId of [OWN, OTHER.toUpperCase()]) {
      expect(await recordAs('bound', projectId, key())).toMatchObject({
        answer: { data: { projectId: projectId.toLowerCase() } },
      });
    }
    expect(await recordAs('bound', FOREIGN, key())).toEqual({ error: NOT_ALLOWED });
    expect(await recordAs('bound', 'x', key())).toEqual({ error: NO_UUID });
    expect(await recordAs('bound-to-none', OWN, key())).toEqual({ error: NOT_ALLOWED });
  });

  it('learns nothing by a key that has recorded for a project of its own', async () => {
    const key = randomUUID();
    const { answer } = (await recordAs('bound', OWN, key)) as { answer: object };
    expect(await recordAs('bound', OWN, key)).toEqual({ answer: { ...answer, replayed: true } });
    expect(await recordAs('bound', FOREIGN, key)).toEqual({ error: NOT_ALLOWED });
    expect(await recordAs('bound', OTHER, key)).toMatchObject({ error: { error: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  describe.each(['list', 'totals'] as const)('%s', (operation) => {
    const read = (accessToken: string, query: Record<string, string> = {}) =>
      host.door[operation]({ accessToken, query });
    const countOf = async (token: string, query?: Record<string, string>) => {
      const { answer } = (await read(token, query)) as {
        answer: { meta: { total: number; count?: number } };
      };
      return operation === 'list' ? answer.meta.total : answer.meta.count;
    };

    it('is over its own projects, and refuses others', async () => {
      await record(FOREIGN);
      const [own, other] = [
        await countOf('unbound', { projectId: OWN }),
        await countOf('unbound', { projectId: OTHER }),
      ];
      expect(await countOf('bound', { projectId: OWN })).toBe(own);
      expect(await countOf('bound', { projectId: OTHER.toUpperCase() })).toBe(other);
      expect(await countOf('bound')).toBe(own! + other!);
      expect(await countOf('bound', { projectId: `${OTHER},${OWN},${OTHER}` })).toBe(own! + other!);
      expect(await countOf('unbound')).toBeGreaterThan(own! + other!);
      expect(await read('bound', { projectId: `${OWN},${FOREIGN}` })).toEqual({ error: NOT_ALLOWED });
      expect(await read('bound', { projectId: `${FOREIGN},x` })).toEqual({ error: NO_UUIDS });
      expect(await read('bound', { projectId: FOREIGN, limit: '0' })).toMatchObject({
        error: { error: 'VALIDATION_ERROR' },
      });
      // Large enough to wait for its turn.
      expect(await read('bound', { projectId: FOREIGN, limit: '1000' })).toEqual({ error: NOT_ALLOWED });
      expect(await countOf('bound', { limit: '1000' })).toBe(own! + other!);
    });

    it('is empty for a token for no project', async () => {
      expect(await countOf('bound-to-none')).toBe(0);
      expect(await read('bound-to-none')).toMatchObject({ answer: { data: [], meta: { total: 0 } } });
      expect(await read('bound-to-none', { projectId: OWN })).toEqual({ error: NOT_ALLOWED });
    });

    it('is an error of the host for a token for more than 100 projects', async () => {
      expect(await read('bound-to-101')).toEqual({ error: refusal('INTERNAL_ERROR', 'internal error') });
    });
  });

  it('gets the groups of its own projects', async () => {
    await record(FOREIGN, 1_000);
    const query = { by: 'project' };
    const { answer } = (await host.door.totals({ accessToken: 'bound', query })) as {
      answer: { data: { projectId: string }[] };
    };
    expect(answer.data.map(({ projectId }) => projectId).sort()).toEqual([OWN, OTHER]);
  });
});

describe('a caller who is bound to projects', () => {
  it('is challenged where it is refused, and nowhere else (RFC 6750, section 3.1)', async () => {
    const id = await record(FOREIGN);
    const refused = 'Bearer realm="host", error="insufficient_scope"';
    const body = { ...LOG, projectId: FOREIGN };
    const answers = await Promise.all([
      ask('bound', '', 'POST', body),
      ask('bound', `?projectId=${FOREIGN}`),
      ask('bound', `/totals?projectId=${FOREIGN}`),
      ask('bound', `/${id}`, 'PUT', body),
      ask('bound', `/events?projectId=${FOREIGN}`),
      ask('bound', `/${id}`),
      ask('bound', ''),
    ]);
    expect(answers.map(({ status, challenge }) => [status, challenge])).toEqual([
      ...Array<unknown>(5).fill([403, refused]),
      [404, null],
      [200, null],
    ]);
  });
});
