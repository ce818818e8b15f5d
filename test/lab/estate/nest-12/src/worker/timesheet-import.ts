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

  /** Records all lines or none, however many there are: they wait for their turn for a minute. */
  async readAll(lines: readonly string[]): Promise<number> {
    return (await this.timeLogs.recordAll(lines.map(valuesOf), { deadline: 60_000 })).length;
  }
}

function valuesOf(line: string): TimeLogValues {
  const [projectId = '', hours = '', date = '', ...text] = line.split(',');
  return { projectId, duration: Number(hours), date, description: text.join(',') };
}
