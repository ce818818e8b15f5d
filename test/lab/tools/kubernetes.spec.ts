import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { validateDatabaseUrl } from '../../../src/process/database-url.js';
import { CERTIFICATE } from '../../support/certificates.js';
import { describeWith } from '../describe-with.js';
import { EXACT } from './exact.js';

const PROJECT = join(import.meta.dirname, '..', '..', '..');
const read = (name: string) => readFile(join(PROJECT, 'docker', name), 'utf8');
/** The packages with the types of the schemas, for groups that are not of Kubernetes itself. */
const PACKAGES: Record<string, string> = {
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
};

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Record<string, unknown>;
}

describe('the fleet on Kubernetes', () => {
  let resources: Resource[];
  const named = (kind: string, name: string) =>
    resources.find((resource) => resource.kind === kind && resource.metadata.name === name)!;

  beforeAll(async () => void (resources = await resourcesOf()));

  it('has only what the schemas of Kubernetes, CloudNativePG, Prometheus and the Gateway know', () => {
    expect(faultsOf(resources)).toEqual([]);
  });

  it('has the alerts of the other fleet, by a command that needs no copy of them', async () => {
    const [, command] = /^(\(printf .+?\)) \| kubectl apply -f -$/ms.exec(await read('FLEET.md'))!;
    const { stdout } = await promisify(execFile)('sh', ['-c', command!], { cwd: PROJECT });
    const rules = parse(stdout) as Resource;
    expect(faultsOf([rules])).toEqual([]);
    const { groups } = parse(await read('fleet/alerts.yaml')) as { groups: { readonly name: string }[] };
    expect(rules).toEqual({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'time-logs' },
      // That one watches Patroni, etcd and HAProxy.
      spec: { groups: groups.filter(({ name }) => name !== 'time-logs-fleet') },
    });
    expect(groups).toHaveLength(3);
  });

  it('leads to places of the runbook', async () => {
    const runbook = await read('RUNBOOK.md');
    const places = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title]) =>
      title!.toLowerCase().replaceAll(' ', '-'),
    );
    const named = [...(await read('fleet/kubernetes.yaml')).matchAll(/RUNBOOK\.md#(\S+)$/gm)];
    expect(named.length).toBeGreaterThan(3);
    expect(named.map(([, place]) => place).filter((place) => !places.includes(place!))).toEqual([]);
  });

  it('loses no commit', () => {
    expect(named('Cluster', 'time-logs-db').spec).toMatchObject({
      instances: 3,
      imageName: expect.stringMatching(EXACT),
      postgresql: {
        synchronous: { method: 'any', number: 1, dataDurability: 'required', failoverQuorum: true },
      },
      affinity: { podAntiAffinityType: 'required' },
      resources: { requests: expect.anything(), limits: expect.anything() },
    });
  });

  it.each([
    ['time-logs', 'time-logs-db-rw'],
    ['time-logs-reader', 'time-logs-db-ro'],
  ])('runs %s as an ordinary user, read-only, with probes, on %s over checked TLS', async (name, host) => {
    const { spec } = named('Deployment', name);
    const url = `postgres://time_logs:$(DATABASE_PASSWORD)@${host}:5432/time_logs?sslmode=verify-full&sslrootcert=/etc/database/ca.crt`;
    const folder = await mkdtemp(join(tmpdir(), 'time-logs-ca-'));
    const ca = join(folder, 'ca.crt');
    await writeFile(ca, CERTIFICATE);
    const here = url.replace('$(DATABASE_PASSWORD)', 'a1').replace('/etc/database/ca.crt', ca);
    expect(validateDatabaseUrl(here)).toBeUndefined();
    await rm(folder, { recursive: true });
    expect(spec).toMatchObject({
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true },
          // The key of the authority is in that secret too.
          volumes: [
            { secret: { secretName: 'time-logs-db-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          ],
          containers: [
            {
              image: expect.stringMatching(EXACT),
              env: expect.arrayContaining([{ name: 'DATABASE_URL', value: url }]),
              volumeMounts: [expect.objectContaining({ mountPath: '/etc/database' })],
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              resources: { requests: expect.anything(), limits: expect.anything() },
              startupProbe: { httpGet: { path: '/livez' } },
              livenessProbe: { httpGet: { path: '/livez' } },
              readinessProbe: { httpGet: { path: '/readyz' } },
            },
          ],
        },
      },
    });
    expect(named('PodDisruptionBudget', name).spec).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { app: name } },
    });
  });
});

const DATABASE = '{job="time-logs-database"}';
const DISK = '{persistentvolumeclaim="time-logs-db-1"}';
/** Series of a database that is well, at the edge. */
const WELL = {
  [`cnpg_pg_replication_streaming_replicas${DATABASE}`]: '1x20',
  [`cnpg_pg_replication_lag${DATABASE}`]: '60x20',
  [`kubelet_volume_stats_capacity_bytes${DISK}`]: '100x20',
  [`kubelet_volume_stats_available_bytes${DISK}`]: '10x20',
  [`pg_watch_transactions_left${DATABASE}`]: '2e9x20',
};

describeWith('promtool')('the alerts of Kubernetes alone', () => {
  it.each([
    ['TimeLogsNoStandby', `cnpg_pg_replication_streaming_replicas${DATABASE}`, '0x20'],
    ['TimeLogsStandbyLag', `cnpg_pg_replication_lag${DATABASE}`, '61x20'],
    ['TimeLogsDisk', `kubelet_volume_stats_available_bytes${DISK}`, '9x20'],
    ['TimeLogsUnseen', `pg_watch_transactions_left${DATABASE}`, '_x20'],
    ['TimeLogsUnseen', `kubelet_volume_stats_available_bytes${DISK}`, '_x20'],
  ])('%s fires for %s alone', async (alert, series, bad) => {
    const place = await mkdtemp(join(tmpdir(), 'kubernetes-alerts-'));
    const rules = (await resourcesOf()).find(({ kind }) => kind === 'PrometheusRule')!;
    const tests = [WELL, { ...WELL, [series]: bad }].map((values, index) => ({
      interval: '1m',
      input_series: Object.entries(values).map(([name, text]) => ({ series: name, values: text })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: '10m',
          exp_samples: index === 0 ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
        },
      ],
    }));
    await writeFile(join(place, 'rules.yaml'), JSON.stringify(rules.spec));
    await writeFile(join(place, 'tests.yaml'), JSON.stringify({ rule_files: ['rules.yaml'], tests }));
    await promisify(execFile)('promtool', ['test', 'rules', 'tests.yaml'], { cwd: place });
    await rm(place, { recursive: true });
  });
});

/** All that the file has. */
async function resourcesOf(): Promise<Resource[]> {
  return parseAllDocuments(await read('fleet/kubernetes.yaml'), { merge: true }).flatMap((document) => {
    const resource = document.toJS() as Resource | { readonly items: Resource[] };
    return 'items' in resource ? resource.items : [resource];
  });
}

/** Returns the faults that the schemas find, and the resource of each. */
function faultsOf(resources: readonly Resource[]): { index: number; fault: string }[] {
  // Each on a line of its own, as a literal: of those TypeScript refuses fields that the type does not have.
  const lines = resources.map((resource, index) => {
    const types = PACKAGES[resource.apiVersion.split('/')[0]!] ?? 'kubernetes-models';
    const type = `import('${types}/${resource.apiVersion}/${resource.kind}').I${resource.kind}`;
    return `export const resource${index}: ${type} = ${JSON.stringify(resource)};`;
  });
  const file = join(import.meta.dirname, 'resources.ts');
  const options = {
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const source = ts.createSourceFile(file, lines.join('\n'), ts.ScriptTarget.ESNext);
  const rest = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...args) => (name === file ? source : rest(name, ...args));
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file: at, start, messageText }) => ({
    index: at?.getLineAndCharacterOfPosition(start!).line ?? -1,
    fault: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}
