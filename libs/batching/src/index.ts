/* Group commit and limits of concurrent work. Without them the disk limits the number of creates in a second. */

export { inBackground, Batcher, type BatcherLimits, type MeasurableBatcher } from './batcher.js';
export { Limit } from './limit.js';
