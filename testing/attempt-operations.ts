import type { Service } from '../lib/foundation/service.ts';
import { createCrashingTable, tableWrites } from './crashing-table.ts';
import type { StepCounts } from './step-counts.ts';

/** Performs an operation, which is a step of this kind, until it has ended without a crash. */
export type Attempt = <T>(kind: string, operate: (service: Service) => Promise<T>) => Promise<T>;

const maxCrashes = 5;

/**
 * Returns a function that repeats an operation after each crash, like a client or a queue. `crashRate` is the part
 * of the writes before or after which the process crashes. A process that has crashed writes nothing more.
 */
export function createAttempt(service: Service, crashRate: number, counts: StepCounts): Attempt {
  const isCrash = createRandomChoice(crashRate);
  return async (kind, operate) => {
    counts.countStep(kind);
    for (let crashes = 0; crashes < maxCrashes; crashes++) {
      let hasCrashed = false;
      const table = createCrashingTable(
        service.table,
        () => {
          hasCrashed ||= isCrash();
          return hasCrashed;
        },
        tableWrites,
      );
      const outcome = await settleOutcome(operate({ ...service, table }));
      if (!hasCrashed) return outcome();
      counts.countOther('crashes');
    }
    return await operate(service);
  };
}

/** Returns a function that returns the result, or throws the error. */
async function settleOutcome<T>(promise: Promise<T>): Promise<() => T> {
  try {
    const result = await promise;
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The same rate has the same sequence of choices. */
function createRandomChoice(rate: number): () => boolean {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state < rate * 2_147_483_647;
  };
}
