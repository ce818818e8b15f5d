import { timeLogAttributesContract, timeLogRepositoryContract } from 'time-logs/contract';
import { InMemoryTimeLogRepository } from 'time-logs/testing';
import { CachedTimeLogRepository } from './cached-time-log.repository.js';

const make = () => new CachedTimeLogRepository(new InMemoryTimeLogRepository());

describe('CachedTimeLogRepository', () => {
  for (const { name, run } of timeLogRepositoryContract({ make })) it(name, run);
});

describe('CachedTimeLogRepository, of logs with attributes', () => {
  for (const { name, run } of timeLogAttributesContract({ make })) it(name, run);
});
