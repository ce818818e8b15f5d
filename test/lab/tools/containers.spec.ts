import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const DOCKER = join(import.meta.dirname, '..', '..', '..', 'docker');
/** An image with its version in full, and no name that moves. */
const EXACT = /:v?\d+\.\d+(?:\.\d+)?(?:-[\w.-]+)?$/;
const read = (name: string) => readFile(join(DOCKER, name), 'utf8');

interface Service {
  readonly image?: string;
  readonly build?: { readonly dockerfile: string };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly healthcheck?: object;
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
          mem_limit: expect.stringMatching(/^\d+[mg]$/),
          // `json-file` is what podman knows too.
          logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
        }),
      ]);
      const dockerfile = service.build?.dockerfile.replace(/^docker\//, '');
      // Its own, or that of its image.
      const looksAfter = service.healthcheck ?? (await read(dockerfile!)).includes('\nHEALTHCHECK ');
      expect([name, looksAfter]).not.toEqual([name, false]);
    }
  });

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
});
