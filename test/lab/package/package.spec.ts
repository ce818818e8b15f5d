import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder } from '../../support/fixtures.js';
import { packLib, PROJECT } from './run.js';
import { type Manifest, manifestIn, unpack } from './tarball.js';

describe('the package for hosts', () => {
  const inFolder = useFolder('time-logs-');
  let files: string[];
  let manifest: Manifest;

  beforeAll(async () => {
    const [tarball] = await packLib(inFolder());
    files = await unpack(tarball, inFolder('package'));
    manifest = await manifestIn(inFolder('package'));
  });

  it('holds two builds of what is exported, what that imports, and nothing else', () => {
    const folders = files.map((file) =>
      file
        .split('/')
        .slice(0, file.startsWith('examples/') ? 2 : 4)
        .join('/'),
    );
    const libs = 'auth batching errors measures request-state strict-request strict-url'.split(' ');
    const modules =
      'attributes database embedding event-relay export feed messages metrics time-log totals'.split(' ');
    const build = (folder: string) => [
      ...libs.map((lib) => `${folder}/libs/${lib}`),
      `${folder}/package.json`,
      ...modules.map((module) => `${folder}/src/${module}`),
    ];
    const pages = 'attributes database events hooks reference routes services'
      .split(' ')
      .map((page) => `${page}.md`);
    expect([...new Set(folders)].sort()).toEqual(
      [
        'LICENSE',
        'README.md',
        ...['examples/nest-11', 'examples/nest-12'],
        ...pages,
        ...build('dist/commonjs'),
        ...build('dist/esm'),
        'package.json',
      ].sort(),
    );
    const others = files.filter((file) => file.startsWith('dist') && !/\.(js|d\.ts)$/.test(file));
    expect(others.sort()).toEqual(['dist/commonjs/package.json', 'dist/esm/package.json']);
    const [commonJs, esm] = ['dist/commonjs/', 'dist/esm/'].map((folder) =>
      files.filter((file) => file.startsWith(folder)).map((file) => file.slice(folder.length)),
    );
    expect(commonJs).toEqual(esm);
  });

  it('has a manifest of its own, with the version and the entries of the project', async () => {
    const text = await readFile(join(PROJECT, 'package.json'), 'utf8');
    const project = JSON.parse(text) as { version: string; exports: Record<string, string> };
    expect(Object.keys(manifest)).toEqual([
      ...['name', 'version', 'description', 'license', 'type', 'engines', 'exports', 'typesVersions'],
      ...['sideEffects', 'dependencies', 'peerDependencies', 'peerDependenciesMeta'],
    ]);
    expect(manifest.version).toBe(project.version);
    expect(Object.keys(manifest.exports)).toEqual(Object.keys(project.exports));
    const targets = Object.values(manifest.exports).flatMap((conditions) => Object.values(conditions));
    expect(files).toEqual(
      expect.arrayContaining(
        targets.flatMap((entry) => [entry.types, entry.default]).map((file) => file.slice(2)),
      ),
    );
  });

  it('shares with its host what a host has, brings two small packages, and pins nothing', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['lru-cache', 'passport-http-bearer']);
    expect(Object.keys(manifest.peerDependencies)).toEqual([
      ...[
        '@nats-io/jetstream',
        '@nats-io/transport-node',
        '@nestjs/common',
        '@nestjs/core',
        '@nestjs/microservices',
        '@nestjs/passport',
        '@nestjs/typeorm',
        'amqplib',
        'class-validator',
        'passport',
        'prom-client',
        'rxjs',
        'typeorm',
      ],
    ]);
    const ranges = [...Object.values(manifest.dependencies), ...Object.values(manifest.peerDependencies)];
    expect(ranges.filter((range) => !range.startsWith('^'))).toEqual([]);
  });
});
