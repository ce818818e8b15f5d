import 'reflect-metadata';
import { createRequire } from 'node:module';
import { Controller, Get, Module, UseFilters, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/*
 * An app of ES modules that uses the package, with controllers of a library that is CommonJS and uses it too. Prints
 * what each build makes of the other's classes, and what the app answers.
 */

const require = createRequire(import.meta.url);
const load = async (entry) => ({ esm: await import(entry), commonJs: require(entry) });
const [auth, errors, timeLog] = await Promise.all(
  ['time-logs/auth', 'time-logs/errors', 'time-logs/time-log'].map(load),
);

/** Whether an object of one build is an instance of the other's class. */
function recognised({ esm, commonJs }, name, make) {
  if (esm[name] === commonJs[name]) throw new Error(`${name} is there once`);
  return [make(esm[name]) instanceof commonJs[name], make(commonJs[name]) instanceof esm[name]];
}

/** A controller with guard and filter of one build, and scopes and errors of the other. */
function controller(path, { guards, throws }) {
  class Routes {
    refuse() {
      throw new throws.errors.DomainError('NOT_FOUND', `thrown below ${path}`);
    }
    close() {
      throw new Error('the scope was not asked for');
    }
  }
  decorate(Routes, 'refuse', Get('refused'));
  decorate(Routes, 'close', Get('closed'), throws.auth.Scopes(['a-scope']));
  UseGuards(guards.auth.AccessGuard)(Routes);
  UseFilters(guards.errors.ErrorEnvelopeFilter)(Routes);
  Controller(path)(Routes);
  return Routes;
}

function decorate({ prototype }, method, ...decorators) {
  for (const decorator of decorators) {
    decorator(prototype, method, Object.getOwnPropertyDescriptor(prototype, method));
  }
}

const [esm, commonJs] = ['esm', 'commonJs'].map((build) => ({ auth: auth[build], errors: errors[build] }));
class AppModule {}
Module({
  imports: [
    esm.auth.BearerAuthModule.forRoot({
      verifier: { verify: async (id) => ({ id, scopes: [] }) },
      realm: 'app',
    }),
  ],
  controllers: [
    controller('esm', { guards: esm, throws: commonJs }),
    controller('commonjs', { guards: commonJs, throws: esm }),
  ],
})(AppModule);

const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
await app.listen(0, '127.0.0.1');
const answerOf = async (path) => {
  const response = await fetch(`${await app.getUrl()}${path}`, {
    headers: { authorization: 'Bearer a-token' },
  });
  return [path, response.status, (await response.json()).message];
};
const log = {
  projectId: '11111111-1111-1111-1111-111111111111',
  duration: 1,
  description: '',
  date: '2026-01-31',
};
const answers = ['/esm/refused', '/esm/closed', '/commonjs/refused', '/commonjs/closed'].map(answerOf);
console.log(
  JSON.stringify({
    DomainError: recognised(errors, 'DomainError', (DomainError) => new DomainError('NOT_FOUND', '')),
    TimeLog: recognised(timeLog, 'TimeLog', (TimeLog) => TimeLog.record(log, '')),
    answers: await Promise.all(answers),
  }),
);
await app.close();
