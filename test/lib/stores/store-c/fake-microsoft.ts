import type { Observation } from '../../../../lib/purchases/observation.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import { storeC } from '../../../../lib/stores/store-c/store-c.ts';
import type { StoreContext, StoreFetch, StoreRequest, StoreResponse } from '../../../../lib/stores/store-context.ts';
import {
  createFixedClock,
  type EmulatorClient,
  startEmulatorClient,
  startTime,
} from '../../../emulator/emulator-client.ts';

export { startTime as start };

/** A call that the adapter made. */
interface Made {
  readonly url: string;
  readonly init: StoreRequest;
}

/** The emulated Microsoft Store with the adapter in front of it. */
export interface Microsoft extends EmulatorClient {
  /** Every call of the adapter, oldest first. */
  readonly calls: Made[];
  readonly asking: (changes?: object, appName?: string) => StoreContext;
  /** Buys, and gives the purchase's id with the body that a client would post. */
  readonly bought: (order?: object) => Promise<{ id: string; body: ValidationRequest }>;
  readonly bodyOf: (id: string, form?: string) => Promise<ValidationRequest>;
  readonly validate: (body: ValidationRequest, settings?: object) => Promise<StoreValidation>;
  /** The one purchase that a validation of it now shows. */
  readonly seen: (id: string) => Promise<Observation>;
  readonly refresh: (token: Observation['refreshToken']) => Promise<readonly Observation[]>;
}

/** Starts it, with a clock that stands still. */
export async function useMicrosoft(): Promise<Microsoft> {
  const user = await startEmulatorClient({ clock: createFixedClock() });
  const calls: Made[] = [];
  const through = createRecordedFetch({ record: () => undefined, now: user.clock.now, storesUrl: user.url });
  const fetch: StoreFetch = async (url, init = {}) => {
    calls.push({ url, init });
    return await through(url, init);
  };
  const context: Microsoft['asking'] = (changes = {}, appName = 'app') => ({
    ...askingWith(fetch, { ...user.settings('store_c'), ...changes }),
    appName,
    now: user.clock.now,
  });
  const bodyOf: Microsoft['bodyOf'] = async (id, form = 'keys') =>
    requestOf((await user.control('GET', `/control/purchases/${id}?form=${form}`)).body.validate);
  return {
    ...user,
    calls,
    asking: context,
    bodyOf,
    bought: async (order = {}) => {
      const { body } = await user.buy({ platform: 'store_c', ...order });
      return { id: body.id, body: requestOf(body.validate) };
    },
    addFault: (fault) => user.addFault({ platform: 'store_c', ...fault }),
    validate: (body, settings) => storeC.validate(body, context(settings)),
    seen: async (id) => {
      const validation = await storeC.validate(await bodyOf(id), context());
      const found = validation.observations.find(({ purchase }) => purchase.purchaseId === `store_c:${id}`);
      if (!found) throw new Error(`${id} was not seen`);
      return found;
    },
    refresh: async (token) => (await storeC.refresh?.(token ?? {}, context())) ?? [],
  };
}

/** What an adapter may use, with this fetch and these settings. */
export const askingWith = (fetch: StoreFetch, settings: unknown): StoreContext => ({
  appName: 'app',
  settings,
  fetch,
  now: () => startTime,
  runOnce: (_key, charge) => charge(),
  extraRoots: [],
});

/** A fetch that answers the token endpoint, and everything else with what is given. */
export const answering =
  (response: (url: string, init: StoreRequest) => { status?: number; text: string }): StoreFetch =>
  async (url, init = {}) =>
    url.startsWith('https://login.') ? answered({ text: tokenText }) : answered(response(url, init));

export const answered = ({ status = 200, text }: { status?: number; text: string }): StoreResponse => ({
  status,
  headers: new Headers(),
  text,
});

const tokenText = JSON.stringify({ token_type: 'Bearer', expires_in: '3599', access_token: 'token' });

// biome-ignore lint/suspicious/noExplicitAny: the emulator's bodies are JSON of clients.
function requestOf({ additionalData = {}, ...body }: any): ValidationRequest {
  return { ...body, ...additionalData };
}
