import { pipeline } from 'node:stream/promises';
import { EXPORT_FORMATS, type ExportFormat, formatFault, TypeOrmExportRepository } from '../export/index.js';
import { ALL_PROJECTS, Period, TimeLogAttributes, TypeOrmTimeLogRepository } from '../time-log/index.js';
import { parseFile, parseOptions, UsageError, UUID } from './command-line.js';
import { createFile } from './new-file.js';
import { type Command, runAsProgram } from './run-command.js';
import { withOwnerDatabase } from './with-owner-database.js';

/** Attributes that are only read. */
class StoredAttributes extends TimeLogAttributes {
  override readonly areKnown = true;
}

export const exportCommand: Command = {
  usage: `Usage:
  npm run export -- [--project UUID]... [--from DAY] [--to DAY] [--format ${EXPORT_FORMATS.join('|')}] FILE

Writes the logs of one moment to FILE, which must not exist: of these projects, or of all. The service may be running.
Without days it prints the place in the feed after which a copy of these logs goes on.`,
  interrupted: 'interrupted: nothing was exported',
  run: (context) => {
    const { file, format, ...request } = parse(context.args);
    const { signal } = context;
    return withOwnerDatabase(context, 'tables', async (database, _dataSource, config) => {
      const attributes = config.attributesSchema === undefined ? undefined : new StoredAttributes();
      const logs = new TypeOrmExportRepository(new TypeOrmTimeLogRepository(database, undefined, attributes));
      return createFile(file, 'export', async (target) => {
        const lastEventId = await logs.export({ ...request, format, signal }, async (exported) => {
          await pipeline(
            counted(exported.content, (bytes) => context.progress.show(`${bytes} bytes`)),
            target,
          );
          return exported.lastEventId;
        });
        return `exported ${file}${lastEventId === undefined ? '' : `\nLast-Event-ID: ${lastEventId}`}`;
      });
    });
  },
};

function parse(args: readonly string[]) {
  const { values, positionals } = parseOptions(args, {
    project: { type: 'string', multiple: true },
    from: { type: 'string' },
    to: { type: 'string' },
    format: { type: 'string' },
  });
  const { project = [], from, to, format = 'csv' } = values;
  const fault = project.every((id) => UUID.test(id))
    ? formatFault(format)?.message
    : '--project takes a UUID';
  if (fault !== undefined) throw new UsageError(fault);
  return {
    file: parseFile(positionals),
    format: format as ExportFormat,
    filter: { period: Period.of(from, to) },
    access: project.length > 0 ? project.map((id) => id.toLowerCase()) : ALL_PROJECTS,
  } as const;
}

async function* counted(content: AsyncIterable<Uint8Array>, report: (bytes: number) => void) {
  let sum = 0;
  for await (const bytes of content) {
    report((sum += bytes.length));
    yield bytes;
  }
}

await runAsProgram(import.meta.filename, exportCommand);
