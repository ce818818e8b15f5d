import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packLib, PROJECT } from './run.js';
import { type Manifest, manifestIn, unpacked } from './tarball.js';

describe('the package for hosts', () => {
  let directory: string;
  let tarball: string;
  let files: string[];
  let manifest: Manifest;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-tarball-'));
    tarball = await packLib(directory);
    const contents = await unpacked(tarball);
    files = [...contents.keys()];
    manifest = manifestIn(contents);
  }, 120_000);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('holds what is exported, what that imports, and nothing else', () => {
    const folders = files.map((file) => file.split('/').slice(0, 3).join('/'));
    expect([...new Set(folders)].sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist/libs/auth',
      'dist/libs/batching',
      'dist/libs/errors',
      'dist/libs/measures',
      'dist/libs/message-edge',
      'dist/libs/open-api',
      'dist/libs/strict-request',
      'dist/libs/time-log-client',
      'dist/src/database',
      'dist/src/time-log',
      'package.json',
    ]);
    expect(files.filter((file) => file.startsWith('dist') && !/\.(js|d\.ts)$/.test(file))).toEqual([]);
  });

  it('has a manifest of its own, with the version and the exports of the project', async () => {
    const project = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as Manifest;
    expect(Object.keys(manifest)).toEqual([
      ...['name', 'version', 'description', 'license', 'type', 'engines', 'exports', 'typesVersions'],
      ...['sideEffects', 'dependencies', 'peerDependencies', 'peerDependenciesMeta'],
    ]);
    expect([manifest.version, manifest.exports]).toEqual([project.version, project.exports]);
    expect(files).toEqual(
      expect.arrayContaining(Object.values(manifest.exports).map((file) => file.slice(2))),
    );
  });

  it('shares with its host what a host has, brings two small packages, and pins nothing', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['passport-http-bearer', 'uuid']);
    expect(Object.keys(manifest.peerDependencies)).toEqual([
      ...[
        '@nestjs/common',
        '@nestjs/core',
        '@nestjs/microservices',
        '@nestjs/passport',
        '@nestjs/swagger',
        'class-validator',
        'rxjs',
        'typeorm',
      ],
    ]);
    const ranges = [...Object.values(manifest.dependencies), ...Object.values(manifest.peerDependencies)];
    expect(ranges.filter((range) => !range.startsWith('^'))).toEqual([]);
  });

  it('is the same, byte for byte, when it is made again', async () => {
    const again = await packLib(join(directory, 'again'));
    expect((await readFile(again)).equals(await readFile(tarball))).toBe(true);
  }, 60_000);
});
