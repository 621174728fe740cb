import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { buildLogLine } from './log-lines.ts';

/** One invocation, sent to the process. */
export interface ProcessInvocation {
  readonly event: unknown;
  readonly requestId: string;
}

/** Message from the process: first about its start, then about each invocation. */
export interface ProcessReport {
  /** Result of the handler; absent at the start. */
  readonly result?: unknown;
  readonly error?: string;
  /** CPU time of all threads, in milliseconds. */
  readonly cpuMs: number;
  /** Bytes of the lines that the function logged, in Lambda's format. */
  readonly logBytes: number;
  /** Largest resident set of the process since its start, in MB. Not a number except on Linux. */
  readonly peakMb: number;
}

/*
 * Runs the built bundle of one function in its own process, like an instance on Lambda. Console output is counted
 * in Lambda's format and discarded.
 */
let logBytes = 0;
let requestId = '';
for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
  console[level] = (...values: unknown[]) => {
    logBytes += Buffer.byteLength(buildLogLine(level, values, requestId));
  };
}

/**
 * Returns the largest resident set since the start. `process.resourceUsage` is not used: on Linux, it also counts the
 * parent process before the start.
 */
function readPeakMb(): number {
  const status = '/proc/self/status';
  const [, kilobytes] = (existsSync(status) && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))) || [];
  return Number(kilobytes) / 1024;
}

async function measure(run: () => Promise<unknown>): Promise<ProcessReport> {
  const start = process.cpuUsage();
  logBytes = 0;
  let outcome: Pick<ProcessReport, 'result' | 'error'>;
  try {
    outcome = { result: (await run()) ?? null };
  } catch (error) {
    outcome = { error: error instanceof Error ? String(error.stack) : String(error) };
  }
  const { user, system } = process.cpuUsage(start);
  return { ...outcome, cpuMs: (user + system) / 1000, logBytes, peakMb: readPeakMb() };
}

const [, , module = ''] = process.argv;
let handler: (event: unknown, context: object) => Promise<unknown>;
const started = await measure(async () => {
  ({ handler } = (await import(pathToFileURL(module).href)) as { handler: typeof handler });
});
process.on('message', async (invocation: ProcessInvocation) => {
  requestId = invocation.requestId;
  const context = { awsRequestId: requestId, getRemainingTimeInMillis: () => 29_000 };
  process.send?.(await measure(async () => await handler(invocation.event, context)));
});
process.send?.(started);
