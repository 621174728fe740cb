import { ServiceError } from '../../../../lib/shared/errors.ts';
import { processorB } from '../../../../lib/stores/processor-b/processor-b.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import type { StoreContext, StoreFetch } from '../../../../lib/stores/store-context.ts';
import { createFixedClock, type EmulatorClient, startEmulatorClient } from '../../../emulator/emulator-client.ts';

/** Paths of the calls that took a payment. */
const charges = /\/(?:transactions|subscriptions)$/;

/** The emulated Braintree with the adapter in front of it. */
export interface Braintree extends EmulatorClient {
  /** How many payments the gateway was asked for. */
  readonly charged: () => number;
  readonly asking: (changes?: Partial<StoreContext>, settings?: object) => StoreContext;
  readonly bought: (order?: object) => Promise<{ id: string; body: ValidationRequest }>;
  readonly validate: (body: ValidationRequest, context?: StoreContext) => Promise<StoreValidation>;
  /** Loses the answer of the next call whose path fits, after the gateway has acted. */
  readonly loseAnswer: (path: RegExp) => void;
}

/** Starts it, with a clock that stands still. */
export async function useBraintree(): Promise<Braintree> {
  const user = await startEmulatorClient({ clock: createFixedClock() });
  const runOnce = onceInMemory();
  const through = createRecordedFetch({ record: () => undefined, now: user.clock.now, storesUrl: user.url });
  let count = 0;
  let lost: RegExp | undefined;
  const fetch: StoreFetch = async (url, init = {}) => {
    if (init.method === 'POST' && charges.test(url)) count += 1;
    const response = await through(url, init);
    if (!lost?.test(url)) return response;
    lost = undefined;
    throw new ServiceError('ConnectionFailed', 'The store could not be reached.');
  };
  const context: Braintree['asking'] = (changes = {}, settings = {}) => ({
    appName: 'app',
    settings: { ...user.settings('processor_b'), ...settings },
    fetch,
    now: user.clock.now,
    runOnce,
    extraRoots: [],
    ...changes,
  });
  return {
    ...user,
    asking: context,
    charged: () => count,
    loseAnswer: (path) => {
      lost = path;
    },
    bought: async (order = {}) => {
      const { body } = await user.buy({ platform: 'processor_b', productId: 'tip_jar', type: 'consumable', ...order });
      const { additionalData = {}, ...request } = body.validate;
      return { id: body.id, body: { ...request, ...additionalData } };
    },
    addFault: (fault) => user.addFault({ platform: 'processor_b', ...fault }),
    validate: (body, given = context()) => processorB.validate(body, given),
  };
}

/** Like the one on the table: one run at a time, the result kept as JSON, recovery before a second run. */
function onceInMemory(): StoreContext['runOnce'] {
  const runs = new Map<string, { result?: string; isRunning: boolean }>();
  return async (key, charge, recover) => {
    const present = runs.get(key);
    if (present?.result !== undefined) return JSON.parse(present.result);
    if (present?.isRunning) throw new ServiceError('Conflict', 'The same payment is being made by another request.');
    const run: { result?: string; isRunning: boolean } = { isRunning: true };
    runs.set(key, run);
    try {
      const result = (present && (await recover())) ?? (await charge());
      run.result = JSON.stringify(result);
      return result;
    } finally {
      run.isRunning = false;
    }
  };
}
