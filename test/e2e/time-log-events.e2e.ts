import { beforeEach, describe, expect, it } from '@jest/globals';
import { HTTP } from 'cloudevents';
import { eventually } from '../support/eventually.js';
import {
  type Answer,
  correct,
  create,
  dataOf,
  idOf,
  linksIn,
  LOG,
  outcome,
  PROJECT,
  refusal,
  send,
  TIME_LOGS,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const EVENTS = `${TIME_LOGS}/events`;

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: { readonly id: string; readonly description: string };
}

interface Recorded {
  readonly id: string;
  readonly createdAt: string;
}

/** The members that the events of these tests have in common. */
const COMMON = {
  specversion: '1.0',
  source: TIME_LOGS,
  subject: PROJECT,
  datacontenttype: 'application/json',
};
const idOfEvent = (log: string): unknown => expect.stringMatching(new RegExp(`^[1-9]\\d*-${log}$`));

const app = useTestApp();
let recorded: Recorded[];
/** Removes all logs, and what the feed keeps of them. */
const empty = () => app.dataSource.query('truncate time_logs; truncate time_log_deletions');

beforeEach(async () => {
  await empty();
  recorded = [];
  for (const description of ['one', '', '\u{1F600} "three"\n']) {
    recorded.push(dataOf(await create(app, { ...LOG, description })) as Recorded);
  }
});

const feed = (query = '', sending = {}) => send(app, query === '' ? EVENTS : `${EVENTS}?${query}`, sending);
const eventsIn = ({ body }: Answer) => body as Event[];
const idsIn = (answer: Answer) => eventsIn(answer).map(({ data }) => data.id);
const nextOf = (answer: Answer) => EVENTS + linksIn(answer).next!;

/** Returns the answer once it has a number of events: transactions of other tests may delay them. */
const fullFeed = (count = recorded.length, query = 'limit=1000') =>
  eventually(async () => {
    const answer = await feed(query);
    expect(eventsIn(answer)).toHaveLength(count);
    return answer;
  });

describe('GET /api/v1/time-logs/events', () => {
  it('answers an event for each log, oldest first, each a CloudEvent', async () => {
    expect(outcome(await fullFeed())).toEqual([
      200,
      recorded.map((log) => ({
        ...COMMON,
        id: idOfEvent(log.id),
        type: 'time-log.created',
        time: log.createdAt,
        data: log,
      })),
    ]);
  });

  it("validates against CloudEvents' own JSON schema, which refuses an event without a source", async () => {
    const { text } = await fullFeed();
    // Both throw what their schema says against an event.
    const read = (body: string) =>
      HTTP.toEvent({ headers: { 'content-type': 'application/cloudevents-batch+json' }, body });
    expect(JSON.parse(JSON.stringify(read(text)))).toEqual(JSON.parse(text));
    expect(() => read(text.replaceAll('"source"', '"sauce"'))).toThrow('invalid payload');
    expect(() => read(text.replaceAll('"time":"', '"time":"x'))).toThrow();
  });

  it('goes on after any event, so many at a time, and the link leads there', async () => {
    const all = eventsIn(await fullFeed());
    for (const [index, { id }] of all.entries()) {
      const answer = await feed(`lastEventId=${id}&limit=1`);
      expect(eventsIn(answer)).toEqual(all.slice(index + 1, index + 2));
      const last = all[index + 1] ?? all[index]!;
      expect(nextOf(answer)).toBe(`${EVENTS}?lastEventId=${last.id}&limit=1`);
    }
    const followed: unknown[] = [];
    for (let path = `${EVENTS}?limit=2`; ;) {
      const answer = await send(app, path);
      if (eventsIn(answer).length === 0) break;
      followed.push(...eventsIn(answer));
      path = nextOf(answer);
    }
    expect(followed).toEqual(all);
    expect(eventsIn(await feed(`lastEventId=${all[0]!.id.toUpperCase()}&limit=0001`))).toEqual([all[1]]);
  });

  it('publishes a correction and a deletion, by HTTP and by SQL', async () => {
    const before = eventsIn(await fullFeed());
    const [first, second, third] = before;
    await app.dataSource.query('delete from time_logs where id = $1', [first!.data.id]);
    const corrected = { ...LOG, description: 'corrected' };
    await correct(app, second!.data.id, corrected);
    const data = { ...second!.data, ...corrected };
    const told = await fullFeed(2, `lastEventId=${third!.id}`);
    const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/) as unknown;
    expect(outcome(told)).toEqual([
      200,
      [
        {
          ...COMMON,
          id: idOfEvent(first!.data.id),
          type: 'time-log.deleted',
          method: 'DELETE',
          time,
          data: { id: first!.data.id, projectId: PROJECT },
        },
        { ...COMMON, id: idOfEvent(data.id), type: 'time-log.corrected', time, data },
      ],
    ]);
  });

  it('does not wait for one that has only read', async () => {
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction('REPEATABLE READ');
    await runner.query('select count(*) from time_logs');
    recorded.push(dataOf(await create(app)) as Recorded);
    expect(idsIn(await fullFeed())).toEqual(recorded.map(({ id }) => id));
    await runner.rollbackTransaction();
    await runner.release();
  });

  it('returns the events of some projects: a log that leaves them is deleted', async () => {
    const [FIRST, SECOND, FOREIGN] = ['a', 'b', 'c'].map((n) => PROJECT.replace(/.$/, n)) as [
      string,
      string,
      string,
    ];
    const both = `projectId=${FIRST.toUpperCase()},${SECOND}`;
    const make = async (projectId: string) => idOf(await create(app, { ...LOG, projectId }));
    const [leaving, moving, entering] = [await make(FIRST), await make(FIRST), await make(FOREIGN)];
    const told = async (count: number, query: string) =>
      eventsIn(await fullFeed(count, query)).map(({ type, subject, data }) => [type, subject, data.id]);
    expect(await told(2, both)).toEqual([
      ['time-log.created', FIRST, leaving],
      ['time-log.created', FIRST, moving],
    ]);
    const end = await feed(`${both}&limit=3`);
    const place = /lastEventId=(\d+-f{8}-f{4}-f{4}-f{4}-f{11}e)/.exec(end.headers.get('link')!)![1]!;
    const link = `<?lastEventId=${place}&limit=3&projectId=${FIRST},${SECOND}>`;
    expect(end.headers.get('link')).toBe(`${link}; rel="next", ${link}; rel="last"`);
    for (const [id, projectId] of [
      [leaving, FOREIGN],
      [moving, SECOND],
      [entering, FIRST],
    ] as const)
      expect((await correct(app, id, { ...LOG, projectId })).status).toBe(200);
    expect(await told(3, `${both}&lastEventId=${place}`)).toEqual([
      ['time-log.deleted', FIRST, leaving],
      ['time-log.corrected', SECOND, moving],
      ['time-log.corrected', FIRST, entering],
    ]);
    const [left] = eventsIn(await feed(`${both}&lastEventId=${place}&limit=1`));
    expect(left!.data).toEqual({ id: leaving, projectId: FIRST });
    expect(await told(1, `projectId=${FOREIGN}&lastEventId=${left!.id}`)).toEqual([
      ['time-log.deleted', FOREIGN, entering],
    ]);
    const full = await feed(`${both}&lastEventId=${place}&limit=1`);
    expect(full.headers.get('link')).toBe(
      `<?lastEventId=${left!.id}&limit=1&projectId=${FIRST},${SECOND}>; rel="next"`,
    );
  });

  it('answers 410 for a place of some projects that it cannot read', async () => {
    for (const query of ['', `projectId=${PROJECT}&`])
      expect(outcome(await feed(`${query}lastEventId=${'x'.repeat(64)}`))).toMatchObject([
        410,
        { error: 'GONE' },
      ]);
  });

  it('answers 410 for a place from before TRUNCATE, and never without a place', async () => {
    const [first] = eventsIn(await fullFeed());
    await app.dataSource.query('truncate time_logs');
    const gone = 'the feed no longer reaches back to this event: start again with an empty copy';
    for (const query of [`lastEventId=${first!.id}`, `lastEventId=${first!.id}&limit=1000`])
      expect(outcome(await feed(query))).toEqual([410, refusal('GONE', gone)]);
    expect(outcome(await feed())).toEqual([200, []]);
  });
});
