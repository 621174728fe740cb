import { setTimeout as wait } from 'node:timers/promises';

/** Waits so long, or until the signal is given. */
export const sleep = async (ms: number, signal: AbortSignal): Promise<void> =>
  await wait(ms, undefined, { signal }).catch(() => undefined);
