import { timeLogAttributesContract, timeLogRepositoryContract } from 'time-logs/contract';
import { InMemoryTimeLogRepository } from 'time-logs/testing';
import { TimedTimeLogRepository } from './timed-time-log.repository.js';

const make = () => new TimedTimeLogRepository(new InMemoryTimeLogRepository());

describe('TimedTimeLogRepository', () => {
  for (const { name, run } of timeLogRepositoryContract({ make })) it(name, run);
});

describe('TimedTimeLogRepository, of logs with attributes', () => {
  for (const { name, run } of timeLogAttributesContract({ make })) it(name, run);
});
