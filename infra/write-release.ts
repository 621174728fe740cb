import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sourceMapsFolder } from './build-functions.ts';
import { projectFolder } from './project-folder.ts';
import { consolePackages, findNotes, findPackage, markShipped } from './release.ts';

// Writes the files of a release into `dist/release`, after `npm run build`: the source of the commit, the package for
// servers, the API document, the list of components (SBOM), the checksums and the notes.

const folder = join(projectFolder, 'dist', 'release');
const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as { version: string };
const run = (command: string, args: readonly string[], cwd: string = projectFolder): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });

/** Lists the packages whose code is in a bundle of a function. */
function listBundledPackages(): string[] {
  const maps = readdirSync(sourceMapsFolder).map((file) => readFileSync(join(sourceMapsFolder, file), 'utf8'));
  const sources = maps.flatMap((text) => (JSON.parse(text) as { sources: string[] }).sources);
  return [...new Set(sources.flatMap((source) => findPackage(source) ?? []))];
}

/** Lists the components of the source archive by its lock file. The name of its folder is the name in the list. */
function listComponents(archive: string): unknown {
  const parent = mkdtempSync(join(tmpdir(), 'claimcheck-release-'));
  try {
    run('tar', ['-xzf', archive, '-C', parent]);
    const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
    const text = run('npm', ['sbom', ...options], join(parent, `claimcheck-${version}`));
    return JSON.parse(text.replaceAll(`claimcheck-${version}`, 'claimcheck'));
  } finally {
    rmSync(parent, { recursive: true });
  }
}

const notes = findNotes(readFileSync(join(projectFolder, 'CHANGELOG.md'), 'utf8'), version);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const name = `claimcheck-${version}`;
const archive = join(folder, `${name}.tar.gz`);
run('git', ['archive', `--prefix=${name}/`, '--format=tar.gz', `--output=${archive}`, 'HEAD']);
run('npm', ['pack', '--workspace', 'packages/server', '--pack-destination', folder]);
run('npm', ['run', '--silent', 'openapi']);
writeFileSync(join(folder, `${name}-openapi.json`), readFileSync(join(projectFolder, 'dist', 'openapi.json')));
const components = markShipped(listComponents(archive), [...listBundledPackages(), ...consolePackages]);
writeFileSync(join(folder, `${name}.cdx.json`), `${JSON.stringify(components, undefined, 2)}\n`);
const checksums = readdirSync(folder)
  .sort()
  .map(
    (file) =>
      `${createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex')}  ${file}\n`,
  );
writeFileSync(join(folder, 'SHA256SUMS'), checksums.join(''));
// Not a file of the release.
writeFileSync(join(projectFolder, 'dist', 'release-notes.md'), `${notes}\n`);
console.log(checksums.join(''));
