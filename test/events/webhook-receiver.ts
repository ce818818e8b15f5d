import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { webhookKeysOf } from '../../libs/strict-url/src/index.js';
import type { CloudEvent } from '../../src/feed/index.js';
import { CERTIFICATE, KEY } from '../support/certificates.js';
import { expectDescribedEvent } from '../support/documented.js';

export const SECRETS = ['a', 'b'].map((letter) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`);
export const KEYS = webhookKeysOf(SECRETS.join(','))!;

/** A request that the reference verifier has accepted by one of the secrets. */
interface Attempt {
  readonly event: CloudEvent;
  readonly headers: IncomingHttpHeaders;
  /** The secrets of its signatures. */
  readonly secrets: readonly string[];
}

interface Exchange extends Attempt {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Keeps the event. */
  readonly keep: () => void;
}

export type Behaviour = (exchange: Exchange) => void;

export const accept: Behaviour = ({ response, keep }) => {
  keep();
  response.writeHead(204).end();
};
export const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  ({ response }) =>
    void response.writeHead(status, headers).end('no');
export const cut: Behaviour = ({ request }) => void request.socket.destroy();
export const hang: Behaviour = () => undefined;
/** The server of somebody who has given the service its URL. */
export class WebhookReceiver {
  /** Every event that it has kept, repeats included. */
  kept: CloudEvent[] = [];
  attempts: Attempt[] = [];
  /** The paths of all requests. */
  readonly paths = new Set<string>();
  behave: Behaviour = accept;
  private server: Server | undefined;
  private port = 0;

  constructor(private readonly protocol: 'http' | 'https' = 'http') {}

  get url(): string {
    return `${this.protocol}://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    this.server = this.create();
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  forget(): void {
    [this.kept, this.attempts] = [[], []];
  }

  /** As if it were killed. It may be started again. */
  async kill(): Promise<void> {
    const { server } = this;
    const closed = once(server!, 'close');
    server!.close();
    server!.closeAllConnections();
    await closed;
  }

  private create(): Server {
    const take = (request: IncomingMessage, response: ServerResponse) =>
      void this.take(request, response).catch(() => request.destroy());
    return this.protocol === 'https'
      ? createTlsServer({ cert: CERTIFICATE, key: KEY }, take)
      : createServer(take);
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.paths.add(request.url!);
    const body = await text(request);
    const headers = request.headers as Record<string, string>;
    const secrets = SECRETS.filter((secret) => {
      try {
        return new Webhook(secret).verify(body, headers) !== undefined;
      } catch {
        return false;
      }
    });
    const event = JSON.parse(body) as CloudEvent;
    if (secrets.length === 0 || headers['webhook-id'] !== event.id) {
      response.writeHead(401).end();
      return;
    }
    expectDescribedEvent(event);
    const attempt = { event, headers, secrets };
    this.attempts.push(attempt);
    this.behave({ ...attempt, request, response, keep: () => void this.kept.push(event) });
  }
}
