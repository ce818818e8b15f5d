import { randomUUID } from 'node:crypto';
import { parseRequestId } from '../../libs/request-state/src/index.js';

/**
 * The parts of Nest's contexts of TCP, NATS and RabbitMQ that are used here. They are typed by
 * structure, because an app need not install all transports.
 */
interface RpcContext {
  getPattern?(): string;
  getSubject?(): string;
  getMetadata?(): Readonly<Record<string, unknown>> | undefined;
  getHeaders?(): { get(name: string): unknown } | undefined;
  getMessage?(): { readonly properties?: RabbitProperties };
  getChannelRef?(): { ack?(message: object): void | Promise<void> };
}

interface RabbitProperties {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly messageId?: unknown;
  readonly correlationId?: unknown;
}

/** Acknowledges a message of RabbitMQ. Does nothing over other transports. */
export async function acknowledge(rpcContext: unknown): Promise<void> {
  const context = contextOf(rpcContext);
  await context.getChannelRef?.().ack?.(context.getMessage!());
}

/** Returns the pattern that a message was sent to. */
export function patternOf(rpcContext: unknown): string {
  const context = contextOf(rpcContext);
  return context.getPattern?.() ?? context.getSubject?.() ?? '';
}

/**
 * Returns the first well-formed id of a message: its header `X-Request-Id` if the transport has
 * headers, its own id, or a new one.
 */
export function messageIdOf(rpcContext: unknown): string {
  const context = contextOf(rpcContext);
  const { headers, messageId, correlationId } = context.getMessage?.().properties ?? {};
  const candidates = [
    ...['x-request-id', 'X-Request-Id', 'Nats-Msg-Id'].map(
      (name) => context.getHeaders?.()?.get(name) ?? headers?.[name] ?? context.getMetadata?.()?.[name],
    ),
    messageId,
    correlationId,
  ];
  return candidates.map(parseRequestId).find((id) => id !== undefined) ?? randomUUID();
}

function contextOf(context: unknown): RpcContext {
  return context ?? {};
}
