import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { type LoadStep, sendLoad } from '../load/send-load.ts';

/** Requests of one process. */
export interface ValidationTask {
  /** File with a JSON list of Lambda events. */
  readonly file: string;
  /** Invocations a second. */
  readonly rate: number;
}

/** Report of a process. */
export interface ValidationReport extends LoadStep {
  /** The first error. */
  readonly error?: string;
  /** CPU time of the process, in milliseconds. */
  readonly cpuMs: number;
}

/*
 * Calls the built bundle of validate-receipt directly, at a fixed rate. The log is discarded.
 */
for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) console[level] = () => {};

const [, , module = ''] = process.argv;
const { handler } = (await import(pathToFileURL(module).href)) as {
  handler: (event: unknown, context: object) => Promise<APIGatewayProxyResult>;
};

async function run({ file, rate }: ValidationTask): Promise<ValidationReport> {
  const events = JSON.parse(await readFile(file, 'utf8')) as readonly unknown[];
  const start = process.cpuUsage();
  let error: string | undefined;
  const step = await sendLoad({ rate, count: events.length }, async (number) => {
    const context = { awsRequestId: `launch-${number}`, getRemainingTimeInMillis: () => 29_000 };
    const { statusCode, body } = await handler(events[number], context);
    if (statusCode === 200 && JSON.parse(body).ok) return;
    error ??= `${statusCode} ${body}`;
    throw new Error(error);
  });
  const { user, system } = process.cpuUsage(start);
  return { ...step, ...(error !== undefined && { error }), cpuMs: (user + system) / 1000 };
}

process.on('message', async (task: ValidationTask) => process.send?.(await run(task)));
process.send?.('started');
