import { isConflict, ServiceError } from './errors.ts';

const maxAttempts = 10;

/** With full jitter, 40 concurrent writers of one item all succeed within half of these attempts. */
const maxWrites = 40;
const baseDelayMs = 20;

/**
 * Runs an optimistic write, which must read its input again on every call, until no other writer interferes. Retries a
 * `Conflict` with exponential backoff and full jitter. Throws the last `Conflict` after `attempts` attempts. The first
 * attempt has the number 1.
 */
export async function retryOnConflict<T>(
  run: (attempt: number) => Promise<T>,
  attempts: number = maxAttempts,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(attempt);
    } catch (error) {
      if (!isConflict(error) || attempt === attempts) throw error;
      await waitForOtherWriters(attempt);
    }
  }
}

/**
 * Runs an optimistic write until it returns a result, like `retryOnConflict`. `run` returns undefined if its condition
 * failed. Its errors are not retried, so that it can throw its own `Conflict`. Throws `Conflict` after 40 attempts.
 */
export async function retryUntilWritten<T extends object>(run: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 1; attempt <= maxWrites; attempt++) {
    const result = await run();
    if (result) return result;
    await waitForOtherWriters(attempt);
  }
  throw new ServiceError('Conflict', 'Other changes were made concurrently. Try again.');
}

const waitForOtherWriters = async (attempt: number): Promise<void> =>
  await new Promise((resolve) => setTimeout(resolve, Math.random() * baseDelayMs * 2 ** Math.min(attempt, 6)));
