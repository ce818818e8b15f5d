/* Group commit and limits of concurrent work. Without them the disk limits the number of creates in a second. */

export { inBackground } from './background.js';
export { Batcher, type BatcherLimits, type MeasurableBatcher } from './batcher.js';
export { Limit } from './limit.js';
