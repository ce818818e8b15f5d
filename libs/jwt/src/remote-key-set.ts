import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type * as Jose from 'jose';
import { DomainError } from '../../errors/src/index.js';

/** Milliseconds. */
const TIMES = {
  /** Between two fetches. A key that the issuer withdraws is refused after that time. */
  refresh: 300_000,
  /**
   * How long keys stay good while the issuer is out of reach. It is longer than a token usually lives, so that an
   * outage hits nobody who has one. It has an end: cutting us off from the issuer must not keep a withdrawn key alive.
   */
  keep: 86_400_000,
  /** Between two fetches for unknown keys: a flood of such tokens must not become a flood at the issuer. */
  pause: 5_000,
  /** After a failed fetch. jose itself makes no pause then. */
  pauseAfterFailure: 1_000,
  /** For the whole answer. A request with less time gives up alone; the answer still serves later ones. */
  patience: 2_000,
};
/** The most bytes of an answer, decompressed. A usual set of keys has a few thousand. */
const LARGEST = 262_144;

/**
 * The keys that an issuer publishes as a JSON Web Key Set (RFC 7517). They are fetched at the start, every five
 * minutes, and when a token names an unknown key. Only one fetch is under way at a time, and all wait for it. jose ages
 * the keys by the clock of the machine; the next fetch mends what a change of that clock did.
 */
export class RemoteKeySet implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('JWT');
  private readonly keys: ReturnType<typeof Jose.createRemoteJWKSet>;
  private timer: NodeJS.Timeout | undefined;
  /** When and why the last fetch failed; undefined if it did not. */
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

  /** Does not wait for the keys: the service must start while the issuer is away. */
  onModuleInit(): void {
    this.refresh();
    this.timer = setInterval(() => this.refresh(), TIMES.refresh).unref();
  }

  /** Requests are served until the drain, so the fetches end after it. */
  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * The key for a token with this header. Throws JWKSNoMatchingKey where the issuer has none. Throws DomainError
   * SERVICE_UNAVAILABLE where no key is known and the issuer is out of reach.
   */
  find(...header: Parameters<Jose.JWTVerifyGetKey>): Promise<Jose.CryptoKey> {
    return this.keys(...header);
  }

  /** Never rejects: after a failed fetch the old keys stay. */
  private refresh(): void {
    this.keys.reload().catch(() => undefined);
  }

  /** The fetch for jose. It limits the size of the answer, and refuses to fetch in the pause after a failure. */
  private async fetch(...request: Parameters<Jose.FetchImplementation>): Promise<Response> {
    if (this.failed && this.now() - this.failed.at < TIMES.pauseAfterFailure) throw unavailable();
    try {
      const text = await textOf(await fetch(...request));
      // jose parses it again. But jose would not say that this is why the fetch failed.
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

/** An answer that is refused. */
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

/** Why there are no keys. The text holds nothing of the answer. */
function reasonOf(error: Error): string {
  if (error instanceof Refused) return error.message;
  if (error instanceof SyntaxError) return 'the answer is no JSON';
  if (error.name === 'JWKSInvalid') return 'the answer is no set of keys';
  if (error.name === 'TimeoutError') return `no answer within ${TIMES.patience} ms`;
  // fetch itself only says that it failed. The error of the connection is its cause.
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return code ?? message;
}
