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

/** Client of the emulated Microsoft Store in the roles of a publisher's service and a customer's device. */
export interface MicrosoftStoreClient extends EmulatorClient {
  /** Requests a token from Entra, by default from version 1 of its endpoint. */
  readonly entra: (form: Record<string, string>, path?: string) => Promise<TestResponse>;
  readonly token: (audience?: string) => Promise<string>;
  /** Posts to a service with an access token. */
  readonly post: (host: string, path: string, body: object) => Promise<TestResponse>;
  /** Creates a StoreID key of the purchase's customer. */
  readonly key: (service: 'collections' | 'purchase', purchaseId: string) => Promise<string>;
  /** Queries the customer's collection in version 9. */
  readonly items: (purchaseId: string, productId: string, more?: object) => Promise<TestResponse>;
  readonly recurrences: (purchaseId: string, more?: object) => Promise<TestResponse>;
}

/** Starts an emulator with a fixed clock at `startTime`. */
export async function startMicrosoftStoreClient(): Promise<MicrosoftStoreClient> {
  const client = await startEmulatorClient();
  const { tenantId, clientId, clientSecret } = client.settings('store_c') as Record<string, string>;
  const form = { grant_type: 'client_credentials', client_id: clientId ?? '', client_secret: clientSecret ?? '' };
  const entra: MicrosoftStoreClient['entra'] = (more, path = `/${tenantId}/oauth2/token`) =>
    client.call(`/login.microsoftonline.com${path}`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, ...more }).toString(),
    });
  const token = async (audience = onestoreUrl): Promise<string> =>
    (await entra({ resource: audience })).body.access_token;
  const post: MicrosoftStoreClient['post'] = async (host, path, body) =>
    client.call(`/${host}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const key: MicrosoftStoreClient['key'] = async (service, purchaseId) => {
    const path = `/b2b/keys/create/${service}`;
    const ticket = await token(onestoreUrl + path);
    const body = { serviceTicket: ticket, publisherUserId: 'the user', purchaseId };
    return (await post('onestore.microsoft.com', path, body)).body.key;
  };
  return {
    ...client,
    entra,
    token,
    post,
    key,
    buy: (order = {}) => client.buy({ platform: 'store_c', ...order }),
    addFault: (fault) => client.addFault({ platform: 'store_c', ...fault }),
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

/** Builds the beneficiary of a query. */
export const buildBeneficiary = async (key: MicrosoftStoreClient['key'], purchaseId: string): Promise<object> => ({
  identitytype: 'b2b',
  identityValue: await key('collections', purchaseId),
  localTicketReference: 'reference',
});

export { decodePayload, startTime };
