import { existsSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { EXPORT_FORMATS, type ExportFormat, formatFault, TypeOrmExportRepository } from '../export/index.js';
import { ALL_PROJECTS, Period, TimeLogAttributes, TypeOrmTimeLogRepository } from '../time-log/index.js';
import { parseFile, parseOptions, UsageError, UUID } from './command-line.js';
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
      const part = `${file}.part`;
      const handle = await create(file, part);
      try {
        const lastEventId = await logs.export({ ...request, format, signal }, async (exported) => {
          await pipeline(
            counted(exported.content, (bytes) => context.progress.show(`${bytes} bytes`)),
            handle.createWriteStream({ flush: true }),
          );
          return exported.lastEventId;
        });
        await publish(part, file);
        return `exported ${file}${lastEventId === undefined ? '' : `\nLast-Event-ID: ${lastEventId}`}`;
      } catch (error) {
        await handle.close();
        await rm(part, { force: true });
        throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
      }
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

/** Gives the complete file its name, unless another file has got it meanwhile. */
async function publish(part: string, file: string): Promise<void> {
  try {
    await link(part, file);
  } catch (error) {
    // Some file systems have no links.
    if (existsSync(file)) throw existing(file, error);
    return rename(part, file);
  }
  await rm(part);
}

function existing(file: string, cause?: unknown): Error {
  return new Error(`${file} exists already: give the export another name`, { cause });
}

/** Creates the file that gets its name when it is complete. */
async function create(file: string, part: string): Promise<FileHandle> {
  if (existsSync(file)) throw existing(file);
  return open(part, 'wx', 0o600).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'EEXIST'
        ? `${part} exists: another export is running; if it was interrupted, remove the file`
        : `${file} cannot be written (${code}): let this user write to its folder, or name a file in another one`,
      { cause: error },
    );
  });
}

async function* counted(content: AsyncIterable<Uint8Array>, report: (bytes: number) => void) {
  let sum = 0;
  for await (const bytes of content) {
    report((sum += bytes.length));
    yield bytes;
  }
}

await runAsProgram(import.meta.filename, exportCommand);
