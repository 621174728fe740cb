import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import type { EmulatedStore } from './emulated-store.ts';
import type { HttpResponse } from './http-messages.ts';

/** What goes wrong with the next calls of a store, by the body of `POST /control/faults` without its platform. */
export const Fault = v.strictObject({
  fault: v.picklist(['slow', 'down', 'rate-limited', 'html', 'cut']),
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  delayMs: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(600_000)), 30_000),
});
export type Fault = v.InferOutput<typeof Fault>;

/** The faults that are still to come, in their order. */
export interface FaultQueue {
  readonly add: (platform: string, fault: Fault) => void;
  /** The fault of the call that is made now, which counts as one of its times. */
  readonly consume: (platform: string) => Fault | undefined;
  readonly list: (platform: string) => readonly Fault[];
  readonly clear: () => void;
}

/** No faults yet. */
export function createFaultQueue(): FaultQueue {
  const waiting = new Map<string, readonly Fault[]>();
  const of = (platform: string): readonly Fault[] => waiting.get(platform) ?? [];
  return {
    list: of,
    add: (platform, fault) => {
      waiting.set(platform, [...of(platform), fault]);
    },
    consume: (platform) => {
      const [fault, ...others] = of(platform);
      if (fault !== undefined) waiting.set(platform, [...consumeOne(fault), ...others]);
      return fault;
    },
    clear: () => waiting.clear(),
  };
}

/** The answer of a store that the fault, if any, gets in the way of. */
export async function respondWithFault(
  fault: Fault | undefined,
  { faultResponses }: EmulatedStore,
  { answer: response, signal }: { answer: () => HttpResponse; signal: AbortSignal },
): Promise<HttpResponse> {
  if (fault === undefined) return response();
  switch (fault.fault) {
    case 'slow':
      await delay(fault.delayMs, undefined, { signal });
      return response();
    case 'html':
      return htmlPage;
    case 'cut':
      return { ...response(), isTruncated: true };
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
