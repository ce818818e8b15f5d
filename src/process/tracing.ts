import type { Span } from '@opentelemetry/api';

/** The ids that connect a log line to a span of a trace. */
interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Access to OpenTelemetry, if the deployment has loaded it. */
export interface Tracing {
  /** Returns the ids of the active span; undefined if there is none. */
  ids(): TraceIds | undefined;
  /** Handles a message in a span of its own, a child of the span that its headers name. */
  begin<T>(message: TracedMessage, handle: () => T): T;
  /** Ends the span of a message. */
  end(context: object): void;
}

interface TracedMessage {
  /** Nest's context of the message: the same object from start to end. */
  readonly context: object;
  readonly pattern: string;
  readonly headerOf: (name: string) => string | undefined;
}

/** The global key of the implementation, which all copies of the OpenTelemetry API share. */
const REGISTRY_KEY = Symbol.for('opentelemetry.js.api.1');

/**
 * Returns access to OpenTelemetry if it was loaded before the service (docker/LOGS.md), else
 * undefined. Our copy of its API must not be newer than the loaded one: a newer copy would not find
 * it.
 */
export async function findTracing(): Promise<Tracing | undefined> {
  if (!(REGISTRY_KEY in globalThis)) return undefined;
  const { context, propagation, SpanKind, trace } = await import('@opentelemetry/api');
  const spans = new WeakMap<object, Span>();
  return {
    ids: () => {
      const ids = trace.getSpanContext(context.active());
      return ids && { traceId: ids.traceId, spanId: ids.spanId };
    },
    begin: (message, handle) => {
      const active = context.active();
      const carrier = { get: (_message: unknown, name: string) => message.headerOf(name), keys: () => [] };
      // An instrumentation may have started a span for this message: that is the parent.
      const parent = trace.getSpan(active) ? active : propagation.extract(active, message, carrier);
      const span = trace.getTracer('time-logs').startSpan(message.pattern, { kind: SpanKind.SERVER }, parent);
      spans.set(message.context, span);
      return context.with(trace.setSpan(parent, span), handle);
    },
    end: (message) => spans.get(message)?.end(),
  };
}
