/* Without it, other Nest applications cannot embed time logs. */

export type { AttributesSchema } from '../../attributes/src/index.js';
export type {
  BatchedTimeLogHooks,
  TimeLogChange,
  TimeLogHooks,
  WrittenTimeLogChange,
} from './hooks/time-log-hooks.js';
export { TimeLogCoreModule } from './time-log-core.module.js';
export { TimeLogHealth } from './time-log-health.js';
export { TimeLogModule } from './time-log.module.js';
export type { TimeLogModuleOptions } from './time-log.options.js';
