import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ArgumentsHost } from '@nestjs/common';
import { parseRequestId } from '../../strict-request/src/index.js';

/**
 * What Nest's contexts of TCP, NATS and RabbitMQ have, as far as it is used. Typed by structure: who handles messages
 * need not have them all.
 */
interface RpcContext {
  getPattern?(): string;
  getSubject?(): string;
  getMetadata?(): Readonly<Record<string, unknown>> | undefined;
  getHeaders?(): { get(name: string): unknown } | undefined;
  getMessage?(): { readonly properties?: RabbitProperties };
  getSocketRef?(): { readonly netSocket?: Socket } | undefined;
}

interface RabbitProperties {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly messageId?: unknown;
  readonly correlationId?: unknown;
}

/** The object that is the same wherever a message is handled. */
export function messageOf(host: ArgumentsHost): object {
  const rpc = host.switchToRpc();
  return rpc.getContext<object | undefined>() ?? rpc.getData<object>();
}

/** The connection of the client of a message, where it has one of its own: over TCP. */
export function socketOf(host: ArgumentsHost): Socket | undefined {
  return contextOf(host.switchToRpc().getContext()).getSocketRef?.()?.netSocket;
}

/** The pattern that a message was sent to. */
export function patternOf(rpcContext: unknown): string {
  const context = contextOf(rpcContext);
  return context.getPattern?.() ?? context.getSubject?.() ?? '';
}

/**
 * The header `X-Request-Id` of a message, where its transport has headers and the caller gave one, else the message's
 * own id, else a new one. Only a well-formed id is taken.
 */
export function messageIdOf(host: ArgumentsHost): string {
  const context: unknown = host.switchToRpc().getContext();
  const { messageId, correlationId } = contextOf(context).getMessage?.().properties ?? {};
  const given = [
    headerOf(context, 'x-request-id'),
    headerOf(context, 'X-Request-Id'),
    headerOf(context, 'Nats-Msg-Id'),
    messageId,
    correlationId,
  ];
  return given.map(parseRequestId).find((id) => id !== undefined) ?? randomUUID();
}

/** A header of a message, by the context that its handler gets: of NATS and RabbitMQ, or in the metadata of TCP. */
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
