import { readFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import { TimesheetImport } from './timesheet-import.js';
import { WorkerModule } from './worker.module.js';

/** `node dist/worker/main FILE` records a timesheet. */
const [file = ''] = process.argv.slice(2);
const worker = await NestFactory.createApplicationContext(WorkerModule, { logger: ['error'] });
const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
console.log(`${await worker.get(TimesheetImport).read(file, lines)} new of ${lines.length}`);
await worker.close();
