import { secondMs } from './time.ts';

/** Lambda stops the initialization of a function after ten seconds. */
const maxWarmUpMs = 5 * secondMs;

const tasks: (() => Promise<unknown>)[] = [];

/** Registers tasks that the first request of an instance needs. */
export const registerWarmUp = (...added: readonly (() => Promise<unknown>)[]): void => void tasks.push(...added);

/**
 * Runs the registered tasks while Lambda initializes an instance, which has a full processor: a request has the share
 * of its memory size. Ignores failures, because the first request reports them. Called at the end of each bundle.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
export async function runWarmUp(): Promise<void> {
  if (process.env.AWS_LAMBDA_INITIALIZATION_TYPE === undefined || tasks.length === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, maxWarmUpMs);
  });
  await Promise.race([Promise.allSettled(tasks.map(async (run) => await run())), timeout]);
  clearTimeout(timer);
}
