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
import { describeRoutes, SecurityRequirement } from './describe-routes.js';
import type { Operation, Schemas } from './open-api-3-0.js';

const schema = { type: 'string' };
const content = { 'application/json': { schema, examples: { one: { value: 'x' } } } };
const response = { description: 'Sent.', headers: { H: { description: 'A header.', schema } }, content };

@Controller('a/:id')
class Described {
  constructor() {
    describeRoutes(this, { send, open }, SCHEMAS);
  }

  @Post()
  send(): string {
    return 'sent';
  }

  @Get('open')
  open(): string {
    return '';
  }

  @Get('own')
  @SecurityRequirement({ bearer: ['own'] })
  own(): string {
    return '';
  }
}

const send: Operation = {
  operationId: 'sent',
  tags: ['Some'],
  summary: 'Sends.',
  description: 'Sends it.',
  security: [{ bearer: ['read'] }],
  parameters: [
    { name: 'id', in: 'path', required: true, description: 'The id.', schema },
    { name: 'q', in: 'query', required: false, schema },
    { name: 'p', in: 'query', required: true, schema },
    { name: 'X-H', in: 'header', required: false, description: 'The header.', schema },
  ],
  requestBody: { required: true, description: 'The message.', content },
  responses: { 200: response, 404: { description: 'None.' } },
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

/** The same routes with decorators. These run from the last to the first. */
@Controller('a/:id')
class Decorated {
  @Post()
  @ApiOperation({ operationId: 'sent', tags: ['Some'], summary: 'Sends.', description: 'Sends it.' })
  @ApiBody({ required: true, description: 'The message.', ...content['application/json'] })
  @ApiHeader({ name: 'X-H', description: 'The header.', required: false, schema })
  @ApiQuery({ name: 'p', required: true, schema })
  @ApiQuery({ name: 'q', required: false, schema })
  @ApiParam({ name: 'id', description: 'The id.', schema })
  @ApiResponse({ ...response, status: 200 })
  @ApiResponse({ description: 'None.', status: 404 })
  @ApiSecurity('bearer', ['read'])
  send(): string {
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

/** Returns the document of an app with this controller. */
async function documentOf(controller: new () => object): Promise<OpenAPIObject> {
  @Module({ controllers: [controller] })
  class App {}
  const app = await NestFactory.create(App, { logger: false, abortOnError: false });
  const info = { title: '', version: '' };
  const document = SwaggerModule.createDocument(app, { openapi: '3.0.0', info, components: {} });
  return JSON.parse(JSON.stringify(document)) as OpenAPIObject;
}

describe('describeRoutes', () => {
  it('describes routes like the decorators of @nestjs/swagger', async () => {
    const { paths } = await documentOf(Described);
    expect(Object.keys(paths)).toEqual(['/a/{id}', '/a/{id}/open', '/a/{id}/own']);
    const decorated = JSON.stringify((await documentOf(Decorated)).paths).replaceAll(
      'Decorated_own',
      'Described_own',
    );
    expect(paths).toEqual(JSON.parse(decorated.replaceAll('"tags":["Decorated"]', '"tags":["Described"]')));
  });

  it('includes only the schemas that an operation refers to', async () => {
    const { Outer, Inner } = SCHEMAS;
    expect((await documentOf(Named)).components!.schemas).toEqual({ Outer, Inner });
  });

  it('changes neither other instances nor the behaviour of a route', () => {
    const described = new Described();
    expect(described.send()).toBe('sent');
    const isDescribed = (instance: object) =>
      Reflect.hasMetadata('swagger/apiOperation', Reflect.get(instance, 'send') as object);
    expect([isDescribed(described), isDescribed(Described.prototype)]).toEqual([true, false]);
  });
});
