import { randomUUID } from 'node:crypto';
import type { ArgumentsHost } from '@nestjs/common';
import { parseRequestId } from '../../strict-request/src/index.js';

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
}

interface RabbitProperties {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly messageId?: unknown;
  readonly correlationId?: unknown;
}

/** Returns the object that identifies a message in guards, interceptors and filters. */
export function messageOf(host: ArgumentsHost): object {
  const rpc = host.switchToRpc();
  return rpc.getContext<object | undefined>() ?? rpc.getData<object>();
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
export function messageIdOf(host: ArgumentsHost): string {
  const context: unknown = host.switchToRpc().getContext();
  const { messageId, correlationId } = contextOf(context).getMessage?.().properties ?? {};
  const candidates = [
    headerOf(context, 'x-request-id'),
    headerOf(context, 'X-Request-Id'),
    headerOf(context, 'Nats-Msg-Id'),
    messageId,
    correlationId,
  ];
  return candidates.map(parseRequestId).find((id) => id !== undefined) ?? randomUUID();
}

/** Returns a header of a message: of NATS or RabbitMQ, or from the metadata of TCP. */
export function headerOf(rpcContext: unknown, name: string): string | undefined {
  const context = contextOf(rpcContext);
  const value: unknown =
    context.getHeaders?.()?.get(name) ??
    context.getMessage?.().properties?.headers?.[name] ??
    context.getMetadata?.()?.[name];
  return typeof value === 'string' ? value : undefined;
}

function contextOf(context: unknown): RpcContext {
  return context ?? {};
}
