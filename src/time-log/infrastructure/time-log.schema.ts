import { EntitySchema } from 'typeorm';
import { TimeLog } from '../domain/time-log.js';

/** Maps the table `time_logs` straight onto the domain class. The migration makes the table; a test holds the two equal. */
export const TimeLogSchema = new EntitySchema<TimeLog>({
  name: 'TimeLog',
  target: TimeLog,
  tableName: 'time_logs',
  columns: {
    id: { type: 'uuid', primary: true, primaryKeyConstraintName: 'time_logs_pkey' },
    projectId: { type: 'uuid', name: 'project_id' },
    // Exact decimals in SQL; the shortest decimal of a double is read back as the same double.
    duration: { type: 'numeric', transformer: { to: String, from: Number } },
    description: { type: 'text' },
    date: { type: 'date' },
  },
  indices: [
    { name: 'time_logs_project_id_date_id_idx', columns: ['projectId', 'date', 'id'] },
    { name: 'time_logs_date_id_idx', columns: ['date', 'id'] },
  ],
  checks: [
    { name: 'time_logs_id_is_uuidv7', expression: `substr((id)::text, 15, 1) = '7'::text` },
    { name: 'time_logs_duration_is_positive', expression: `duration > 0 AND duration < 'Infinity'` },
    { name: 'time_logs_description_is_short', expression: `char_length(description) <= 5000` },
    {
      name: 'time_logs_date_has_four_digit_year',
      expression: `date >= '0001-01-01' AND date <= '9999-12-31'`,
    },
  ],
});
