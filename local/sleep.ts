import { setTimeout as wait } from 'node:timers/promises';

/** Waits for the given time or until the signal aborts. */
export const sleep = async (ms: number, signal: AbortSignal): Promise<void> =>
  await wait(ms, undefined, { signal }).catch(() => undefined);
