/** The architecture rules. Patterns are generic, so that a new module is covered the day it appears. */
const MODULE = '^src/([^/]+)/';
/** Composition root, process and commands: they know the modules. */
const ROOT = '^src/((commands|process)/)?[^/]+\\.ts$';
/** What other code may import of a module. */
const ENTRY = '^src/([^/]+/((setup|transports|time-logs)/)?index|time-log/time-log\\.module)\\.ts$';
/** Read models of time logs: modules that the module of time logs composes, and which see layers of it. */
const READ_MODEL = '^src/(totals|feed|export)/';
/** What composes them. */
const COMPOSING = '^src/time-log/time-log\\.(module|providers|routes)\\.ts$';
/** The modules that a setting or a host turns on. The core does without them, and is read without them. */
const ADDITIONS = '^src/(attributes|backup|embedding|event-relay|messages)/';
/** The libs that only the composition root, the process and the commands need. */
const OPTIONAL_LIBS = '^libs/(embedded-postgres|jwt|time-log-client)/';

/** What is loaded before anything else, so that a mistake in a setting is reported at once. */
const SETTINGS =
  '^(src/process/(config|settings|database-url|limits)|libs/strict-url/src/(broker-url|url-query|webhook))\\.ts$';
/** The modules of libs that load no framework, for domain/. */
const PURE = '^libs/(errors/src/domain-error|auth/src/project-ids)\\.ts$';
const SINKS = '^src/event-relay/sinks/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Rule 1: no cycles.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'domain-sees-itself',
      comment: 'Rule 2: domain/ sees itself, node:, the errors of libs and the form of the ids of projects.',
      severity: 'error',
      from: { path: '^src/([^/]+)/domain/', pathNot: '\\.spec\\.ts$' },
      to: {
        pathNot: ['^src/$1/domain/', '^src/time-log/domain/', PURE],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'read-models-see-layers-of-time-logs',
      comment:
        'Rule 6 for totals, the feed and exports: of time logs they see the layers, by the rules of layers, its scopes and its options.',
      severity: 'error',
      from: { path: READ_MODEL, pathNot: '\\.spec\\.ts$' },
      to: {
        path: MODULE,
        pathNot: [
          '^src/$1/',
          '^src/time-log/(domain|application|infrastructure|api)/',
          '^src/time-log/time-log\\.options\\.ts$',
          '^src/(?!time-log)[^/]+/index\\.ts$',
        ],
      },
    },
    {
      name: 'time-logs-without-read-models',
      comment: 'The layers of time logs see neither totals, the feed nor exports: these build on them.',
      severity: 'error',
      from: { path: '^src/time-log/(domain|application|infrastructure|api)/' },
      to: { path: READ_MODEL },
    },
    {
      name: 'time-logs-compose-read-models',
      comment:
        'Rule 6 for the modules of time logs: other modules through their index.ts, but embedding, which exports them.',
      severity: 'error',
      from: { path: COMPOSING },
      to: {
        path: MODULE,
        pathNot: ['^src/time-log/', '^src/[^/]+/index\\.ts$', '^src/embedding/'],
      },
    },
    {
      name: 'application-sees-domain',
      comment:
        'Rule 3: application/ sees domain/, not api, infrastructure, TypeORM, express or class-validator.',
      severity: 'error',
      from: { path: '^src/[^/]+/application/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: [
          '^src/[^/]+/(api|infrastructure)/',
          '^src/database/',
          '(^|/)node_modules/(@nestjs/)?(typeorm|express|@types/express|class-validator|pg)/',
          '(^|/)node_modules/@nestjs/platform-express/',
        ],
      },
    },
    {
      name: 'api-not-infrastructure',
      comment: 'Rule 4: api/ not infrastructure or TypeORM.',
      severity: 'error',
      from: { path: '^src/[^/]+/api/' },
      to: {
        path: ['^src/[^/]+/infrastructure/', '^src/database/', '(^|/)node_modules/(@nestjs/)?(typeorm|pg)/'],
      },
    },
    {
      name: 'infrastructure-not-api',
      comment: 'Rule 5: infrastructure/ does not import api/. JSON leaves a store through a port of domain/.',
      severity: 'error',
      from: { path: '^src/[^/]+/infrastructure/' },
      to: { path: '^src/[^/]+/api/' },
    },
    {
      name: 'modules-through-their-index',
      comment:
        'Rule 6: another module only through its index.ts, and a lib likewise (domain-error apart, for rule 2).',
      severity: 'error',
      from: { path: MODULE, pathNot: [ROOT, READ_MODEL, COMPOSING] },
      to: { path: MODULE, pathNot: ['^src/$1/', ENTRY] },
    },
    {
      name: 'root-through-index',
      comment:
        'Rule 6 for the files of src itself and the commands: they see modules through their index.ts. The settings see only their limits: a fault of a setting is reported before anything is loaded.',
      severity: 'error',
      from: { path: ROOT },
      to: {
        path: MODULE,
        pathNot: [ENTRY, '^src/[^/]+/[^/]+\\.limits\\.ts$', ROOT],
      },
    },
    {
      name: 'libs-through-their-index',
      comment: 'Rule 6 for libs.',
      severity: 'error',
      from: { path: '^(src|libs)/([^/]+)/', pathNot: SETTINGS },
      to: {
        path: '^libs/[^/]+/',
        pathNot: ['^$1/$2/', '^libs/[^/]+/src/index\\.ts$', PURE],
      },
    },
    {
      name: 'settings-load-nothing',
      comment:
        'A fault of a setting, and help, come before the service is loaded: the index of a lib brings Nest along.',
      severity: 'error',
      from: { path: SETTINGS },
      to: { path: '^libs/[^/]+/src/index\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'libs-know-no-time-logs',
      comment: 'Rule 7: libs/ never imports src/, and only the root needs an optional lib.',
      severity: 'error',
      from: { path: '^libs/', pathNot: OPTIONAL_LIBS },
      to: { path: ['^src/', OPTIONAL_LIBS] },
    },
    {
      name: 'optional-libs-know-no-time-logs',
      comment: 'Rule 7 for the optional libs, which see themselves.',
      severity: 'error',
      from: { path: OPTIONAL_LIBS },
      to: { path: '^src/' },
    },
    {
      name: 'core-without-additions',
      comment: 'Rule 7: only the composition root, the process and the commands turn additions on.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [ROOT, ADDITIONS, '^src/time-log/time-log\\.module\\.ts$', '\\.spec\\.ts$'],
      },
      to: { path: ADDITIONS },
    },
    {
      name: 'modules-without-optional-libs',
      comment: 'Rule 7: the setup of a database alone sees the embedded one.',
      severity: 'error',
      from: { path: '^src/', pathNot: [ROOT, '^src/database/setup/', '\\.spec\\.ts$'] },
      to: { path: OPTIONAL_LIBS },
    },
    {
      name: 'client-runs-anywhere',
      comment: 'libs/time-log-client runs in browsers too: it sees itself, no package and nothing of Node.',
      severity: 'error',
      from: { path: '^libs/time-log-client/src/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^libs/time-log-client/src/' },
    },
    {
      name: 'messages-alone-see-transports',
      comment:
        'Rule 7 for messages: only the transports and patterns see @nestjs/microservices, which hosts may lack.',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: '^src/messages/(transports|time-logs)/' },
      to: { path: '(^|/)node_modules/@nestjs/microservices/' },
    },
    {
      name: 'sinks-alone-see-brokers',
      comment: 'The driver of a broker is loaded where it is used, and nowhere else.',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: [SINKS, '^src/messages/broker-connection\\.ts$'] },
      to: {
        path: '(^|/)node_modules/(@nats-io/[^/]+|amqplib|amqp-connection-manager)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'sinks-on-demand',
      comment: 'A sink loads its driver: it is imported when it is used, not when the service starts.',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: SINKS },
      to: { path: SINKS, dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },
    {
      name: 'modules-not-root',
      comment: 'The composition root and the configuration know the modules, never the reverse.',
      severity: 'error',
      from: { path: MODULE, pathNot: ROOT },
      to: { path: ROOT },
    },
    {
      name: 'tests-not-laboratory',
      comment: 'What npm test runs stands alone: only the laboratory imports from test/lab.',
      severity: 'error',
      from: { pathNot: '^test/lab/' },
      to: { path: '^test/lab/' },
    },
    {
      name: 'declared-dependencies',
      comment:
        'What is imported is declared in package.json, and what runs (packing apart) does not need a devDependency.',
      severity: 'error',
      from: {
        path: '^(src|libs)/',
        pathNot: ['\\.(spec\\.ts|fixture\\.mjs)$', '^src/embedding/pack\\.mjs$'],
      },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'resolvable',
      comment:
        'Scripts of tests import compiled code, which need not be there yet. The host in ' +
        'test/lab/estate has packages of its own.',
      severity: 'error',
      from: { pathNot: ['\\.mjs$', '^test/lab/estate/host/'] },
      to: { couldNotResolve: true, pathNot: '^time-logs/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|libs/[^/]+/dist)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@time-logs/source', 'import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
