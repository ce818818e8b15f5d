import { TimeLog } from '../domain/time-log.js';
import { TimeLogDeparture } from './time-log-departure.entity.js';
import { TimeLogDeletion } from './time-log-deletion.entity.js';
import { TimeLogKey } from './time-log-key.entity.js';
import './time-log.mapping.js';

/** The entities of our tables, by the names in our SQL. */
export const ENTITIES_BY_TABLE = {
  time_logs: TimeLog,
  time_log_keys: TimeLogKey,
  time_log_deletions: TimeLogDeletion,
  time_log_departures: TimeLogDeparture,
};

/** The entities that a DataSource needs to store time logs. */
export const timeLogEntities = Object.values(ENTITIES_BY_TABLE);
