/* Group commit and fair queues. Without them the disk limits the number of creates in a second. */

export { inBackground } from './background.js';
export { Batcher, type BatcherLimits, type MeasurableBatcher } from './batcher.js';
export { FairQueue } from './fair-queue.js';
