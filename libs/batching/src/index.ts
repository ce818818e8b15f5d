export { Batcher, type BatcherLimits, type WatchedBatcher } from './batcher.js';
export { halving } from './halving.js';
