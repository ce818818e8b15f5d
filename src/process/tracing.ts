/** The ids that connect a log line to a span of a trace. */
interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Access to OpenTelemetry, if the deployment has loaded it. */
export interface Tracing {
  /** Returns the ids of the active span; undefined if there is none. */
  ids(): TraceIds | undefined;
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
  const { context, trace } = await import('@opentelemetry/api');
  return {
    ids: () => {
      const ids = trace.getSpanContext(context.active());
      return ids && { traceId: ids.traceId, spanId: ids.spanId };
    },
  };
}
