import type { StoreKeys } from '../../../../emulator/store-keys.ts';
import {
  createFixedClock,
  type EmulatorClient,
  startEmulatorClient,
  startTime,
} from '../../../../emulator/test/emulator-client.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import type {
  StoreContext,
  StoreFetch,
  StoreFetchOptions,
  StoreResponse,
} from '../../../../lib/stores/store-context.ts';
import { getStoreKeys } from '../../../../testing/run-keys.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';

export { startTime };

interface RecordedCall {
  readonly url: string;
  readonly init: StoreFetchOptions;
}

/** The emulated Microsoft Store and the adapter that calls it. */
export interface Microsoft extends EmulatorClient {
  /** Every call of the adapter, oldest first. */
  readonly calls: RecordedCall[];
  readonly createContext: (settingsChanges?: object, appName?: string) => StoreContext;
  /** Buys a product. Returns the id of the purchase and the validation request of a client. */
  readonly createPurchase: (order?: object) => Promise<{ id: string; body: ValidationRequest }>;
  readonly getRequest: (id: string, form?: string) => Promise<ValidationRequest>;
  readonly validate: (body: ValidationRequest, settingsChanges?: object) => Promise<StoreValidation>;
  /** Validates a purchase and returns its observation. */
  readonly getObservation: (id: string) => Promise<Observation>;
  readonly refresh: (token: Observation['refreshToken']) => Promise<readonly Observation[]>;
}

/** Starts the emulated store with a fixed clock. Default: with the keys of the test run. */
export async function startMicrosoft(keys: StoreKeys = getStoreKeys()): Promise<Microsoft> {
  const client = await startEmulatorClient({ clock: createFixedClock(), keys });
  const calls: RecordedCall[] = [];
  const emulatorFetch = createRecordedFetch({
    storeName: 'The Microsoft Store',
    record: () => undefined,
    now: client.clock.now,
    stopwatch: stoppedStopwatch,
    storesUrl: client.url,
  });
  const fetch: StoreFetch = async (url, init = {}) => {
    calls.push({ url, init });
    return await emulatorFetch(url, init);
  };
  const createAppContext: Microsoft['createContext'] = (settingsChanges = {}, appName = 'app') => ({
    ...createContext(fetch, { ...client.settings('store_c'), ...settingsChanges }),
    appName,
    now: client.clock.now,
  });
  const getRequest: Microsoft['getRequest'] = async (id, form = 'keys') =>
    toValidationRequest((await client.control('GET', `/control/purchases/${id}?form=${form}`)).body.validate);
  return {
    ...client,
    calls,
    createContext: createAppContext,
    getRequest,
    createPurchase: async (order = {}) => {
      const { body } = await client.buy({ platform: 'store_c', ...order });
      return { id: body.id, body: toValidationRequest(body.validate) };
    },
    addFault: (fault) => client.addFault({ platform: 'store_c', ...fault }),
    validate: (body, settingsChanges) => microsoftStore.validate(body, createAppContext(settingsChanges)),
    getObservation: async (id) => {
      const { observations } = await microsoftStore.validate(await getRequest(id), createAppContext());
      const observation = observations.find(({ purchase }) => purchase.purchaseId === `store_c:${id}`);
      if (!observation) throw new Error(`${id} is not found`);
      return observation;
    },
    refresh: async (token) => (await microsoftStore.refresh?.(token ?? {}, createAppContext())) ?? [],
  };
}

export const createContext = (fetch: StoreFetch, settings: unknown): StoreContext => ({
  appName: 'app',
  settings,
  fetch,
  now: () => startTime,
  runOnce: (_key, charge) => charge(),
  stopwatch: stoppedStopwatch,
  extraRoots: [],
});

/** Creates a fetch with a working token endpoint. `respond` handles all other calls. */
export const createFetch =
  (respond: (url: string, init: StoreFetchOptions) => { status?: number; text: string }): StoreFetch =>
  async (url, init = {}) =>
    createResponse(url.startsWith('https://login.') ? { text: tokenText } : respond(url, init));

export const createResponse = ({ status = 200, text }: { status?: number; text: string }): StoreResponse => ({
  status,
  headers: {},
  text,
});

const tokenText = JSON.stringify({ token_type: 'Bearer', expires_in: '3599', access_token: 'token' });

// biome-ignore lint/suspicious/noExplicitAny: the emulator returns client requests as JSON.
function toValidationRequest({ additionalData = {}, ...body }: any): ValidationRequest {
  return { ...body, ...additionalData };
}
