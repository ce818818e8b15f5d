import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { timesOf } from '../support/extent.js';
import { LOG } from '../support/requests.js';
import {
  connectionOptions,
  Database,
  entityTagOf,
  newIds,
  PATIENT,
  patientLimits as limits,
  timeLogEntities,
  TimeLogService,
  TypeOrmTimeLogRepository,
  useDatabase,
} from '../support/storage.js';

const ROUNDS = timesOf(300, 10);
/** The changes of each writer in a round. */
const CHANGES = 8;

const database = useDatabase();
const services: TimeLogService[] = [];
beforeAll(async () => {
  for (let instances = 2; instances > 0; instances--) {
    const dataSource = await database.open(connectionOptions(database.url, timeLogEntities, limits));
    services.push(
      new TimeLogService(new TypeOrmTimeLogRepository(new Database(dataSource), PATIENT), newIds()),
    );
  }
});

/** Changes a log, and resolves with whether it is changed: the error says that another change has come before. */
async function isMade(change: Promise<unknown>, error: string): Promise<boolean> {
  const made = change.then(() => true);
  return made.catch((thrown: unknown) => {
    expect(thrown).toMatchObject({ code: error });
    return false;
  });
}

/** Adds one to the duration of the version that it has read. */
async function lengthen(timeLogs: TimeLogService, id: string): Promise<boolean> {
  const log = await timeLogs.get(id);
  const values = { ...LOG, description: log.description, duration: log.duration + 1 };
  const ifMatch = [entityTagOf(log)];
  return isMade(timeLogs.correct(id, values, { ifMatch }), 'PRECONDITION_FAILED');
}

/** The same of any version. */
function patch(timeLogs: TimeLogService, id: string): Promise<boolean> {
  const change = timeLogs.patch(id, ({ description, duration }) => ({
    ...LOG,
    description,
    duration: duration + 1,
  }));
  return isMade(change, 'SERVICE_UNAVAILABLE');
}

/** Adds a character to the description by SQL, in a transaction that stays open for a while. */
async function describeBySql(id: string): Promise<boolean> {
  const session = await database.transaction();
  await session.query(`update time_logs set description = description || 'x' where id = $1`, [id]);
  await delay(randomInt(4));
  const commits = randomInt(4) > 0;
  await (commits ? session.commitTransaction() : session.rollbackTransaction());
  await session.release();
  return commits;
}

it('clients that name versions, and those that patch, undo no change of each other or of SQL', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = await services[0]!.record({ ...LOG, description: '', duration: 1 });
    const counts = { duration: 1, description: 0 };
    const writer = async (field: keyof typeof counts, change: () => Promise<boolean>) => {
      for (let left = CHANGES; left > 0; left--) if (await change()) counts[field]++;
    };
    await Promise.all([
      ...services.map((timeLogs) => writer('duration', () => lengthen(timeLogs, id))),
      writer('duration', () => patch(services[1]!, id)),
      writer('description', () => describeBySql(id)),
    ]);
    const { duration, description } = await services[0]!.get(id);
    expect({ duration, description: description.length }).toEqual(counts);
    // Those that patch make their change again.
    expect(duration).toBeGreaterThan(1);
  }
});
