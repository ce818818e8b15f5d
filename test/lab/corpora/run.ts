import { startService } from '../../support/service-process.js';
import { type DoorName, DOORS, type Sending } from './doors.js';
import { type Answer, parsed } from '../../support/raw-http.js';
import { exchange, type Exchange } from './exchange.js';
import { type Input, inputsOf } from './inputs.js';
import { dataOf, faultOf, verdictOf } from './judge.js';
import type { Corpora } from './read.js';
import { TIME_LOGS, TOKEN } from './requests.js';

export const ZONES = ['UTC', 'America/New_York', 'Pacific/Apia', 'Asia/Kathmandu'] as const;
/** The transport over which inputs are sent as messages too, by the zone of the service. */
const DOOR_IN: Readonly<Partial<Record<string, DoorName>>> = {
  'America/New_York': 'TCP',
  'Pacific/Apia': 'NATS',
  'Asia/Kathmandu': 'RabbitMQ',
};

/**
 * Inputs under way at the same time, and faults after which a run gives up, so that a service that hangs ends it
 * soon.
 */
const LIMITS = { lanes: 8, faults: 20 };
/** Milliseconds that a valid request may take. */
const ANSWER_LIMIT = 5_000;
const SHOWN = ['id', 'projectId', 'duration', 'description', 'createdAt'];
/** The name of a project's log that tells whether the service goes on. */
const NEXT = 'the next valid request';

export interface Counts {
  /** Inputs that were sent, in all their uses and under all time zones. */
  sent: number;
  stored: number;
  refused: number;
  served: number;
  /** Raw requests that were closed without a word. */
  closed: number;
  failed: number;
  hung: number;
}

/**
 * Sends every input to the compiled service under each time zone; what it did, and what of it is wrong, a line each.
 */
export async function run(
  corpora: Corpora,
  databaseUrl: string,
  log: (line: string) => void,
): Promise<{ counts: Counts; faults: readonly string[] }> {
  const counts: Counts = { sent: 0, stored: 0, refused: 0, served: 0, closed: 0, failed: 0, hung: 0 };
  const faults: string[] = [];
  const verdicts = new Map<string, string>();
  for (const zone of ZONES) {
    const name = DOOR_IN[zone];
    const door = name === undefined ? undefined : await DOORS[name]();
    if (name && !door) log(`${name}: skipped, its broker is not installed`);
    const service = await startService({
      DATABASE_URL: databaseUrl,
      ACCESS_TOKEN: TOKEN,
      TZ: zone,
      ...(door && { MESSAGES_URL: door.url }),
    });
    let sending: Sending | undefined;
    try {
      if (door && name !== 'TCP') await service.printed(/messages: connected to/);
      sending = await door?.open();
      const trials = [
        ...inputsOf(corpora).map((input) => ({
          input,
          send: () => exchange(service.port, input.bytes, input.expected.kind !== 'raw'),
        })),
        ...(sending ? asMessages(inputsOf(corpora), sending, `over ${name}`) : []),
      ].values();
      const lane = async () => {
        for (const { input, send } of trials) {
          if (faults.length >= LIMITS.faults) return;
          const sent = await send();
          count(counts, sent);
          const first = verdicts.get(input.name) ?? verdictOf(sent);
          verdicts.set(input.name, first);
          const isSame = first === verdictOf(sent);
          const fault =
            faultOf(input.expected, sent) ??
            (isSame
              ? await faultAfter(service.url, input, sent)
              : `answered ${verdictOf(sent)}, but ${first} elsewhere`);
          if (fault !== undefined) faults.push(`${zone}: ${input.name}: ${fault}`);
        }
      };
      await Promise.all(Array.from({ length: LIMITS.lanes }, lane));
      const errors = service.output().match(/^.*"level":"(error|fatal)".*$/gm) ?? [];
      faults.push(...errors.map((line) => `${zone}: logged: ${line}`));
    } finally {
      await sending?.close();
      const code = await service.end();
      await door?.close();
      if (code !== 0) faults.push(`${zone}: the service ended with ${code}`);
    }
    log(`TZ=${zone}: ${counts.sent} requests so far, ${faults.length} faults`);
  }
  return { counts, faults };
}

/** The inputs that can be messages, sent as such. */
function asMessages(inputs: readonly Input[], sending: Sending, how: string) {
  return inputs.flatMap(({ message, ...input }) => {
    const name = `${input.name} ${how}`;
    return message ? [{ input: { ...input, name }, send: () => sending.send(message) }] : [];
  });
}

function count(counts: Counts, { answers, isHung }: Exchange): void {
  const statuses = answers.map(({ status }) => status);
  counts.sent++;
  if (isHung) counts.hung++;
  else if (statuses.some((status) => status >= 500)) counts.failed++;
  else if (statuses.includes(201)) counts.stored++;
  else if (statuses.some((status) => status >= 400)) counts.refused++;
  else if (statuses.includes(200)) counts.served++;
  else counts.closed++;
}

/**
 * What is wrong after an input: the next create and list work, and the list shows what was acknowledged and nothing
 * else.
 */
async function faultAfter(
  url: string,
  { projectId }: Input,
  { answers }: Exchange,
): Promise<string | undefined> {
  const log = { projectId, duration: 1, date: '2026-01-31', description: NEXT };
  const next = await ask(url + TIME_LOGS, { method: 'POST', body: JSON.stringify(log) });
  if (next?.status !== 201) return `then a valid create was answered ${next?.status ?? 'nothing'}`;
  const list = await ask(`${url}${TIME_LOGS}?projectId=${projectId}`);
  if (list?.status !== 200) return `then a list was answered ${list?.status ?? 'nothing'}`;
  const created = answers.filter(({ status }) => status === 201);
  const expected = [next, ...created].map(dataOf);
  const listed = dataOf(list) as unknown as Parameters<typeof textsOf>[0];
  const isSame = textsOf(listed).join('\n') === textsOf(expected).join('\n');
  return isSame ? undefined : `then the list showed ${list.text.slice(0, 300)}`;
}

/** The members of logs that a list shows, in one order. */
const textsOf = (logs: readonly Readonly<Record<string, unknown>>[]) =>
  logs.map((log) => JSON.stringify(SHOWN.map((name) => log[name]))).sort();

/** Sends a valid request; undefined where there is no answer in time. */
async function ask(url: string, init: RequestInit = {}): Promise<Answer | undefined> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  try {
    const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(ANSWER_LIMIT) });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  } catch {
    return undefined;
  }
}
