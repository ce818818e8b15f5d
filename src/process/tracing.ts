import type { Span } from '@opentelemetry/api';

/** What lines of the log are found by, together with the spans of a trace. */
interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Traces of a deployment that has loaded OpenTelemetry. */
export interface Tracing {
  /** The ids of what is being worked on; undefined where that belongs to no trace. */
  ids(): TraceIds | undefined;
  /** Handles a message in a span of its own, below the span that its headers name. */
  begin<T>(message: TracedMessage, handle: () => T): T;
  /** Ends the span of a message. */
  end(context: object): void;
}

interface TracedMessage {
  /** Nest's context of the message: one object, from beginning to end. */
  readonly context: object;
  readonly pattern: string;
  readonly headerOf: (name: string) => string | undefined;
}

/** Under this name copies of OpenTelemetry's API find what was registered, whichever of them did it. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * OpenTelemetry, if it was loaded before the service (docker/LOGS.md); else undefined, and nothing is loaded. Our
 * copy of its API must not be newer than the one that was loaded: a newer copy would not find it.
 */
export async function findTracing(): Promise<Tracing | undefined> {
  if (!(REGISTERED in globalThis)) return undefined;
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
      // Where somebody has made a span for this message already, that is the parent.
      const parent = trace.getSpan(active) ? active : propagation.extract(active, message, carrier);
      const span = trace.getTracer('time-logs').startSpan(message.pattern, { kind: SpanKind.SERVER }, parent);
      spans.set(message.context, span);
      return context.with(trace.setSpan(parent, span), handle);
    },
    end: (message) => spans.get(message)?.end(),
  };
}
