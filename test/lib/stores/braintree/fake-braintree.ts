import {
  createFixedClock,
  type EmulatorClient,
  startEmulatorClient,
} from '../../../../emulator/test/emulator-client.ts';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { braintree } from '../../../../lib/stores/braintree/braintree.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import type { StoreContext, StoreFetch } from '../../../../lib/stores/store-context.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';

/** Paths of the requests that charge a payment method. */
const chargePaths = /\/(?:transactions|subscriptions)$/;

/** The emulated Braintree and the adapter. */
export interface FakeBraintree extends Omit<EmulatorClient, 'buy'> {
  /** Returns the number of charge requests so far. */
  readonly countCharges: () => number;
  readonly createContext: (changes?: Partial<StoreContext>, settings?: object) => StoreContext;
  /** Creates a payment method nonce in the emulator, and the validation request for it. */
  readonly buy: (order?: object) => Promise<{ id: string; body: ValidationRequest }>;
  readonly validate: (body: ValidationRequest, context?: StoreContext) => Promise<StoreValidation>;
  /** Drops the response of the next request with a matching path, after Braintree has processed it. */
  readonly loseResponse: (path: RegExp) => void;
}

/** Starts the emulator with a fixed clock. */
export async function startFakeBraintree(): Promise<FakeBraintree> {
  const client = await startEmulatorClient({ clock: createFixedClock() });
  const runOnce = createRunOnce();
  const recordedFetch = createRecordedFetch({
    storeName: 'Braintree',
    record: () => undefined,
    now: client.clock.now,
    stopwatch: stoppedStopwatch,
    storesUrl: client.url,
  });
  let count = 0;
  let lostPath: RegExp | undefined;
  const fetch: StoreFetch = async (url, init = {}) => {
    if (init.method === 'POST' && chargePaths.test(url)) count += 1;
    const response = await recordedFetch(url, init);
    if (!lostPath?.test(url)) return response;
    lostPath = undefined;
    throw new ServiceError('ConnectionFailed', 'Braintree is unavailable. Try again later.');
  };
  const createContext: FakeBraintree['createContext'] = (changes = {}, settings = {}) => ({
    appName: 'app',
    settings: { ...client.settings('processor_b'), ...settings },
    fetch,
    now: client.clock.now,
    runOnce,
    getVaultReference: async (customerId) => `reference of ${customerId}`,
    stopwatch: stoppedStopwatch,
    extraRoots: [],
    ...changes,
  });
  return {
    ...client,
    createContext,
    countCharges: () => count,
    loseResponse: (path) => {
      lostPath = path;
    },
    buy: async (order = {}) => {
      const { body } = await client.buy({
        platform: 'processor_b',
        productId: 'tip_jar',
        type: 'consumable',
        ...order,
      });
      const { additionalData = {}, ...request } = body.validate;
      return { id: body.id, body: { ...request, ...additionalData } };
    },
    addFault: (fault) => client.addFault({ platform: 'processor_b', ...fault }),
    validate: (body, context = createContext()) => braintree.validate(body, context),
  };
}

/** In-memory `runOnce`: one run at a time, stores the result as JSON and recovers before a second run. */
function createRunOnce(): StoreContext['runOnce'] {
  const runs = new Map<string, { result?: string; isRunning: boolean }>();
  return async (key, charge, recover) => {
    const existing = runs.get(key);
    if (existing?.result !== undefined) return JSON.parse(existing.result);
    if (existing?.isRunning) throw new ServiceError('Conflict', 'The same operation is in progress.');
    const run: { result?: string; isRunning: boolean } = { isRunning: true };
    runs.set(key, run);
    try {
      const result = (existing && (await recover())) ?? (await charge());
      run.result = JSON.stringify(result);
      return result;
    } finally {
      run.isRunning = false;
    }
  };
}
