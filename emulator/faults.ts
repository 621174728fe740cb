import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import type { EmulatedStore } from './emulated-store.ts';
import type { HttpResponse } from './http-messages.ts';

/** Fault for the next calls to a store: the body of `POST /control/faults` without the platform. */
export const Fault = v.strictObject({
  fault: v.picklist(['slow', 'down', 'rate-limited', 'html', 'cut']),
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  delayMs: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(600_000)), 30_000),
  /** Limits the fault to calls whose path contains the text, such as `:acknowledge`. */
  path: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
});
export type Fault = v.InferOutput<typeof Fault>;

/** Pending faults by platform, in the order in which they were added. */
export interface FaultQueue {
  readonly add: (platform: string, fault: Fault) => void;
  /** Returns the fault for a call with this path and decrements its `times`. */
  readonly consume: (platform: string, path: string) => Fault | undefined;
  readonly list: (platform: string) => readonly Fault[];
  readonly clear: () => void;
}

/** Creates an empty queue. */
export function createFaultQueue(): FaultQueue {
  const pending = new Map<string, readonly Fault[]>();
  const list = (platform: string): readonly Fault[] => pending.get(platform) ?? [];
  return {
    list,
    add: (platform, fault) => {
      pending.set(platform, [...list(platform), fault]);
    },
    consume: (platform, path) => {
      const faults = list(platform);
      const fault = faults.find((candidate) => path.includes(candidate.path ?? ''));
      if (fault === undefined) return undefined;
      pending.set(
        platform,
        faults.flatMap((candidate) => (candidate === fault ? consumeOne(fault) : [candidate])),
      );
      return fault;
    },
    clear: () => pending.clear(),
  };
}

/**
 * Returns the response of a store, changed or replaced by the fault. Rejects if the client disconnects during a delay.
 */
export async function respondWithFault(
  fault: Fault | undefined,
  { faultResponses }: EmulatedStore,
  { respond, signal }: { respond: () => HttpResponse; signal: AbortSignal },
): Promise<HttpResponse> {
  if (fault === undefined) return respond();
  switch (fault.fault) {
    case 'slow':
      await delay(fault.delayMs, undefined, { signal });
      return respond();
    case 'html':
      return htmlPage;
    case 'cut':
      return { ...respond(), isTruncated: true };
    default:
      return faultResponses[fault.fault]();
  }
}

const htmlPage: HttpResponse = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html><html><head><title>Please wait</title></head><body><p>We will be back soon.</p></body></html>',
};

const consumeOne = (fault: Fault): Fault[] => (fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []);
