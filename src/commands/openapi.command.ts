import 'reflect-metadata';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InitializeOnPreviewAllowlist, NestFactory, RouterModule } from '@nestjs/core';
import { EdgeAdapter } from '../../libs/http-edge/src/index.js';
import { DOCUMENT_FILE, openApiText } from '../api-docs/index.js';
import { AppModule, errors, scopes, tags } from '../app.module.js';
import { loadConfig } from '../process/config.js';
import { refuseArguments } from './command-line.js';
import { type Command, runAsProgram } from './run-command.js';

const PROJECT = join(import.meta.dirname, '..', '..', '..');
const FILE = join(PROJECT, 'src', 'api-docs', DOCUMENT_FILE);

export const openapiCommand: Command = {
  usage: `Usage:
  npm run openapi

Writes the OpenAPI document, ${FILE}, from what the routes say of themselves.`,
  run: async ({ args }) => {
    refuseArguments(args);
    // The document is the same everywhere: that of a deployment without settings. It comes from the routes alone. So
    // the app is not built and no database is needed; only what sets the prefix of the routes runs.
    InitializeOnPreviewAllowlist.add(RouterModule);
    const config = loadConfig({}, false);
    const app = await NestFactory.create(
      AppModule.forRoot({ config, databaseUrl: '', migrationUrl: '' }),
      new EdgeAdapter(config.limits.headersLimit),
      { preview: true, abortOnError: false, logger: false },
    );
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
      version: string;
    };
    const { limits } = config;
    writeFileSync(FILE, await openApiText(app, { version, errors, scopes, tags, limits }));
    return `written: ${FILE}`;
  },
};

await runAsProgram(import.meta.filename, openapiCommand);
