import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { listProperties, readStack } from '../../testing/stack-templates.ts';

const read = (file: string): string => readFileSync(file, 'utf8');
const developmentVersion = read('.node-version').trim();
const { engines, devDependencies } = JSON.parse(read('package.json')) as {
  engines: { node: string };
  devDependencies: Readonly<Record<string, string>>;
};
const minimumVersion = /^>=(\d+\.\d+)\.0$/.exec(engines.node)?.[1] ?? '';
const [minimumMajor] = minimumVersion.split('.');

describe('Node version', () => {
  it('matches .node-version in the runtime of every function', async () => {
    const runtimes = listProperties((await readStack('none')).joined, 'AWS::Lambda::Function').map(
      ({ Runtime }) => Runtime as string,
    );
    expect(new Set(runtimes)).toEqual(new Set([`nodejs${developmentVersion}.x`]));
  });

  it('agrees with one minimum in package.json, the types, the bundles and the documentation', () => {
    expect(Number(minimumMajor)).toBeLessThanOrEqual(Number(developmentVersion));
    expect(devDependencies['@types/node']).toMatch(new RegExp(`^${minimumMajor}\\.`));
    for (const file of ['infra/build-functions.ts']) expect(read(file)).toContain(`target: 'node${minimumMajor}'`);
    for (const file of ['README.md', 'CONTRIBUTING.md'])
      expect(read(file)).toContain(`Requirements: Node ${minimumVersion} or later`);
  });
});
