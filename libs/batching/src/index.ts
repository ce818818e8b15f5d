export { Batcher, type BatcherLimits } from './batcher.js';
