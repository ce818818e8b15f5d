import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type * as Jose from 'jose';
import { DomainError } from '../../errors/src/index.js';

/** Milliseconds. */
const TIMES = {
  /** Between two fetches: a key that the issuer withdraws is refused after that long. */
  refresh: 300_000,
  /**
   * How long keys are good while the issuer cannot be asked: longer than a token usually lives, so that its outage costs
   * nobody who has one; and no longer, since a key that was withdrawn must not be kept alive by cutting us off.
   */
  keep: 86_400_000,
  /** Before another unknown key is a reason to fetch: a flood of them is no flood at the issuer. */
  pause: 5_000,
  /** The same after a fetch that failed, of which jose takes no note. */
  pauseAfterFailure: 1_000,
  /** For the whole answer. A request that has less time gives up alone, and the answer serves those that follow. */
  patience: 2_000,
};
/** Bytes of an answer, decompressed; a set of keys has some thousand. */
const LARGEST = 262_144;

/**
 * The keys that an issuer publishes as a JSON Web Key Set (RFC 7517): fetched at the start and every five minutes, and
 * when a token names a key that is not among them. One fetch is under way at a time, for all who wait. jose keeps the
 * keys by the clock of the machine: each fetch puts right what a step of that clock did.
 */
export class RemoteKeySet implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('JWT');
  private readonly keys: ReturnType<typeof Jose.createRemoteJWKSet>;
  private timer: NodeJS.Timeout | undefined;
  /** When and why the last fetch failed; undefined after one that did not. */
  private failed: { readonly at: number; readonly reason: string } | undefined;

  constructor(
    private readonly jose: typeof Jose,
    url: string,
    /** Milliseconds of a clock that is never set. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.keys = jose.createRemoteJWKSet(new URL(url), {
      cacheMaxAge: TIMES.keep,
      cooldownDuration: TIMES.pause,
      timeoutDuration: TIMES.patience,
      [jose.customFetch]: (...request) => this.fetch(...request),
    });
  }

  /** Waits for nothing: the service starts also where the issuer is away. */
  onModuleInit(): void {
    this.refresh();
    this.timer = setInterval(() => this.refresh(), TIMES.refresh).unref();
  }

  /** Not before the drain: requests are served until then. */
  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * The key for a token with this header. Throws JWKSNoMatchingKey where the issuer has none, DomainError
   * SERVICE_UNAVAILABLE where none is known and the issuer cannot be asked.
   */
  find(...header: Parameters<Jose.JWTVerifyGetKey>): Promise<Jose.CryptoKey> {
    return this.keys(...header);
  }

  /** Never fails: the keys that were there stay. */
  private refresh(): void {
    this.keys.reload().catch(() => undefined);
  }

  /** The fetch of jose, within a bound of size, and none in the pause after one that failed. */
  private async fetch(...request: Parameters<Jose.FetchImplementation>): Promise<Response> {
    if (this.failed && this.now() - this.failed.at < TIMES.pauseAfterFailure) throw unavailable();
    try {
      const text = await textOf(await fetch(...request));
      // Done again by jose, which would not tell that this is why the fetch failed.
      this.jose.createLocalJWKSet(JSON.parse(text) as Jose.JSONWebKeySet);
      if (this.failed) this.logger.log('the keys of the token issuer can be fetched again');
      this.failed = undefined;
      return new Response(text);
    } catch (error) {
      const reason = reasonOf(error as Error);
      if (this.failed?.reason !== reason)
        this.logger.warn(`the keys of the token issuer cannot be fetched: ${reason}`);
      this.failed = { at: this.now(), reason };
      throw unavailable();
    }
  }
}

function unavailable(): DomainError {
  return new DomainError(
    'SERVICE_UNAVAILABLE',
    'the keys of the token issuer are unavailable at the moment; retry later',
  );
}

/** An answer that is not taken. */
class Refused extends Error {}

async function textOf(response: Response): Promise<string> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Refused(`the answer is ${response.status}, not 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > LARGEST) throw new Refused(`the answer has more than ${LARGEST} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Why there are no keys, in words that hold nothing of the answer. */
function reasonOf(error: Error): string {
  if (error instanceof Refused) return error.message;
  if (error instanceof SyntaxError) return 'the answer is no JSON';
  if (error.name === 'JWKSInvalid') return 'the answer is no set of keys';
  if (error.name === 'TimeoutError') return `no answer within ${TIMES.patience} ms`;
  // What happened to the connection is in the cause; fetch itself says no more than that it failed.
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return code ?? message;
}
