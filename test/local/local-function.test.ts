import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../emulator/test/notification-receiver.ts';
import { bundleTogether, workerFile } from '../../local/build-shared-functions.ts';
import { createFunctionThreads, type FunctionThreads } from '../../local/function-threads.ts';
import { createLocalFunction, type LocalFunction } from '../../local/local-function.ts';
import { createSharedClock } from '../../local/shared-clock.ts';
import { waitFor } from '../../testing/wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
const clock = createSharedClock();
const printed: string[] = [];
const running: FunctionThreads[] = [];
let worker: URL;
let modules = 0;

beforeAll(async () => {
  await bundleTogether([workerFile], folder);
  worker = pathToFileURL(join(folder, 'function-thread.mjs'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((threads) => threads.kill()));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a module with the given handler body. */
function writeModule(body: string, setup = ''): string {
  const file = join(folder, `module-${modules++}.mjs`);
  writeFileSync(
    file,
    `let calls = 0;\n${setup}\nexport const handler = async (event, context) => { calls++; ${body} };`,
  );
  return pathToFileURL(file).href;
}

/** Creates functions that share their threads, with the given handler bodies. */
function createFunctions<Name extends string>(
  bodies: Readonly<Record<Name, string>>,
  { timeoutMs = 5_000, setup = '' } = {},
): Record<Name, LocalFunction> {
  const names = Object.keys(bodies) as Name[];
  const threads = createFunctionThreads({
    worker,
    clockOffset: clock.offset,
    functions: new Map(
      names.map((name) => {
        const environment = { GREETING: `hello from ${name}` };
        return [name, { module: writeModule(bodies[name], setup), exportName: 'handler', environment }];
      }),
    ),
    access: { policies: { functions: [], managedPolicies: [], statements: new Map(), arns: new Map() }, endpoints: {} },
    reportsAllCalls: false,
    onCall: () => {},
    onWrite: () => {},
    log: (text) => printed.push(text),
  });
  running.push(threads);
  const entries = names.map((name) => [name, createLocalFunction({ name, timeoutMs, memoryMb: 128, threads })]);
  return Object.fromEntries(entries);
}

const functionOf = (body: string, options = {}): LocalFunction => createFunctions({ f: body }, options).f;

const resultOf = async (localFunction: LocalFunction, event: unknown = {}) => {
  const ending = await localFunction.invoke(JSON.stringify(event));
  if (!('result' in ending)) throw new Error(JSON.stringify(ending));
  return JSON.parse(ending.result);
};

describe('createLocalFunction', () => {
  it('passes the event and only the environment of the template', async () => {
    const localFunction = functionOf('return { event, environment: process.env }');
    expect(await resultOf(localFunction, { a: 1 })).toEqual({
      event: { a: 1 },
      environment: { GREETING: 'hello from f' },
    });
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

  it('handles at most eight events at the same time, one in each instance, and queues further events', async () => {
    const [started, go] = [join(folder, 'started'), join(folder, 'go')];
    writeFileSync(started, '');
    const localFunction = functionOf(
      `const { appendFileSync, existsSync } = await import('node:fs');
      appendFileSync(${JSON.stringify(started)}, '.');
      while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 20));
      return event;`,
      { timeoutMs: 120_000 },
    );
    const events = Array.from({ length: 10 }, (_value, index) => index);
    const results = Promise.all(events.map((event) => resultOf(localFunction, event)));
    await waitUntil(() => readFileSync(started, 'utf8').length === 8);
    await sleep(100);
    expect(readFileSync(started, 'utf8')).toHaveLength(8);
    writeFileSync(go, '');
    expect(await results).toEqual(events);
  });

  it('gives each of two functions in one thread its environment, after each wait', async () => {
    const body = `const read = () => process.env.GREETING;
      const values = [read()];
      for (const wait of [setImmediate, queueMicrotask, (done) => setTimeout(done, 5), process.nextTick])
        values.push(await new Promise((resolve) => wait(() => resolve(read()))));
      return [...new Set(values)];`;
    const { a, b } = createFunctions({ a: body, b: body });
    const results = await Promise.all([a, b, a, b].map(async (localFunction) => await resultOf(localFunction)));
    expect(results).toEqual([['hello from a'], ['hello from b'], ['hello from a'], ['hello from b']]);
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
    const localFunction = functionOf('if (event.hang) { for (;;); } return calls', { timeoutMs: 1_500 });
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

  it.each([
    ['an error that no code handles', 'setTimeout(() => { throw new Error("broken") })'],
    ['a rejection that no code handles', 'Promise.reject(new Error("broken"))'],
  ])('ends only the instance with %s', async (_what, failure) => {
    const { failing, other } = createFunctions({
      failing: `if (event.fail) { await 0; ${failure}; await new Promise(() => {}); } return calls;`,
      other: 'await new Promise((resolve) => setTimeout(resolve, 200)); return calls;',
    });
    const results = [other, other].map(async (localFunction) => await resultOf(localFunction));
    expect(await failing.invoke('{"fail":true}')).toMatchObject({ error: expect.stringContaining('broken') });
    expect(await resultOf(failing)).toBe(2);
    expect(await Promise.all(results)).toEqual([2, 2]);
  });

  it('ends only the instance whose time is over while it waits', async () => {
    const { slow, other } = createFunctions(
      {
        slow: 'if (event.hang) await new Promise(() => {}); return calls;',
        other: 'await new Promise((resolve) => setTimeout(resolve, 500)); return calls;',
      },
      { timeoutMs: 2_000 },
    );
    const hanging = slow.invoke('{"hang":true}');
    await sleep(1_700);
    const result = resultOf(other);
    expect(await hanging).toMatchObject({ timedOut: true });
    expect([await result, await resultOf(slow)]).toEqual([1, 2]);
  });

  it('ends only the instance whose time is over while its thread gets no processor time', async () => {
    const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000)';
    const localFunction = functionOf(`if (event.starve) ${wait}; return calls;`, { timeoutMs: 1_500 });
    expect(await resultOf(localFunction)).toBe(1);
    expect(await localFunction.invoke('{"starve":true}')).toMatchObject({ timedOut: true });
    expect(await resultOf(localFunction)).toBe(3);
  });

  it('replaces an instance with an error after its event', async () => {
    const localFunction = functionOf('setTimeout(() => { throw new Error("late") }, 20); return calls');
    expect(await resultOf(localFunction)).toBe(1);
    await waitFor('the crash', () => printed.join('').includes('late'));
    expect(await resultOf(localFunction)).toBe(2);
  });

  it('loses all events in progress and handles the next one after a crash of its thread', async () => {
    const localFunction = functionOf('if (event.hang) await new Promise(() => {}); return calls');
    expect(await resultOf(localFunction)).toBe(1);
    const hanging = localFunction.invoke('{"hang":true}');
    for (const threads of running) await threads.kill();
    expect(await hanging).toHaveProperty('error');
    expect(await resultOf(localFunction)).toBe(1);
  });
});
