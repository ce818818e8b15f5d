import { afterEach, describe, expect, it } from '@jest/globals';
import {
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  type INestApplication,
  Module,
  type ModuleMetadata,
  Patch,
  Post,
  Query,
  type Type,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import {
  ApiProperty,
  DocumentBuilder,
  type OpenAPIObject,
  PartialType,
  SwaggerModule,
} from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { Ajv } from 'ajv';
import { z } from 'zod';
import { BearerAuthModule } from '../../libs/auth/src/index.js';
import { type AttributesSchema, TimeLogModule } from '../../libs/host-kit/src/index.js';
import { CreateTimeLogDto, ListTimeLogsDto, TypeOrmTimeLogRepository } from '../../src/time-log/index.js';

const ATTRIBUTES = z.strictObject({ ticket: z.string().max(9) });
const fail = () => {
  throw new Error('the schema fails');
};
const ours = { caller: () => ({ scopes: [] }) };

interface Answer {
  readonly description: string;
  readonly headers?: object;
  readonly content?: Readonly<Record<string, Body>>;
}
interface Body {
  readonly schema: { readonly $ref: string };
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly security: readonly object[];
  readonly requestBody?: Answer;
  readonly responses: Readonly<Record<string, Answer>>;
}

let app: INestApplication | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function documentOf(
  imports: NonNullable<ModuleMetadata['imports']>,
  controllers: Type[] = [],
): Promise<OpenAPIObject> {
  @Module({ imports, controllers })
  class HostModule {}
  const testing = Test.createTestingModule({ imports: [HostModule] });
  // A document needs no database.
  const module = await testing.overrideProvider(TypeOrmTimeLogRepository).useValue({}).compile();
  app = module.createNestApplication({ logger: false });
  return SwaggerModule.createDocument(app, new DocumentBuilder().addBearerAuth().build());
}

const operationsOf = ({ paths }: OpenAPIObject, prefix = '') =>
  Object.entries(paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([, item]) => Object.values(item as object) as Operation[]);
const statusesOf = (document: OpenAPIObject) =>
  new Set(operationsOf(document).flatMap(({ responses }) => Object.keys(responses)));

describe('the OpenAPI document of a host', () => {
  it('names the schema of every body and of every error', async () => {
    const document = await documentOf([TimeLogModule.forRoot(ours)]);
    const bodies = operationsOf(document).flatMap(({ requestBody, responses }) => [
      ...(requestBody ? [requestBody] : []),
      ...Object.values(responses),
    ]);
    const schemas = bodies.flatMap(({ content = {} }) => Object.values(content).map(({ schema }) => schema));
    expect(schemas.length).toBeGreaterThan(40);
    for (const schema of schemas)
      expect(schema).toEqual({ $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/) });
    expect(Object.keys(document.components!.schemas!)).toEqual(
      expect.arrayContaining([
        'ErrorBody',
        'NewTimeLog',
        'TimeLogCorrection',
        'TimeLogEvents',
        'TimeLogList',
      ]),
    );
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!);
    expect([...new Set(references)].sort()).toEqual(Object.keys(document.components!.schemas!).sort());
    // A class without members would have this.
    expect(text).not.toContain('"properties":{}');
    expect(document.components!.schemas!.TimeLogEvents).toMatchObject({
      type: 'array',
      items: { $ref: '#/components/schemas/TimeLogEvent' },
    });
    expect(document.components!.schemas!.TimeLogEvent).not.toHaveProperty('type', 'object');
  });

  it('asks for a token by the name that the host gives the scheme', async () => {
    const scheme = async (openApi?: { securityScheme: string }) =>
      operationsOf(await documentOf([TimeLogModule.forRoot({ ...ours, openApi })])).map(
        ({ security }) => security,
      );
    expect(await scheme()).toContainEqual([{ bearer: ['time-logs:read'] }]);
    await app!.close();
    const named = await scheme({ securityScheme: 'staff' });
    expect(named).toContainEqual([{ staff: ['time-logs:read'] }]);
    expect(JSON.stringify(named)).not.toContain('bearer');
  });

  it('shows no other scope in the examples of a route than its own', async () => {
    for (const { security, responses } of operationsOf(await documentOf([TimeLogModule.forRoot(ours)]))) {
      const text = JSON.stringify(responses[403]!.content);
      const shown = [...text.matchAll(/"message":"the token lacks the scope ([^"]+)"/g)].map(
        ([, name]) => name,
      );
      expect(shown).toEqual(Object.values(security[0]!).flat());
    }
  });

  it('describes no route of ours if the host says that it makes no document', async () => {
    const document = await documentOf([TimeLogModule.forRoot({ ...ours, openApi: false })]);
    expect(
      operationsOf(document).flatMap(({ responses }) =>
        Object.values(responses).map(({ content }) => content),
      ),
    ).toEqual(operationsOf(document).map(() => undefined));
    expect(document.components!.schemas).toEqual({});
  });

  it('documents a limit of requests if there is one', async () => {
    const verifier = { verify: () => Promise.resolve(undefined) };
    const auth = (admit?: () => void) =>
      BearerAuthModule.forRoot({ verifier, realm: 'host', ...(admit && { admit }) });
    const limiting = auth(() => undefined);
    for (const [imports, isTold] of [
      [[TimeLogModule.forRoot({}), auth()], false],
      [[TimeLogModule.forRoot({}), limiting], true],
      [[TimeLogModule.forRoot(ours), limiting], false],
      [[TimeLogModule.forRoot({ ...ours, openApi: { rateLimit: true } })], true],
    ] as const) {
      const document = await documentOf([...imports]);
      await app!.close();
      expect(statusesOf(document).has('429')).toBe(isTold);
      expect(JSON.stringify(document).includes('RateLimit-Policy')).toBe(isTold);
    }
  });

  it('says of errors that a filter of the host answers when they come, and not what their body is', async () => {
    @Catch()
    class HostFilter implements ExceptionFilter {
      catch(): void {
        return;
      }
    }
    const document = await documentOf([TimeLogModule.forRoot({ ...ours, filter: HostFilter })]);
    const answers = operationsOf(document).flatMap(({ responses }) => Object.entries(responses));
    const errors = answers.filter(([status]) => Number(status) >= 400);
    expect(errors.length).toBeGreaterThan(30);
    for (const [, { content, description }] of errors)
      expect([content, description]).toEqual([undefined, expect.stringMatching(/./)]);
    expect(Object.keys(document.components!.schemas!).filter((name) => name.endsWith('ErrorBody'))).toEqual(
      [],
    );
    expect(answers.filter(([status]) => status === '200').every(([, { content }]) => content)).toBe(true);
  });

  it('describes each of two modules as it is, with the source of its events', async () => {
    class Others extends TimeLogModule {}
    const document = await documentOf([
      TimeLogModule.forRoot(ours),
      Others.forRoot({ ...ours, source: 'urn:others', openApi: { securityScheme: 'others' } }),
      RouterModule.register([{ path: 'others', module: Others }]),
    ]);
    const first = operationsOf(document, '/time-logs');
    const second = operationsOf(document, '/others/time-logs');
    expect([first.length, second.length]).toEqual([10, 10]);
    for (const [operations, scheme] of [
      [first, 'bearer'],
      [second, 'others'],
    ] as const)
      for (const { security } of operations) expect(Object.keys(security[0]!)).toEqual([scheme]);
    const examples = (operations: Operation[]) =>
      JSON.stringify(operations.map(({ responses }) => responses['200']?.content));
    expect(examples(second)).toContain('"source":"urn:others"');
    expect(examples(second)).not.toContain('"source":"/api/v1/time-logs"');
    expect(examples(first)).toContain('"source":"/api/v1/time-logs"');
  });

  it.each<[string, AttributesSchema | undefined, boolean | undefined]>([
    ['no attributes', undefined, false],
    ['optional attributes', ATTRIBUTES.optional(), false],
    ['required attributes', ATTRIBUTES, true],
    ['attributes with a default', ATTRIBUTES.default({ ticket: 'a' }), false],
    ['attributes that are looked up', ATTRIBUTES.optional().refine(() => Promise.resolve(true)), undefined],
    ['a schema that fails', ATTRIBUTES.or(z.custom(() => fail())), undefined],
  ])('has only examples that are valid with %s', async (_what, attributes, isRequired) => {
    const document = await documentOf([TimeLogModule.forRoot({ ...ours, attributes })]);
    const { components } = document;
    const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema({ $id: 'host:', components });
    const bodies = operationsOf(document).flatMap(({ requestBody, responses }) => [
      ...(requestBody ? [requestBody] : []),
      ...Object.values(responses),
    ]);
    const contents = bodies.flatMap(({ content = {} }) => Object.values(content));
    const invalid = contents.flatMap(({ schema: { $ref }, examples = {} }) => {
      const validate = ajv.getSchema(`host:${$ref}`)!;
      return Object.values(examples).filter(({ value }) => !validate(value));
    });
    expect(invalid).toEqual([]);
    const ofLogs = contents.filter(({ schema: { $ref } }) => /NewTimeLogs?$/.test($ref));
    expect(ofLogs.map(({ examples }) => examples === undefined)).toEqual(
      Array<boolean>(2).fill(isRequired !== false),
    );
    const { NewTimeLog: log } = document.components!.schemas as Record<string, { required: string[] }>;
    expect(log!.required.includes('attributes')).toBe(isRequired === true);
  });

  it('takes no title of the attributes of a host for the name of a schema', async () => {
    const attributes = z
      .object({ title: z.string().meta({ title: 'TimeLog' }) })
      .meta({ title: 'Our attributes' });
    const document = await documentOf([TimeLogModule.forRoot({ ...ours, attributes })]);
    const { NewTimeLog: sent, TimeLog: listed } = document.components!.schemas as Record<
      string,
      { properties: { attributes: object } }
    >;
    const form = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] };
    expect(sent!.properties.attributes).toEqual(expect.objectContaining(form));
    expect(listed!.properties).toHaveProperty('duration');
    expect(listed!.properties.attributes).toEqual(expect.objectContaining(form));
    expect(Object.keys(document.components!.schemas!)).not.toContain('Our attributes');
  });

  it('shows the members of our DTOs in classes of the host that extend them', async () => {
    class Ticket extends CreateTimeLogDto {
      @ApiProperty({ type: 'string' })
      ticket!: string;
    }
    class Change extends PartialType(CreateTimeLogDto) {}
    @Controller('tickets')
    class TicketController {
      @Post()
      add(@Body() ticket: Ticket): Ticket {
        return ticket;
      }
      @Patch()
      change(@Body() change: Change): Change {
        return change;
      }
      @Get()
      list(@Query() query: ListTimeLogsDto): ListTimeLogsDto {
        return query;
      }
    }
    const document = await documentOf([TimeLogModule.forRoot(ours)], [TicketController]);
    const { Ticket: ticket, Change: change } = document.components!.schemas as Record<
      string,
      { properties: object; required?: string[] }
    >;
    expect(ticket).toMatchObject({
      properties: { projectId: { type: 'string', pattern: expect.any(String) }, ticket: { type: 'string' } },
    });
    const members = ['date', 'description', 'duration', 'projectId'];
    expect(Object.keys(ticket!.properties).sort()).toEqual([...members, 'ticket']);
    expect(ticket!.required!.toSorted()).toEqual(['date', 'duration', 'projectId', 'ticket']);
    expect(Object.keys(change!.properties).sort()).toEqual(members);
    expect(change!.required).toBeUndefined();
    const { parameters } = document.paths['/tickets']!.get!;
    expect(parameters).toMatchObject(
      ['projectId', 'from', 'to', 'page', 'limit'].map((name) => ({ name, in: 'query', required: false })),
    );
  });
});
