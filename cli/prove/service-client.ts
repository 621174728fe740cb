import * as v from 'valibot';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { parseJson } from '../../lib/foundation/parse.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';

const NeutralId = v.pipe(v.string(), v.transform(toNeutralId));

/** A purchase as the API returns it. Its other fields depend on the step that is checked. */
export const PurchaseView = v.looseObject({
  purchaseId: NeutralId,
  productId: v.string(),
  sandbox: v.exactOptional(v.boolean()),
  purchaseDate: v.exactOptional(v.string()),
  expirationDate: v.exactOptional(v.string()),
  entitledUsers: v.array(v.string()),
  notifications: v.exactOptional(v.array(v.object({ date: v.string(), reason: v.string() }))),
});
export type PurchaseView = v.InferOutput<typeof PurchaseView>;

const PurchasePage = v.object({ rows: v.array(PurchaseView) });

const OwnersView = v.object({
  strategy: v.picklist(['all', 'first', 'last', 'last-if-inactive']),
  entitledUsers: v.array(v.string()),
  claims: v.array(v.object({ applicationUsername: v.string(), lastClaimedAt: v.string() })),
});
export type OwnersView = v.InferOutput<typeof OwnersView>;

/** The API of this service for the server of an app. */
export interface ServiceClient {
  /** Lists the purchases that changed since a date. */
  listChanged(since: Date): Promise<readonly PurchaseView[]>;
  /** Returns the purchase with its lifecycle notifications. Undefined if the service does not have it. */
  findPurchase(purchaseId: string): Promise<PurchaseView | undefined>;
  getOwners(purchaseId: string): Promise<OwnersView>;
}

const timeoutMs = 30 * secondMs;

/** Creates a client with a key that can read. Its methods throw `ConnectionFailed` for a response without a result. */
export function createServiceClient(url: string, appName: string, key: string): ServiceClient {
  const authorization = `Basic ${Buffer.from(`${appName}:${key}`).toString('base64')}`;
  const get = async (path: string): Promise<string | undefined> => {
    const response = await fetch(url + path, {
      headers: { authorization },
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((cause: unknown) => {
      throw new ServiceError('ConnectionFailed', `The API at ${url} does not respond.`, { cause });
    });
    const text = await response.text();
    if (response.status === 404) return undefined;
    if (!response.ok)
      throw new ServiceError('ConnectionFailed', `GET ${path} responded with status ${response.status}.`);
    return text;
  };
  const toPath = (purchaseId: string): string => `/v3/purchases/${encodeURIComponent(purchaseId)}`;
  return {
    async listChanged(since) {
      const text = await get(`/v3/purchases?startdate=${since.toISOString()}`);
      return text === undefined ? [] : parseJson(PurchasePage, text, 'ConnectionFailed').rows;
    },
    async findPurchase(purchaseId) {
      const text = await get(`${toPath(purchaseId)}?include_notifications=true`);
      return text === undefined ? undefined : parseJson(PurchaseView, text, 'ConnectionFailed');
    },
    async getOwners(purchaseId) {
      return parseJson(OwnersView, (await get(`${toPath(purchaseId)}/owners`)) ?? '', 'ConnectionFailed');
    },
  };
}
