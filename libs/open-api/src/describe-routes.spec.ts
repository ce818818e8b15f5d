import { expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SwaggerModule } from '@nestjs/swagger';
import { describeRoutes } from './describe-routes.js';
import type { Operation, Schemas } from './open-api-3-0.js';

const operation: Operation = {
  operationId: 'get',
  tags: [],
  summary: '',
  security: [{}],
  parameters: [],
  responses: {
    200: {
      description: '',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Outer' } } },
    },
  },
};
const SCHEMAS: Schemas = {
  Outer: { type: 'array', items: { $ref: '#/components/schemas/Inner' } },
  Inner: { type: 'object', properties: { a: { type: 'string' } } },
  Unused: { type: 'object' },
};

@Controller()
class Described {
  constructor() {
    describeRoutes(this, { get: operation }, SCHEMAS);
  }

  @Get()
  get(): string {
    return 'got';
  }
}

// That routes are described whole is tested in test/host, with the documents of hosts.
it('includes only the schemas that an operation refers to', async () => {
  @Module({ controllers: [Described] })
  class App {}
  const app = await NestFactory.create(App, { logger: false, abortOnError: false });
  const info = { title: '', version: '' };
  const document = SwaggerModule.createDocument(app, { openapi: '3.0.0', info, components: {} });
  const { Outer, Inner } = SCHEMAS;
  expect(document.components!.schemas).toEqual({ Outer, Inner });
});

it('changes neither other instances nor the behaviour of a route', () => {
  const described = new Described();
  expect(described.get()).toBe('got');
  const isDescribed = (instance: object) =>
    Reflect.hasMetadata('swagger/apiOperation', Reflect.get(instance, 'get') as object);
  expect([isDescribed(described), isDescribed(Described.prototype)]).toEqual([true, false]);
});
