import { TimeLog } from '../domain/time-log.js';
import { TimeLogDeparture } from './time-log-departure.entity.js';
import { TimeLogDeletion } from './time-log-deletion.entity.js';
import { TimeLogKey } from './time-log-key.entity.js';
import './time-log.mapping.js';

/** The entities that a DataSource needs to store time logs. */
export const timeLogEntities = [TimeLog, TimeLogKey, TimeLogDeletion, TimeLogDeparture];
