import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface GoodClientOptions {
  readonly port: number;
  readonly token: string;
  /** Requests a second. */
  readonly rate: number;
}

/** A client that creates and lists in turn, at a steady pace, and notes how long each answer took. */
export class GoodClient {
  /** Answers other than 201 and 200, and what took their place. */
  readonly faults: string[] = [];
  private readonly agent = new Agent({ keepAlive: true });
  private readonly projectId = crypto.randomUUID();

  constructor(private readonly options: GoodClientOptions) {}

  /**
   * Asks for so many milliseconds; the milliseconds of each answer, from when its request was due, so that no wait is
   * left out.
   */
  async measure(duration: number): Promise<number[]> {
    const { rate } = this.options;
    const begun = performance.now();
    const asked: Promise<number>[] = [];
    for (let number = 0; number < (duration / 1_000) * rate; number++) {
      const due = begun + (number * 1_000) / rate;
      const early = due - performance.now();
      if (early > 0) await delay(early);
      asked.push(this.ask(number % 2 === 0).then(() => performance.now() - due));
    }
    return Promise.all(asked);
  }

  close(): void {
    this.agent.destroy();
  }

  private async ask(isCreate: boolean): Promise<void> {
    const body = JSON.stringify({ projectId: this.projectId, duration: 1.5, date: '2026-01-31' });
    const outgoing = this.request(
      isCreate ? 'POST' : 'GET',
      isCreate ? '' : `?projectId=${this.projectId}&limit=10`,
    );
    const status = await new Promise((resolve) => {
      outgoing.on('response', (answer) => {
        answer.resume();
        answer.on('close', () => resolve(answer.complete ? answer.statusCode : 'cut'));
      });
      outgoing.on('error', (error) => resolve(error.message));
      outgoing.end(isCreate ? body : undefined);
    });
    if (status !== (isCreate ? 201 : 200)) this.faults.push(String(status));
  }

  private request(method: string, query: string): ClientRequest {
    const { port, token } = this.options;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const path = `/api/v1/time-logs${query}`;
    return request({ host: '127.0.0.1', port, method, path, headers, agent: this.agent });
  }
}
