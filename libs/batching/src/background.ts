import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs work in the asynchronous context in which this file was loaded, not in that of the request that starts it.
 * Otherwise tracing would add the statements of the work to the trace of the request.
 */
export const inBackground: <Result>(work: () => Result) => Result = AsyncLocalStorage.snapshot();
