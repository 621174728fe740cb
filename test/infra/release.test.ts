import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { consolePackages, findNotes, findPackage, markShipped } from '../../infra/release.ts';
import { readDocument } from '../../testing/documents.ts';

const readVersion = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8')).version;
const version = String(readVersion('package.json'));

describe('release of the packages', () => {
  it('uses one version in all packages, and describes it in a dated section of the changelog', () => {
    const changelog = readDocument('CHANGELOG.md');
    expect(['packages/server/package.json', 'emulator/package.json', 'package-lock.json'].map(readVersion)).toEqual(
      Array(3).fill(version),
    );
    expect(readFileSync('packages/server-python/pyproject.toml', 'utf8')).toContain(`\nversion = "${version}"\n`);
    expect(changelog).toMatch(new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm'));
  });

  it('starts in the workflow with a tag after the checks, with the files that npm run release writes', () => {
    const workflow = readFileSync('.github/workflows/release.yml', 'utf8');
    const steps = [
      'bash .ci/run',
      'npm run release',
      'actions/attest-build-provenance@',
      'git tag -a',
      'git push origin',
    ];
    const positions = [...steps, 'gh release create'].map((step) => workflow.indexOf(step));
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(positions).not.toContain(-1);
  });
});

interface LockEntry {
  readonly integrity?: string;
  readonly inBundle?: true;
  readonly link?: true;
}

describe('package-lock.json', () => {
  // npm omits the digests of optional packages for other systems when it writes the lock of an existing installation.
  it('names the digest of each package, but for workspaces and what other packages bundle', () => {
    const lock: { readonly packages: Readonly<Record<string, LockEntry>> } = JSON.parse(
      readFileSync('package-lock.json', 'utf8'),
    );
    const unverified = Object.entries(lock.packages).flatMap(([path, { integrity, inBundle, link }]) =>
      integrity || inBundle || link || !path.startsWith('node_modules/') ? [] : [path],
    );
    // The registry does not have them.
    expect(unverified).toEqual(['node_modules/@rev-dep/darwin-arm64', 'node_modules/@rev-dep/win32-x64']);
  });
});

describe('consolePackages', () => {
  it('contains each package that the console imports', () => {
    const files = readdirSync('console', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
    const imports = files.flatMap((file) => [
      ...readFileSync(`console/${file}`, 'utf8').matchAll(/ from '((?:@[^/']+\/)?[^./'][^/']*)/g),
    ]);
    expect(new Set(imports.map(([, name]) => name))).toEqual(new Set(consolePackages));
  });
});

describe('findNotes', () => {
  const released =
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- b\n\n## [0.1.0] - 2026-11-28\n\n- a\n';

  it('returns the section of the version', () => {
    expect(findNotes(released, '0.2.0')).toBe('### Added\n\n- b');
    expect(findNotes(released, '0.1.0')).toBe('- a');
  });

  it('rejects a version without a dated section, and entries that are not in the release', () => {
    expect(() => findNotes(released, '0.3.0')).toThrow('## [0.3.0] - <date>');
    expect(() => findNotes(released.replace(' - 2026-12-01', ''), '0.2.0')).toThrow('no section');
    const later = released.replace('## [Unreleased]\n', '## [Unreleased]\n\n### Fixed\n\n- c\n');
    expect(() => findNotes(later, '0.2.0')).toThrow('Move them under 0.2.0');
  });
});

describe('markShipped', () => {
  const build = { name: 'cdx:npm:package:development', value: 'true' };
  const sbom = {
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'claimcheck' } },
    components: [
      { purl: 'pkg:npm/preact@11.2.0', properties: [build] },
      { purl: 'pkg:npm/jest@30.5.2', properties: [build] },
      { purl: 'pkg:npm/%40aws-sdk/core@3.9.0' },
    ],
  };

  it('names what a deployment contains as no development package, and keeps the rest', () => {
    const [preact, jest, core] = sbom.components;
    expect(markShipped(sbom, ['preact', '@aws-sdk/core'])).toEqual({
      ...sbom,
      components: [{ ...preact, properties: [] }, jest, { ...core, properties: [] }],
    });
  });

  it('rejects a list without a package that a bundle has', () => {
    expect(() => markShipped(sbom, ['valibot'])).toThrow('lacks pkg:npm/valibot@');
  });

  it.each([
    ['../../node_modules/@aws-sdk/core/dist/index.js', '@aws-sdk/core'],
    ['../node_modules/a/node_modules/sax/lib/sax.js', 'sax'],
    ['../../lib/foundation/table.ts', undefined],
  ])('finds the package of %s', (source, name) => {
    expect(findPackage(source)).toBe(name);
  });
});
