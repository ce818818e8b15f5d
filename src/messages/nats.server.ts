import { type NatsContext, ServerNats } from '@nestjs/microservices';
import { filter, map, type Observable } from 'rxjs';
import { reasonOf } from '../../libs/errors/src/index.js';
import {
  type BrokerServer,
  faultOf,
  MOST_UNSENT,
  QUEUE,
  type Reach,
  SILENT,
  tooLarge,
} from './door.server.js';

/** Bytes of answers after which the broker is asked whether it has them. */
const ASK_ABOVE = 1024 * 1024;

type Publish = (response: object) => unknown;

/** Milliseconds for a try to connect. */
const TRY_LIMIT = 2_000;

/** Messages by way of a NATS server. It is waited for at the start and later, for ever. */
export class NatsServer extends ServerNats implements BrokerServer {
  readonly reach: Observable<Reach> = (this.status as Observable<string>).pipe(
    filter((status) => status === 'connected' || status === 'disconnected'),
    map((status) => (status === 'connected' ? status : 'away')),
  );
  protected override readonly logger = SILENT as never;
  private readonly taking: Subscription[] = [];
  /** How many bytes of all answers the broker is known to have. */
  private taken = 0;
  private asking: Promise<void> | undefined;

  constructor(private readonly url: URL) {
    super({
      ...brokerOf(url),
      queue: QUEUE,
      waitOnFirstConnect: true,
      maxReconnectAttempts: -1,
      // A refusal may pass too: the broker's users can change.
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: 1_000,
    });
  }

  /** The client that waits tells nobody why its tries fail. So another one tries once. */
  async whyAway(): Promise<string> {
    try {
      const once = new ServerNats({ ...brokerOf(this.url), reconnect: false, timeout: TRY_LIMIT });
      const client = (await once.createNatsClient()) as unknown as { close(): Promise<void> };
      await client.close();
      return 'the connection was lost';
    } catch (error) {
      return reasonOf(error);
    }
  }

  override bindEvents(client: Client): void {
    const subscribe: Client['subscribe'] = (...subject) => {
      const subscription = client.subscribe(...subject);
      this.taking.push(subscription);
      return subscription;
    };
    super.bindEvents({ subscribe });
  }

  override async handleMessage(...args: Parameters<ServerNats['handleMessage']>): Promise<unknown> {
    const { data, reply, respond } = args[1] as unknown as NatsMessage;
    const fault = faultOf(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    if (!fault) return super.handleMessage(...args) as Promise<unknown>;
    if (reply) respond.call(args[1], JSON.stringify(fault));
    return undefined;
  }

  override getPublisher(...args: [never, string, NatsContext]): Publish {
    const publish = super.getPublisher(...args) as Publish;
    return (response) => {
      try {
        return publish(response);
      } catch {
        // A NATS server takes 1 MiB by default; its max_payload may differ.
        return publish(tooLarge());
      }
    };
  }

  async stopTaking(): Promise<void> {
    await Promise.all(this.taking.map((subscription) => subscription.drain()));
  }

  get isFull(): boolean {
    const { outBytes } = this.unwrap<Client>().stats();
    const unsent = outBytes - this.taken;
    if (unsent > ASK_ABOVE) this.asking ??= this.sent().finally(() => (this.asking = undefined));
    return unsent > MOST_UNSENT;
  }

  async sent(): Promise<void> {
    const client = this.unwrap<Client>();
    const { outBytes } = client.stats();
    // It fails where the connection is lost, and all that waited with it.
    await client.flush().catch(() => undefined);
    this.taken = Math.max(this.taken, outBytes);
  }
}

function brokerOf({ hostname, port, username, password }: URL) {
  return {
    servers: [`${hostname}:${port || '4222'}`],
    name: QUEUE,
    ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  };
}

interface Subscription {
  drain(): Promise<void>;
}

interface Client {
  subscribe(...subject: unknown[]): Subscription;
  stats(): { readonly outBytes: number };
  flush(): Promise<void>;
}

interface NatsMessage {
  readonly data: Uint8Array;
  readonly reply?: string;
  readonly respond: (answer: string) => unknown;
}
