import { Injectable } from '@nestjs/common';
import { TimeLogService, type TimeLogValues } from 'time-logs/time-log';

/** Records the lines of a timesheet: project, hours, day and text, with a comma between. */
@Injectable()
export class TimesheetImport {
  constructor(private readonly timeLogs: TimeLogService) {}

  /** Returns how many logs are new. A sheet that is read again makes none: each line has a key. */
  async read(sheet: string, lines: readonly string[]): Promise<number> {
    const outcomes = await Promise.all(
      lines.map(valuesOf).map((values, index) => {
        return this.timeLogs.recordOnce(values, { caller: 'timesheets', text: `${sheet}:${index}` });
      }),
    );
    return outcomes.filter(({ isReplay }) => !isReplay).length;
  }
}

function valuesOf(line: string): TimeLogValues {
  const [projectId = '', hours = '', date = '', ...text] = line.split(',');
  return { projectId, duration: Number(hours), date, description: text.join(',') };
}
