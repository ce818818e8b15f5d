export { InMemoryTimeLogRepository } from './in-memory-time-log.repository.js';
