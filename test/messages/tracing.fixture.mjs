import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { Server } from 'node:http';
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';

/*
 * OpenTelemetry as a deployment loads it before the service, in the least that its API asks for: contexts, spans, and
 * the header `traceparent` (W3C Trace Context). It makes the span of each HTTP request that @opentelemetry's
 * instrumentation makes.
 */

const contexts = new AsyncLocalStorage();
context.setGlobalContextManager({
  active: () => contexts.getStore() ?? ROOT_CONTEXT,
  with: (active, work, self, ...args) => contexts.run(active, () => work.apply(self, args)),
  bind: (_active, target) => target,
  enable() {
    return this;
  },
  disable() {
    return this;
  },
});

trace.setGlobalTracerProvider({
  getTracer: () => ({
    startSpan: (_name, _options, parent) =>
      trace.wrapSpanContext({
        traceId: trace.getSpanContext(parent)?.traceId ?? randomBytes(16).toString('hex'),
        spanId: randomBytes(8).toString('hex'),
        traceFlags: 1,
      }),
  }),
});

propagation.setGlobalPropagator({
  inject() {},
  extract(parent, carrier, getter) {
    const [, traceId, spanId] =
      /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(getter.get(carrier, 'traceparent')) ?? [];
    return traceId
      ? trace.setSpanContext(parent, { traceId, spanId, traceFlags: 1, isRemote: true })
      : parent;
  },
  fields: () => ['traceparent'],
});

const { emit } = Server.prototype;
Server.prototype.emit = function (event, ...args) {
  if (event !== 'request') return emit.call(this, event, ...args);
  const carrier = { get: ({ headers }, name) => headers[name], keys: () => [] };
  const parent = propagation.extract(ROOT_CONTEXT, args[0], carrier);
  const span = trace.getTracer('http').startSpan('request', {}, parent);
  return context.with(trace.setSpan(parent, span), () => emit.call(this, event, ...args));
};
