import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunctions, bundleFile } from '../../infra/build-functions.ts';
import type { ValidationReport, ValidationTask } from './validation-process.ts';

/** Processes that run the built bundle of validate-receipt. */
export interface ValidationProcesses {
  /** Invokes the function with the events at a rate, in equal parts by each process. */
  run(events: readonly unknown[], rate: number): Promise<ValidationReport[]>;
  close(): Promise<void>;
}

const functionName = 'validation/validate-receipt';

/** Builds the bundle and starts the processes with the environment of the functions. */
export async function startValidationProcesses(
  count: number,
  environment: Readonly<Record<string, string>>,
): Promise<ValidationProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-launch-'));
  await buildFunctions(join(folder, 'functions'), undefined, [functionName]);
  await bundleFile('bench/launch/validation-process.ts', join(folder, 'bench'));
  const bundle = join(folder, 'functions', functionName, 'validate-receipt.mjs');
  const children = Array.from({ length: count }, () =>
    fork(join(folder, 'bench', 'validation-process.mjs'), [bundle], {
      env: { ...process.env, ...environment },
      execArgv: [],
    }),
  );
  await Promise.all(children.map(receive));
  return {
    async run(events, rate) {
      return await Promise.all(
        children.map(async (child, index) => {
          const file = join(folder, `events-${index}.json`);
          await writeFile(file, JSON.stringify(events.filter((_event, number) => number % count === index)));
          const task: ValidationTask = { file, rate: rate / count };
          child.send(task);
          return (await receive(child)) as ValidationReport;
        }),
      );
    },
    async close() {
      for (const child of children) child.kill();
      await rm(folder, { recursive: true });
    },
  };
}

/** Returns the next message. Throws if the process exits before it. */
async function receive(child: ChildProcess): Promise<unknown> {
  const stop = new AbortController();
  const exit = once(child, 'exit', { signal: stop.signal }).then(() => {
    throw new Error('A process of validate-receipt exited.');
  });
  exit.catch(() => {});
  const [message] = await Promise.race([once(child, 'message', { signal: stop.signal }), exit]);
  stop.abort();
  return message;
}
