import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, buildFunctions, bundleFile, listFunctions } from '../../infra/build-functions.ts';
import { projectFolder } from '../../infra/project-folder.ts';
import { resolveStackTrace } from '../../infra/resolve-stack-trace.ts';
import { sampleItems } from '../../testing/sample.ts';

/** Functions that the tests name, and a random sample of the others. */
const named = ['customers/get-customer-purchases', 'customers/list-customers', 'validation/validate-receipt'];
const names = [...new Set([...named, ...sampleItems(listFunctions(), 1)])].sort();

let folder: string;
let bundles: string;
let maps: string;
let built: Bundle[];
beforeAll(async () => {
  // In the project, because the bundles of a release are in the project too.
  folder = mkdtempSync(join(projectFolder, 'node_modules', '.cache-trace-'));
  bundles = join(folder, 'functions');
  maps = join(folder, 'source-maps');
  built = await buildFunctions(bundles, maps, names);
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const listFiles = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .sort();

/** Runs a bundle with an event that is not of API Gateway, and returns what it prints about the error. */
async function runWithoutEvent(bundle: string): Promise<string> {
  const { href } = pathToFileURL(join(bundles, bundle, `${basename(bundle)}.mjs`));
  const call = `(await import(${JSON.stringify(href)})).handler(null, {})`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', call], {
    env: { TABLE_NAME: 'none', MASTER_KEY_ID: 'none' },
  });
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  return stderr;
}

/**
 * Returns the lines of the source that a resolved trace names in a file. Names of functions are shortened in bundles.
 */
const readSourceLines = (trace: string, file: string): string[] =>
  [...trace.matchAll(/\(?([\w/.-]+\.ts):(\d+):\d+/g)]
    .filter(([, source]) => source === file)
    .map(([, , line]) => readFileSync(join(projectFolder, file), 'utf8').split('\n')[Number(line) - 1] ?? '');

describe('buildFunctions', () => {
  it('bundles each function in its own folder, which starts with at most three files', () => {
    expect(built.map(({ name }) => name)).toEqual(names);
    for (const { name, files } of built) {
      expect(files.map((file) => file.name).sort()).toEqual(listFiles(join(bundles, name)));
      expect(files.filter(({ isLoadedAtStart }) => isLoadedAtStart).length).toBeLessThanOrEqual(3);
    }
  });

  it('leaves out dependencies that a function does not name', () => {
    const listSources = (name: string) =>
      built.find((bundle) => bundle.name === name)?.files.flatMap(({ sources }) => sources);
    expect(listSources('customers/get-customer-purchases')).toContain('lib/purchases/owned-purchase-table.ts');
    expect(listSources('customers/get-customer-purchases')).not.toContain('lib/webhooks/delivery-table.ts');
    expect(listSources('validation/validate-receipt')).toContain('lib/stores/app-store/app-store.ts');
    expect(listSources('customers/get-customer-purchases')).not.toContain('lib/stores/app-store/app-store.ts');
  });

  it('leaves out the descriptions of the API document', () => {
    const sources = built.flatMap(({ files }) => files.flatMap((file) => file.sources));
    expect(sources).toContain('lib/http/endpoint.ts');
    expect(sources.filter((path) => path.includes('documentation'))).toEqual([]);
  });

  it.each(named)('leaves out the schema of the response of %s', (name) => {
    const files = built.find((bundle) => bundle.name === name)?.files ?? [];
    const code = files.map((file) => readFileSync(join(bundles, name, file.name), 'utf8')).join('\n');
    expect(/area:.{0,2000},response:0\b/s.test(code)).toBe(true);
  });

  it('writes a source map for each chunk outside of the deployed folder, and none into a chunk', () => {
    const files = listFiles(bundles);
    expect(files.filter((file) => !file.endsWith('.mjs'))).toEqual([]);
    for (const file of files) expect(readFileSync(join(bundles, file), 'utf8')).not.toContain('sourceMappingURL');
    // The entry and the runtime of the bundler contain no source.
    const chunks = built.flatMap(({ files: bundleFiles }) => bundleFiles.filter(({ sources }) => sources.length > 0));
    expect(listFiles(maps)).toEqual([...new Set(chunks.map(({ name }) => `${name}.map`))].sort());
  });

  it('writes ASCII only, because other characters make the start slower', () => {
    const withOthers = listFiles(bundles).filter((file) =>
      /[^\0-\x7F]/.test(readFileSync(join(bundles, file), 'utf8')),
    );
    expect(withOthers).toEqual([]);
  });

  it('builds the same bundles again, because stack traces are resolved with a rebuilt version', async () => {
    for (const name of sampleItems(names, 1)) {
      const rebuilt = join(folder, 'rebuilt', name);
      await bundleFile(join('functions', `${name}.ts`), rebuilt, {
        mapsFolder: join(folder, 'rebuilt-maps'),
        runsWarmUp: true,
      });
      expect(listFiles(rebuilt)).toEqual(listFiles(join(bundles, name)));
      for (const file of listFiles(rebuilt))
        expect(readFileSync(join(rebuilt, file), 'utf8')).toBe(readFileSync(join(bundles, name, file), 'utf8'));
    }
  });
});

describe('resolveStackTrace', () => {
  it('resolves the positions of a logged error to lines of the source', async () => {
    const log = await runWithoutEvent('customers/list-customers');
    expect(log).toMatch(/ at .+main-[\w-]+\.mjs:\d+:\d+/);
    const trace = resolveStackTrace(log, maps);
    expect(readSourceLines(trace, 'lib/http/request.ts').join()).toContain('({ headers }');
    expect(readSourceLines(trace, 'lib/http/api-call.ts').join()).toContain('getHeader(');
  });

  it('resolves the log line of Lambda, which contains the trace as a JSON string', async () => {
    const log = await runWithoutEvent('customers/list-customers');
    const deployed = log.replaceAll(`${bundles}/customers/list-customers/`, '/var/task/');
    const trace = resolveStackTrace(JSON.stringify({ message: { stack: deployed } }), maps);
    expect(readSourceLines(trace, 'lib/http/api-call.ts').join()).toContain('getHeader(');
  });

  it('keeps positions of chunks that this version does not have', () => {
    const line = 'at /var/task/main-OLDRELEA.mjs:1:2';
    expect(resolveStackTrace(line, maps)).toBe(line);
  });
});
