import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';

const DOCKER = join(import.meta.dirname, '..', '..', 'docker');
const read = (name: string) => readFile(join(DOCKER, name), 'utf8');
/** A version in full, and no name that moves. */
const EXACT = /:v?\d+\.\d+(?:\.\d+)?(?:-[\w.-]+)?$/;

interface Service {
  readonly image?: string;
  readonly build?: { readonly dockerfile: string };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly healthcheck?: object;
  readonly environment?: Readonly<Record<string, string>>;
}

const servicesOf = async (file: string) => {
  const { services } = parse(await read(file), { merge: true }) as { services: Record<string, Service> };
  return Object.entries(services);
};

describe('the containers', () => {
  it.each(['compose.yaml', 'fleet/compose.yaml'])('of %s can do no more than they must', async (file) => {
    for (const [name, service] of await servicesOf(file)) {
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          image: expect.stringMatching(EXACT),
          read_only: true,
          cap_drop: ['ALL'],
          security_opt: ['no-new-privileges:true'],
        }),
      ]);
      const dockerfile = service.build?.dockerfile.replace(/^docker\//, '');
      // Its own, or that of its image.
      const looksAfter = service.healthcheck ?? (await read(dockerfile!)).includes('\nHEALTHCHECK ');
      expect([name, looksAfter]).not.toEqual([name, false]);
    }
  });

  it.each(['compose.yaml', 'fleet/compose.yaml'])(
    'of the service in %s do not get the password of the superuser',
    async (file) => {
      const ours = (await servicesOf(file)).filter(([name]) => name.startsWith('time-logs'));
      expect(ours).not.toEqual([]);
      for (const [, { environment, ...service }] of ours) {
        // A file brings everything that it holds, and what stands beside it counts more.
        if ('env_file' in service) expect(environment).toMatchObject({ POSTGRES_PASSWORD: '' });
        expect(JSON.stringify(environment)).not.toContain('${POSTGRES_PASSWORD');
      }
    },
  );

  it.each(['Dockerfile', 'fleet/patroni.Dockerfile'])(
    'of %s begin with an exact image, and not as root',
    async (file) => {
      const text = await read(file);
      const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
      expect(bases.length).toBeGreaterThan(0);
      for (const image of bases) expect(image).toMatch(EXACT);
      expect(text).toMatch(/^USER (?:node|postgres)$/m);
    },
  );

  it('of the service have packages without maps and declarations, and whole otherwise', async () => {
    const [, clean] = /^RUN (find node_modules .+)$/m.exec(await read('Dockerfile'))!;
    const directory = await mkdtemp(join(tmpdir(), 'time-logs-image-'));
    const folder = join(directory, 'node_modules', 'one');
    await mkdir(folder, { recursive: true });
    const needed = ['a.css', 'a.d.js', 'a.js', 'a.json', 'a.mjs', 'a.ts', 'map'];
    for (const name of [...needed, 'a.d.cts', 'a.d.mts', 'a.d.ts', 'a.js.map'])
      await writeFile(join(folder, name), '');
    await promisify(execFile)('sh', ['-c', clean!], { cwd: directory });
    expect((await readdir(folder)).sort()).toEqual(needed);
    await rm(directory, { recursive: true });
  });

  it('of Kubernetes run as an ordinary user, read-only, with probes', async () => {
    const documents = parseAllDocuments(await read('fleet/kubernetes.yaml')).map(
      (document) => document.toJS() as { kind: string; spec: Record<string, unknown> },
    );
    expect(documents.map(({ kind }) => kind)).toEqual([
      'Cluster',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ]);
    expect(documents[0]!.spec).toMatchObject({
      imageName: expect.stringMatching(EXACT),
      postgresql: { synchronous: { method: 'any', number: 1, dataDurability: 'required' } },
    });
    expect(documents[1]!.spec).toMatchObject({
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true },
          containers: [
            {
              image: expect.stringMatching(EXACT),
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              startupProbe: { httpGet: { path: '/livez' } },
              livenessProbe: { httpGet: { path: '/livez' } },
              readinessProbe: { httpGet: { path: '/readyz' } },
            },
          ],
        },
      },
    });
  });
});
