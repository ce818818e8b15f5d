import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ApiBody,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  ApiSecurity,
  type OpenAPIObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { describeRoutes, DescribesSecurity } from './describe.js';
import type { Operation, Schemas } from './open-api-3-0.js';

const schema = { type: 'string' };
const content = { 'application/json': { schema, examples: { one: { value: 'x' } } } };
const answer = { description: 'Told.', headers: { H: { description: 'A header.', schema } }, content };

@Controller('a/:id')
class Ours {
  constructor() {
    describeRoutes(this, { tell, open }, SCHEMAS);
  }

  @Post()
  tell(): string {
    return 'told';
  }

  @Get('open')
  open(): string {
    return '';
  }

  @Get('own')
  @DescribesSecurity({ bearer: ['own'] })
  own(): string {
    return '';
  }
}

const tell: Operation = {
  operationId: 'told',
  tags: ['Some'],
  summary: 'Tells.',
  description: 'Tells it.',
  security: [{ bearer: ['read'] }],
  parameters: [
    { name: 'id', in: 'path', required: true, description: 'The id.', schema },
    { name: 'q', in: 'query', required: false, schema },
    { name: 'p', in: 'query', required: true, schema },
    { name: 'X-H', in: 'header', required: false, description: 'The header.', schema },
  ],
  requestBody: { required: true, description: 'What to tell.', content },
  responses: { 200: answer, 404: { description: 'None.' } },
};
const open: Operation = {
  operationId: 'open',
  tags: [],
  summary: '',
  security: [{}],
  parameters: [],
  responses: { 204: { description: '' } },
};
const named: Operation = {
  ...open,
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

/** Decorators run from below: the first parameter is the last here. */
@Controller('a/:id')
class Theirs {
  @Post()
  @ApiOperation({ operationId: 'told', tags: ['Some'], summary: 'Tells.', description: 'Tells it.' })
  @ApiBody({ required: true, description: 'What to tell.', ...content['application/json'] })
  @ApiHeader({ name: 'X-H', description: 'The header.', required: false, schema })
  @ApiQuery({ name: 'p', required: true, schema })
  @ApiQuery({ name: 'q', required: false, schema })
  @ApiParam({ name: 'id', description: 'The id.', schema })
  @ApiResponse({ ...answer, status: 200 })
  @ApiResponse({ description: 'None.', status: 404 })
  @ApiSecurity('bearer', ['read'])
  tell(): string {
    return '';
  }

  @Get('open')
  @ApiOperation({ operationId: 'open', tags: [] })
  @ApiResponse({ description: '', status: 204 })
  @ApiSecurity({})
  open(): string {
    return '';
  }

  @Get('own')
  @ApiSecurity('bearer', ['own'])
  own(): string {
    return '';
  }
}

@Controller('b')
class Named {
  constructor() {
    describeRoutes(this, { get: named }, SCHEMAS);
  }

  @Get()
  get(): string {
    return '';
  }
}

/** Resolves with the document of an app that has this controller. */
async function documentOf(controller: new () => object): Promise<OpenAPIObject> {
  @Module({ controllers: [controller] })
  class App {}
  const app = await NestFactory.create(App, { logger: false, abortOnError: false });
  const info = { title: '', version: '' };
  const document = SwaggerModule.createDocument(app, { openapi: '3.0.0', info, components: {} });
  return JSON.parse(JSON.stringify(document)) as OpenAPIObject;
}

describe('describeRoutes', () => {
  it('describes routes as the decorators of @nestjs/swagger do', async () => {
    const { paths } = await documentOf(Ours);
    expect(Object.keys(paths)).toEqual(['/a/{id}', '/a/{id}/open', '/a/{id}/own']);
    const theirs = JSON.stringify((await documentOf(Theirs)).paths).replaceAll('Theirs_own', 'Ours_own');
    expect(paths).toEqual(JSON.parse(theirs.replaceAll('"tags":["Theirs"]', '"tags":["Ours"]')));
  });

  it('names the schemas that an operation refers to, and no others', async () => {
    const { Outer, Inner } = SCHEMAS;
    expect((await documentOf(Named)).components!.schemas).toEqual({ Outer, Inner });
  });

  it('leaves other instances, and what a route does, as they are', () => {
    const described = new Ours();
    expect(described.tell()).toBe('told');
    const isDescribed = (instance: object) =>
      Reflect.hasMetadata('swagger/apiOperation', Reflect.get(instance, 'tell') as object);
    expect([isDescribed(described), isDescribed(Ours.prototype)]).toEqual([true, false]);
  });
});
