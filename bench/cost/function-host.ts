import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { bundleFile } from '../../infra/build-functions.ts';
import type { MeteredCall } from '../units/meter.ts';
import type { RecordedCall } from './call-recorder.ts';
import type { ProcessInvocation, ProcessReport } from './function-process.ts';

/** Resources that an invocation used. */
export interface Invocation {
  /** `<area>/<file>`. */
  readonly functionName: string;
  /** CPU time of the handler, in milliseconds. */
  readonly cpuMs: number;
  readonly logBytes: number;
  /** Calls in the order of their ends. */
  readonly calls: readonly RecordedCall[];
  readonly tableCalls: readonly MeteredCall[];
  /** Bytes of the response to an API request; 0 for workers. */
  readonly responseBytes: number;
}

/** The built functions, each in its own process. */
export interface FunctionHost {
  /** Builds a file of the project like a function, with its warm-up, and returns the name of the function. */
  build(file: string): Promise<string>;
  /** Invokes a function. Throws if it fails. One invocation at a time, because calls are attributed to it. */
  invoke(functionName: string, event: unknown): Promise<HostResult>;
  /** Ends the instance of a function: the next invocation starts another one. */
  stop(functionName: string): void;
  /** Returns the CPU time of the initialization of each started function, in milliseconds. */
  listStarts(): ReadonlyMap<string, number>;
  close(): void;
}

interface HostResult {
  readonly result: unknown;
  readonly invocation: Invocation;
  /** Largest resident set of the process since its start, in MB. Not a number except on Linux. */
  readonly peakMb: number;
}

interface FunctionHostOptions {
  /** Folder of the built functions. */
  readonly bundles: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Memory of the functions in MB. Default: unlimited heap. */
  readonly memorySizes?: ReadonlyMap<string, number>;
  /** Returns the calls since the last `takeCalls`. */
  takeCalls(): Pick<Invocation, 'calls' | 'tableCalls'>;
}

interface Instance {
  readonly process: ChildProcess;
  readonly startCpuMs: number;
}

/** Creates the host. A function starts with its first invocation. */
export async function createFunctionHost({
  bundles,
  environment,
  memorySizes,
  takeCalls,
}: FunctionHostOptions): Promise<FunctionHost> {
  const program = join(bundles, 'bench');
  await bundleFile('bench/cost/function-process.ts', program);
  const instances = new Map<string, Instance>();
  const start = async (functionName: string): Promise<Instance> => {
    const child = fork(
      join(program, 'function-process.mjs'),
      [join(bundles, functionName, `${basename(functionName)}.mjs`)],
      {
        env: environment,
        execArgv: listHeapLimits(memorySizes?.get(functionName)),
      },
    );
    const { cpuMs } = await receiveReport(child, functionName);
    return { process: child, startCpuMs: cpuMs };
  };
  return {
    async build(file) {
      const functionName = join('bench', basename(file, '.ts'));
      await bundleFile(file, join(bundles, functionName), { runsWarmUp: true });
      return functionName;
    },
    async invoke(functionName, event) {
      const instance = instances.get(functionName) ?? (await start(functionName));
      instances.set(functionName, instance);
      takeCalls();
      const message: ProcessInvocation = { event, requestId: randomUUID() };
      instance.process.send(message);
      const { result, cpuMs, logBytes, peakMb } = await receiveReport(instance.process, functionName);
      return {
        result,
        peakMb,
        invocation: { functionName, cpuMs, logBytes, ...takeCalls(), responseBytes: countBytes(result) },
      };
    },
    stop(functionName) {
      instances.get(functionName)?.process.kill();
      instances.delete(functionName);
    },
    listStarts: () => new Map([...instances].map(([name, { startCpuMs }]) => [name, startCpuMs])),
    close() {
      for (const { process } of instances.values()) process.kill();
    },
  };
}

/** Returns the heap limits that Lambda's runtime passes to Node.js: 90 % of the memory, and 5 % for a semi-space. */
const listHeapLimits = (memoryMb: number | undefined): string[] =>
  memoryMb === undefined
    ? []
    : [`--max-old-space-size=${Math.floor(memoryMb * 0.9)}`, `--max-semi-space-size=${Math.floor(memoryMb * 0.05)}`];

async function receiveReport(child: ChildProcess, functionName: string): Promise<ProcessReport> {
  const stop = new AbortController();
  const exit = once(child, 'exit', { signal: stop.signal }).then(() => {
    throw new Error(`The process of ${functionName} exited.`);
  });
  exit.catch(() => {});
  const [report] = (await Promise.race([once(child, 'message', { signal: stop.signal }), exit])) as [ProcessReport];
  stop.abort();
  if (report.error !== undefined) throw new Error(`${functionName} failed: ${report.error}`);
  return report;
}

/** Counts the bytes of the body and the headers of an API response. */
function countBytes(result: unknown): number {
  if (typeof result !== 'object' || result === null || !('statusCode' in result)) return 0;
  const { body = '', headers = {} } = result as { readonly body?: string; readonly headers?: object };
  return Buffer.byteLength(body) + Buffer.byteLength(Object.entries(headers).join('\r\n'));
}
