import {
  decodePayload,
  type EmulatorClient,
  startEmulatorClient,
  startTime,
  type TestResponse,
} from './emulator-client.ts';

export const toClaimName = (name: string): string =>
  `http://schemas.microsoft.com/marketplace/2015/08/claims/key/${name}`;

export const collectionsHost = 'collections.mp.microsoft.com';
export const purchaseHost = 'purchase.mp.microsoft.com';
export const onestoreUrl = 'https://onestore.microsoft.com';

/** Someone who uses the emulated Microsoft Store as a publisher's service and as a customer's device. */
export interface StoreCClient extends EmulatorClient {
  /** Asks Entra for a token, in version 1 of its endpoint. */
  readonly entra: (form: Record<string, string>, path?: string) => Promise<TestResponse>;
  readonly token: (audience?: string) => Promise<string>;
  /** Posts to a service with an access token. */
  readonly post: (host: string, path: string, body: object) => Promise<TestResponse>;
  /** The StoreID key of the customer who made the purchase. */
  readonly key: (service: 'collections' | 'purchase', purchaseId: string) => Promise<string>;
  /** The entries of the customer's collection in version 9. */
  readonly items: (purchaseId: string, productId: string, more?: object) => Promise<TestResponse>;
  readonly recurrences: (purchaseId: string, more?: object) => Promise<TestResponse>;
}

/** Starts an emulator whose clock stands still at `start`. */
export async function startStoreCClient(): Promise<StoreCClient> {
  const user = await startEmulatorClient();
  const { tenantId, clientId, clientSecret } = user.settings('store_c') as Record<string, string>;
  const form = { grant_type: 'client_credentials', client_id: clientId ?? '', client_secret: clientSecret ?? '' };
  const entra: StoreCClient['entra'] = (more, path = `/${tenantId}/oauth2/token`) =>
    user.call(`/login.microsoftonline.com${path}`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, ...more }).toString(),
    });
  const token = async (audience = onestoreUrl): Promise<string> =>
    (await entra({ resource: audience })).body.access_token;
  const post: StoreCClient['post'] = async (host, path, body) =>
    user.call(`/${host}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const key: StoreCClient['key'] = async (service, purchaseId) => {
    const path = `/b2b/keys/create/${service}`;
    const ticket = await token(onestoreUrl + path);
    const body = { serviceTicket: ticket, publisherUserId: 'the user', purchaseId };
    return (await post('onestore.microsoft.com', path, body)).body.key;
  };
  return {
    ...user,
    entra,
    token,
    post,
    key,
    buy: (order = {}) => user.buy({ platform: 'store_c', ...order }),
    addFault: (fault) => user.addFault({ platform: 'store_c', ...fault }),
    items: async (purchaseId, productId, more = {}) =>
      post(collectionsHost, '/v9.0/collections/PublisherQuery', {
        beneficiaries: [await buildBeneficiary(key, purchaseId)],
        productSkuIds: [{ productId }],
        ...more,
      }),
    recurrences: async (purchaseId, more = {}) =>
      post(purchaseHost, '/v8.0/b2b/recurrences/query', { b2bKey: await key('purchase', purchaseId), ...more }),
  };
}

/** The customer as a query names them. */
export const buildBeneficiary = async (key: StoreCClient['key'], purchaseId: string): Promise<object> => ({
  identitytype: 'b2b',
  identityValue: await key('collections', purchaseId),
  localTicketReference: 'reference',
});

export { decodePayload, startTime };
