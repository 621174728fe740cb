import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildFunctions, projectFolder } from '../../infra/build-functions.ts';
import { resolveStackTrace } from '../../infra/resolve-stack-trace.ts';

let folder: string;
let bundles: string;
let maps: string;
beforeAll(async () => {
  // In the project, because the bundles of a release are in the project as well.
  folder = mkdtempSync(join(projectFolder, 'node_modules', '.cache-trace-'));
  bundles = join(folder, 'functions');
  maps = join(folder, 'source-maps');
  await buildFunctions(bundles, maps);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const listFiles = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .sort();

/** Runs a bundle with an event that is not of API Gateway, and returns what it prints about the error. */
async function runWithoutEvent(bundle: string): Promise<string> {
  const call = `(await import(${JSON.stringify(pathToFileURL(join(bundles, bundle)).href)})).handler(null, {})`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', call], { env: {} });
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  return stderr;
}

/** Returns the source line of a function in a resolved trace. */
function readCallingLine(trace: string, name: string): string | undefined {
  const [, file = '', line] = new RegExp(` at ${name} \\((.+?):(\\d+):\\d+\\)`).exec(trace) ?? [];
  return readFileSync(join(projectFolder, file), 'utf8').split('\n')[Number(line) - 1];
}

describe('buildFunctions', () => {
  it('writes a source map for each bundle outside of the deployed folder, and none into a bundle', () => {
    const files = listFiles(bundles);
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => !file.endsWith('.mjs'))).toEqual([]);
    for (const file of files) expect(readFileSync(join(bundles, file), 'utf8')).not.toContain('sourceMappingURL');
    expect(listFiles(maps)).toEqual(files.map((file) => `${file}.map`));
  });

  it('builds the same bundles again, because stack traces are resolved with a rebuilt version', async () => {
    const rebuilt = join(folder, 'rebuilt');
    await buildFunctions(rebuilt, join(folder, 'rebuilt-maps'));
    expect(listFiles(rebuilt)).toEqual(listFiles(bundles));
    for (const file of listFiles(bundles))
      expect(readFileSync(join(rebuilt, file), 'utf8')).toBe(readFileSync(join(bundles, file), 'utf8'));
  });
});

describe('resolveStackTrace', () => {
  it('resolves the positions of a logged error to lines of the source', async () => {
    const log = await runWithoutEvent('customers/list-customers.mjs');
    expect(log).toMatch(/ at createApiCall \(.+chunks\/[\w-]+\.mjs:\d+:\d+\)/);
    const trace = resolveStackTrace(log, maps);
    expect(readCallingLine(trace, 'getHeader')).toContain('({ headers }');
    expect(readCallingLine(trace, 'createApiCall')).toContain('getHeader(');
  });

  it('resolves the log line of Lambda, which contains the trace as a JSON string', async () => {
    const log = (await runWithoutEvent('customers/list-customers.mjs')).replaceAll(`${bundles}/`, '/var/task/');
    const trace = resolveStackTrace(JSON.stringify({ message: { stack: log } }), maps);
    expect(readCallingLine(trace, 'createApiCall')).toContain('getHeader(');
  });

  it('keeps positions of bundles that this version does not have', () => {
    const line = 'at /var/task/chunks/chunk-OLDRELEASE.mjs:1:2';
    expect(resolveStackTrace(line, maps)).toBe(line);
  });
});
