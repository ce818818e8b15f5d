import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  createRemoteJWKSet,
  customFetch,
  type CryptoKey,
  type FetchImplementation,
  type JWTVerifyGetKey,
} from 'jose';
import { DomainError } from '../../errors/src/index.js';

/** The interval of fetches. A key that the issuer withdraws is refused after this time. */
const REFRESH_INTERVAL_MS = 300_000;
/**
 * The time for which keys are used while the issuer is unavailable. It is longer than the usual
 * lifetime of a token, so that an outage affects no client that has one. It is limited, so that an
 * attacker who blocks the issuer cannot keep a withdrawn key valid.
 */
const MAX_KEY_AGE_MS = 86_400_000;
/** The minimum time between fetches for unknown keys, so that they do not flood the issuer. */
const COOLDOWN_MS = 5_000;
/** The minimum time between a failed fetch and the next one. jose itself does not wait. */
const FAILURE_COOLDOWN_MS = 1_000;
/** The timeout of a fetch. A request with less time gives up alone; later ones use the response. */
const FETCH_TIMEOUT_MS = 2_000;

/**
 * The keys that an issuer publishes as a JSON Web Key Set (RFC 7517). jose fetches them when a token names an unknown
 * key, one fetch at a time, and this class at the start and every five minutes.
 */
export class IssuerKeys implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('JWT');
  private readonly keys: ReturnType<typeof createRemoteJWKSet>;
  private timer: NodeJS.Timeout | undefined;
  /** The time and reason of the failure of the last fetch; undefined if it succeeded. */
  private failure: { readonly at: number; readonly reason: string } | undefined;

  constructor(
    url: string,
    /** Returns the milliseconds of a monotonic clock. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.keys = createRemoteJWKSet(new URL(url), {
      cacheMaxAge: MAX_KEY_AGE_MS,
      cooldownDuration: COOLDOWN_MS,
      timeoutDuration: FETCH_TIMEOUT_MS,
      [customFetch]: (...request) => this.fetch(...request),
    });
  }

  /** Does not wait for the keys: the service must start even if the issuer is unavailable. */
  onModuleInit(): void {
    this.refresh();
    this.timer = setInterval(() => this.refresh(), REFRESH_INTERVAL_MS).unref();
  }

  /** Stops fetching after the drain, until which requests are served. */
  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * Returns the key for a token with this header. Rejects with DomainError SERVICE_UNAVAILABLE if the key is not known
   * and the issuer is unavailable, and with an error of jose or Node.js for any other header, also if the key is
   * published but unreadable.
   */
  find(...header: Parameters<JWTVerifyGetKey>): Promise<CryptoKey> {
    return this.keys(...header);
  }

  /** Fetches the keys. Never rejects: after a failure the old keys are kept. */
  private refresh(): void {
    this.keys.reload().catch((error: unknown) => {
      if (!(error instanceof DomainError))
        this.logger.warn(`the keys of the token issuer cannot be used: ${(error as Error).message}`);
    });
  }

  /** Fetches for jose. Fails at once just after a failure. Logs when the issuer becomes unavailable and available. */
  private async fetch(...request: Parameters<FetchImplementation>): Promise<Response> {
    if (this.failure && this.now() - this.failure.at < FAILURE_COOLDOWN_MS) throw unavailable();
    try {
      const response = await fetch(...request);
      if (response.status !== 200) throw new Error(`the status is ${response.status}, not 200`);
      const set = (await response.json()) as { readonly keys?: unknown } | null;
      if (!Array.isArray(set?.keys)) throw new Error('the response is not a key set');
      if (this.failure) this.logger.log('the keys of the token issuer can be fetched again');
      this.failure = undefined;
      return Response.json(set);
    } catch (error) {
      const reason = failureOf(error);
      if (this.failure?.reason !== reason)
        this.logger.warn(`the keys of the token issuer cannot be fetched: ${reason}`);
      this.failure = { at: this.now(), reason };
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

/** Returns why a fetch failed, without any content of the response. */
function failureOf(error: unknown): string {
  const { name, cause = error } = error as Error;
  if (name === 'SyntaxError') return 'the response is not JSON';
  // The error of the connection is the cause of that of fetch.
  const { code, message } = cause as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : message;
}
