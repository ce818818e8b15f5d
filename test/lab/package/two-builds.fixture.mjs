import 'reflect-metadata';
import { createRequire } from 'node:module';
import { Controller, Get, Module, UseFilters, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/*
 * An app of ES modules that uses the package, with a controller of a CommonJS library that uses it, too. Prints whether
 * each build recognizes objects of the other, and what the app answers.
 */

const require = createRequire(import.meta.url);
const load = async (entry) => [await import(entry), require(entry)];
const [auth, errors, timeLog] = await Promise.all(
  ['time-logs/auth', 'time-logs/errors', 'time-logs/time-log'].map(load),
);

/** Returns whether an object of each build is an instance of the class of the other build. */
function recognized([esm, commonJs], name, make) {
  if (esm[name] === commonJs[name]) throw new Error(`there is one ${name}`);
  return [make(esm[name]) instanceof commonJs[name], make(commonJs[name]) instanceof esm[name]];
}

/** Returns a controller with the guard and filter of one build, and the scopes and errors of the other. */
function controller(path, own, other) {
  class Routes {
    refuse() {
      throw new errors[other].DomainError('NOT_FOUND', `thrown below ${path}`);
    }
    close() {
      throw new Error('the scope was not checked');
    }
  }
  const describe = (name) => Object.getOwnPropertyDescriptor(Routes.prototype, name);
  Get('refused')(Routes.prototype, 'refuse', describe('refuse'));
  Get('closed')(Routes.prototype, 'close', describe('close'));
  auth[other].Scopes(['a-scope'])(Routes.prototype, 'close', describe('close'));
  UseGuards(auth[own].AccessGuard)(Routes);
  UseFilters(errors[own].ErrorEnvelopeFilter)(Routes);
  Controller(path)(Routes);
  return Routes;
}

class AppModule {}
const verifier = { verify: async (id) => ({ id, scopes: [] }) };
Module({
  imports: [auth[0].BearerAuthModule.forRoot({ verifier, realm: 'app' })],
  controllers: [controller('esm', 0, 1), controller('commonjs', 1, 0)],
})(AppModule);
const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
await app.listen(0, '127.0.0.1');
const answerOf = async (path) => {
  const headers = { authorization: 'Bearer a-token' };
  const response = await fetch(`${await app.getUrl()}${path}`, { headers });
  return [path, response.status, (await response.json()).message];
};
const log = { projectId: '11111111-1111-1111-1111-111111111111', duration: 1, date: '2026-01-31' };
const answers = ['/esm/refused', '/esm/closed', '/commonjs/refused', '/commonjs/closed'].map(answerOf);
console.log(
  JSON.stringify({
    DomainError: recognized(errors, 'DomainError', (DomainError) => new DomainError('NOT_FOUND', '')),
    TimeLog: recognized(timeLog, 'TimeLog', (TimeLog) => TimeLog.of(log, '')),
    answers: await Promise.all(answers),
  }),
);
await app.close();
