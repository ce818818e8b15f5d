import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IsString } from 'class-validator';
import { removeLibpqVariables } from '../../../src/config.js';
import { compare } from './compare.js';
import { NO_LOGS } from './data-set.js';
import { Driver } from './driver.js';
import { makeToken, Program, runCommand } from './program.js';
import { summaryOf } from './results.js';
import { Server } from './server.js';

// What the DTOs of a large host cost a create: the service alone and beside 1,000 classes with rules of
// class-validator, in turn. Usage: npm run bench -- dtos [ROUNDS] [SECONDS]

const DTOS = 1_000;

if (process.env.DTOS_OF_A_HOST) registerDtos();
else await measure();

/** What each of these processes does before the service starts in it: Node imports this file first. */
function registerDtos(): void {
  for (let i = 0; i < DTOS; i++) {
    class Dto {
      declare text: string;
    }
    for (let rule = 0; rule < 5; rule++) IsString()(Dto.prototype, `text${rule}`);
  }
}

async function measure(): Promise<void> {
  const [rounds = 10, seconds = 4] = process.argv.slice(2).map(Number);
  removeLibpqVariables(process.env);
  const { signal } = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), 'time-logs-bench-'));
  const server = await Server.open({ directory: folder }, signal);
  const driver = Driver.start(signal);
  const programs: Program[] = [];
  const start = async (database: string, env: Record<string, string>) => {
    await server.create(database);
    const databaseUrl = server.urlOf(database);
    await runCommand('migrate', [], databaseUrl);
    const token = await makeToken(databaseUrl);
    const logFile = join(folder, 'service.log');
    programs.push(await Program.start({ name: 'service', databaseUrl, token, logFile, signal, env }));
  };
  try {
    await start('alone', {});
    await start('beside', { DTOS_OF_A_HOST: '1', NODE_OPTIONS: `--import=${import.meta.filename}` });
    const options = { connections: 64, rounds, seconds };
    const log = (line: string) => console.error(line);
    const bench = { server, driver, programs, data: NO_LOGS, options, log, signal };
    const [alone, beside] = (await compare(bench, 'create')).map(summaryOf);
    console.log('| | requests/s | p50 ms | Node CPU µs |\n|---|---|---|---|');
    for (const [what, { perSecond, p50, cpu }] of [
      ['alone', alone!],
      [`beside ${DTOS} DTOs`, beside!],
    ] as const)
      console.log(`| ${what} | ${Math.round(perSecond)} | ${p50.toFixed(2)} | ${cpu.toFixed(1)} |`);
    console.log(`\nNode CPU of a create beside them: ${(beside!.cpu / alone!.cpu).toFixed(3)} × alone.`);
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    driver.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
