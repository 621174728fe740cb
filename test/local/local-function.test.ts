import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../emulator/test/notification-receiver.ts';
import { bundleTogether, workerFile } from '../../local/build-shared-functions.ts';
import { createLocalFunction, type LocalFunction } from '../../local/local-function.ts';
import { createSharedClock } from '../../local/shared-clock.ts';
import { waitFor } from '../../testing/wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
const clock = createSharedClock();
const printed: string[] = [];
const running: LocalFunction[] = [];
let worker: URL;
let modules = 0;

beforeAll(async () => {
  await bundleTogether([workerFile], folder);
  worker = pathToFileURL(join(folder, 'function-worker.mjs'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((localFunction) => localFunction.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

const growthDelayMs = 50;

/** Creates a function with the given handler body. */
function functionOf(body: string, { timeoutMs = 5_000, setup = '', idleTimeoutMs = 30_000 } = {}): LocalFunction {
  const file = join(folder, `module-${modules++}.mjs`);
  writeFileSync(
    file,
    `let calls = 0;\n${setup}\nexport const handler = async (event, context) => { calls++; ${body} };`,
  );
  const code = { module: pathToFileURL(file).href, exportName: 'handler', clockOffset: clock.offset };
  const log = (text: string) => printed.push(text);
  const environment = { GREETING: 'hello' };
  const limits = { timeoutMs, memoryMb: 128, idleTimeoutMs, growthDelayMs };
  const localFunction = createLocalFunction({ name: 'f', environment, ...limits, worker, code, log });
  running.push(localFunction);
  return localFunction;
}

const resultOf = async (localFunction: LocalFunction, event: unknown = {}) => {
  const ending = await localFunction.invoke(JSON.stringify(event));
  if (!('result' in ending)) throw new Error(JSON.stringify(ending));
  return JSON.parse(ending.result);
};

describe('createLocalFunction', () => {
  it('passes the event and only the environment of the template', async () => {
    const localFunction = functionOf('return { event, environment: process.env }');
    expect(await resultOf(localFunction, { a: 1 })).toEqual({ event: { a: 1 }, environment: { GREETING: 'hello' } });
  });

  it('passes the request id and the remaining time in the context', async () => {
    const localFunction = functionOf(
      'return [context.awsRequestId, context.functionName, context.getRemainingTimeInMillis()]',
    );
    const [requestId, name, left] = await resultOf(localFunction);
    expect([requestId, name]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 'f']);
    expect(left).toBeGreaterThan(4_000);
    expect(left).toBeLessThanOrEqual(5_000);
  });

  it('keeps module state between invocations', async () => {
    const localFunction = functionOf('return calls');
    expect([await resultOf(localFunction), await resultOf(localFunction)]).toEqual([1, 2]);
  });

  it('handles one event per instance and queues further events if eight instances are busy', async () => {
    const [started, go] = [join(folder, 'started'), join(folder, 'go')];
    writeFileSync(started, '');
    const localFunction = functionOf(
      `const { appendFileSync, existsSync } = await import('node:fs');
      globalThis.busy = (globalThis.busy ?? 0) + 1; const most = globalThis.busy;
      appendFileSync(${JSON.stringify(started)}, '.');
      while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 20));
      globalThis.busy--; return { most, calls };`,
      { timeoutMs: 120_000 },
    );
    const invocations = Promise.all(Array.from({ length: 10 }, () => resultOf(localFunction)));
    await waitUntil(() => readFileSync(started, 'utf8').length === 8);
    // Longer than the time after which an instance starts.
    await sleep(6 * growthDelayMs);
    expect(readFileSync(started, 'utf8')).toHaveLength(8);
    writeFileSync(go, '');
    const results = await invocations;
    expect(results.map(({ most }) => most)).toEqual(Array(10).fill(1));
    expect(results.filter(({ calls }) => calls === 1)).toHaveLength(8);
  });

  it('starts no further instance while one starts, and handles all events', async () => {
    const [started, go] = [join(folder, 'starting'), join(folder, 'start')];
    const setup = `import { appendFileSync, existsSync } from 'node:fs';
      appendFileSync(${JSON.stringify(started)}, '.');
      while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 20));`;
    const localFunction = functionOf('return event', { setup });
    const events = [1, 2, 3, 4, 5];
    const results = Promise.all(events.map((event) => resultOf(localFunction, event)));
    await waitUntil(() => existsSync(started));
    // Longer than the time after which a second instance starts.
    await sleep(6 * growthDelayMs);
    expect(readFileSync(started, 'utf8')).toHaveLength(1);
    writeFileSync(go, '');
    expect(await results).toEqual(events);
  });

  it('ends an instance without events and handles the next event with a new one', async () => {
    const localFunction = functionOf('return calls', { idleTimeoutMs: 10 });
    expect(await resultOf(localFunction)).toBe(1);
    await waitUntil(async () => {
      await sleep(100);
      return (await resultOf(localFunction)) === 1;
    });
  });

  it('uses the shared clock in every way to read the current date', async () => {
    const localFunction =
      functionOf(`return [Date.now(), new Date().getTime(), Date.parse(Date()), new Date(7).getTime(),
      new Date() instanceof Date, new Date().constructor === Date, Date.UTC(2020, 0)]`);
    const moved = Date.UTC(2031, 5, 1);
    clock.set(moved);
    const [now, constructed, called, ...others] = await resultOf(localFunction);
    for (const time of [now, constructed, called]) expect(Math.abs(time - moved)).toBeLessThan(5_000);
    expect(others).toEqual([7, true, true, Date.UTC(2020, 0)]);
  });

  it('terminates an instance at its timeout and handles the next event with a new one', async () => {
    const localFunction = functionOf('if (event.hang) { for (;;); } return calls', { timeoutMs: 700 });
    expect(await localFunction.invoke('{"hang":true}')).toMatchObject({ timedOut: true });
    expect(await resultOf(localFunction)).toBe(1);
  });

  it.each([
    ['throws', 'throw new Error("broken")'],
    ['crashes', 'setTimeout(() => { throw new Error("broken") }); await new Promise(() => {})'],
    ['ends its process', 'console.error("broken"); process.exit(3)'],
  ])('reports that the function %s and handles the next event', async (_how, body) => {
    const localFunction = functionOf(`if (event.fail) { ${body} } return 'well'`);
    expect(await localFunction.invoke('{"fail":true}')).toHaveProperty('error');
    expect(await resultOf(localFunction)).toBe('well');
  });

  it('replaces an instance that crashes between two invocations', async () => {
    const localFunction = functionOf('setTimeout(() => { throw new Error("late") }, 20); return calls');
    expect(await resultOf(localFunction)).toBe(1);
    await waitFor('the crash', () => printed.join('').includes('late'));
    expect(await resultOf(localFunction)).toBe(1);
  });
});
