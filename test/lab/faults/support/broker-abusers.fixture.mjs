// Sends messages without a valid token to a broker, in a process of its own. The argument: { url, messages, megabytes?,
// seconds? }. It ends with word of its answers: how many had which error.
import { connect as connectRabbit } from 'amqplib';
import { connect as connectNats } from '@nats-io/transport-node';
import { setTimeout as delay } from 'node:timers/promises';

const DIRECT = 'amq.rabbitmq.reply-to';
const QUEUE = 'time-logs';
const PATTERN = 'time-log.record.v1';
/** Milliseconds without an answer after which no more are waited for. */
const SILENCE = 3_000;

const { url, messages, megabytes, seconds } = JSON.parse(process.argv[2]);
const answers = {};
let [came, last] = [0, performance.now()];
const count = (text) => {
  const { err } = JSON.parse(text);
  answers[err?.error ?? 'answer'] = (answers[err?.error ?? 'answer'] ?? 0) + 1;
  came++;
  last = performance.now();
};

if (url.startsWith('nats:')) await flood();
else await sendLong();
while (came < messages && performance.now() < last + SILENCE) await delay(50);
process.send(answers);
process.disconnect();
process.exit();

/** Small messages, as many a second as it takes. Every other token must be looked up. */
async function flood() {
  const broker = await connectNats({ servers: url.slice(7) });
  broker.subscribe('_INBOX.abuse.*', { callback: (_error, message) => count(message.string()) });
  const begun = performance.now();
  for (let sent = 0; sent < messages;) {
    const due = Math.min(messages, ((performance.now() - begun) / 1_000 / seconds) * messages);
    for (; sent < due; sent++) {
      const accessToken = sent % 2 ? 'wrong' : `tl_${String(sent).padStart(43, 'A')}`;
      const message = JSON.stringify({ id: String(sent), data: { accessToken, timeLog: {} } });
      broker.publish(PATTERN, message, { reply: `_INBOX.abuse.${sent}` });
    }
    await delay(5);
  }
  await broker.flush();
  last = performance.now();
}

/** Messages of `{}`, of which JSON.parse makes twenty times as many bytes. */
async function sendLong() {
  const connection = await connectRabbit(url);
  const channel = await connection.createConfirmChannel();
  await channel.consume(DIRECT, ({ content }) => count(content.toString()), { noAck: true });
  const objects = `[{}${',{}'.repeat((megabytes * 1_000_000) / 3)}]`;
  const message = Buffer.from(`{"pattern":"${PATTERN}","id":"1","data":${objects}}`);
  for (let sent = 0; sent < messages; sent++) {
    channel.sendToQueue(QUEUE, message, { replyTo: DIRECT, correlationId: String(sent) });
    await channel.waitForConfirms();
  }
  last = performance.now() + 60_000;
}
