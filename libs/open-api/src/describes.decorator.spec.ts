import { expect, it } from '@jest/globals';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ApiBody,
  ApiExcludeController,
  ApiExcludeEndpoint,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  ApiSecurity,
  SwaggerModule,
} from '@nestjs/swagger';
import { Describes, DescribesSecurity, NoneDescribed, NotDescribed } from './describes.decorator.js';

const schema = { type: 'string' };
const content = { 'application/json': { schema, examples: { one: { value: 'x' } } } };
const answer = { description: 'Told.', headers: { H: { description: 'A header.', schema } }, content };

@Controller('a/:id')
class Ours {
  @Post()
  @Describes({
    operationId: 'told',
    tags: ['Some'],
    summary: 'Tells.',
    description: 'Tells it.',
    parameters: [
      { name: 'id', in: 'path', description: 'The id.', schema },
      { name: 'q', in: 'query', schema },
      { name: 'p', in: 'query', required: true, schema },
      { name: 'X-H', in: 'header', description: 'The header.', schema },
    ],
    requestBody: { required: true, description: 'What to tell.', content },
    responses: { 200: answer, 404: { description: 'None.' } },
  })
  @DescribesSecurity({ bearer: ['read'] })
  tell(): string {
    return '';
  }

  @Get('open')
  @Describes({ operationId: 'open', tags: [], responses: { 204: { description: '' } } })
  @DescribesSecurity({})
  open(): string {
    return '';
  }

  @Get('hidden')
  @NotDescribed()
  hidden(): string {
    return '';
  }
}

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

  @Get('hidden')
  @ApiExcludeEndpoint()
  hidden(): string {
    return '';
  }
}

@Controller('b')
@NoneDescribed()
class OursHidden {
  @Get()
  get(): string {
    return '';
  }
}

@Controller('b')
@ApiExcludeController()
class TheirsHidden {
  @Get()
  get(): string {
    return '';
  }
}

/** The paths in the document of an app that has these controllers. */
async function pathsOf(...controllers: (new () => object)[]): Promise<unknown> {
  @Module({ controllers })
  class App {}
  const app = await NestFactory.create(App, { preview: true, abortOnError: false, logger: false });
  const { paths } = SwaggerModule.createDocument(app, {
    openapi: '3.0.0',
    info: { title: '', version: '' },
    components: {},
  });
  return JSON.parse(JSON.stringify(paths));
}

it('routes are described as by the decorators of @nestjs/swagger', async () => {
  const ours = await pathsOf(Ours, OursHidden);
  expect(Object.keys(ours as object)).toEqual(['/a/{id}', '/a/{id}/open']);
  expect(ours).toEqual(await pathsOf(Theirs, TheirsHidden));
});
