import { generateKeyPairSync } from 'node:crypto';
import { ServiceError } from '../lib/foundation/errors.ts';
import { minuteMs } from '../lib/foundation/time.ts';
import { appStore } from '../lib/stores/app-store/app-store.ts';
import type { StoreValidation, ValidationRequest } from '../lib/stores/store.ts';
import type { StoreContext, StoreFetch, StoreResponse } from '../lib/stores/store-context.ts';
import { appAppleId, buildRenewalPayload, buildTransactionPayload, bundleId, purchaseDate } from './apple-payloads.ts';
import { createPki, type Pki } from './apple-pki.ts';
import { signJws } from './apple-signatures.ts';
import { stoppedStopwatch } from './stopwatch.ts';

/** Certificate chain that signs Apple's payloads in tests. `createContext` trusts its root through `extraRoots`. */
export const applePki: Pki = createPki();

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Settings of the App Store with credentials for the App Store Server API. */
export const apiSettings = {
  bundleId,
  appAppleId,
  issuerId: 'issuer',
  keyId: 'KEY1',
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};

type TransactionPayload = ReturnType<typeof buildTransactionPayload>;

/** Data of the App Store about a customer in one environment. */
export interface Customer {
  readonly transactions?: readonly object[];
  /** `status` as in https://developer.apple.com/documentation/appstoreserverapi/status */
  readonly statuses?: readonly { status: number; transaction?: object; renewal?: object }[];
  readonly download?: object;
}

/** Builds a customer with one subscription in the given status, and one transaction. */
export const createSubscriber = (status: number, transaction: object = {}, renewal: object = {}): Customer => ({
  transactions: [buildTransactionPayload(transaction)],
  statuses: [{ status, transaction: buildTransactionPayload(transaction), renewal: buildRenewalPayload(renewal) }],
});

const environments = { 'api.storekit.apple.com': 'Production', 'api.storekit-sandbox.apple.com': 'Sandbox' } as const;
type Customers = Partial<Record<'Production' | 'Sandbox', Customer>>;

/** Creates a fake App Store Server API, and the list of calls that it received (`host/path`). */
export function createAppStore(customers: Customers, pki: Pki = applePki): { fetch: StoreFetch; calls: string[] } {
  const calls: string[] = [];
  const fetch: StoreFetch = async (url) => {
    const { host, pathname, searchParams } = new URL(url);
    calls.push(`${host}${pathname}`);
    const environment = environments[host as keyof typeof environments];
    const customer = customers[environment];
    const body = customer && buildResponse(customer, pathname, { environment, pki, query: searchParams });
    return body
      ? jsonResponse(200, body)
      : jsonResponse(404, { errorCode: 4040010, errorMessage: 'Transaction id not found.' });
  };
  return { fetch, calls };
}

const pageSize = 20;

function buildResponse(
  { transactions = [], statuses = [], download }: Customer,
  path: string,
  { environment, pki, query }: { environment: string; pki: Pki; query: URLSearchParams },
): object | undefined {
  const origin = { environment, bundleId, ...(environment === 'Production' && { appAppleId }) };
  if (path.includes('/appTransactions/')) return download && { signedAppTransactionInfo: signJws(download, pki) };
  if (path.includes('/v1/transactions/'))
    return { signedTransactionInfo: signJws(findPayload(transactions, path), pki) };
  if (path.includes('/history/')) {
    const matches = filterByType(transactions, query.getAll('productType'));
    const start = Number(query.get('revision') ?? 0);
    const signedTransactions = matches.slice(start, start + pageSize).map((payload) => signJws(payload, pki));
    const end = start + pageSize;
    return { ...origin, signedTransactions, revision: String(end), hasMore: end < matches.length };
  }
  const lastTransactions = statuses.map(({ status, transaction = {}, renewal }) => ({
    status,
    originalTransactionId: (transaction as TransactionPayload).originalTransactionId,
    signedTransactionInfo: signJws(transaction, pki),
    ...(renewal && { signedRenewalInfo: signJws(renewal, pki) }),
  }));
  return { ...origin, data: [{ subscriptionGroupIdentifier: 'group-1', lastTransactions }] };
}

const productTypes: Readonly<Record<string, string>> = {
  'Auto-Renewable Subscription': 'AUTO_RENEWABLE',
  'Non-Renewing Subscription': 'NON_RENEWABLE',
  'Non-Consumable': 'NON_CONSUMABLE',
  Consumable: 'CONSUMABLE',
};

const filterByType = (transactions: readonly object[], types: readonly string[]): readonly object[] =>
  types.length === 0
    ? transactions
    : transactions.filter((payload) => types.includes(productTypes[(payload as TransactionPayload).type] ?? ''));

/** Finds the transaction whose id is the last segment of the path. Default: the first one. */
const findPayload = (transactions: readonly object[], path: string): object =>
  transactions.find((payload) => path.endsWith(`/${(payload as TransactionPayload).transactionId}`)) ??
  transactions[0] ??
  {};

export const jsonResponse = (status: number, body: object): StoreResponse => textResponse(status, JSON.stringify(body));

export const textResponse = (status: number, text: string): StoreResponse => ({ status, text, headers: {} });

/** A `fetch` without connection. */
export const failFetch: StoreFetch = async () => {
  throw new ServiceError('ConnectionFailed', 'The store is unavailable.');
};

/** Creates the store context of a validation one minute after `purchaseDate`. */
export const createContext = (changes: Partial<StoreContext> = {}): StoreContext => ({
  appName: 'app',
  settings: apiSettings,
  fetch: failFetch,
  now: () => purchaseDate + minuteMs,
  runOnce: (_key, charge) => charge(),
  stopwatch: stoppedStopwatch,
  extraRoots: [applePki.root.der],
  ...changes,
});

/** Builds a validation request with a signed transaction. */
export const createSignedRequest = (payload: object, changes: Partial<ValidationRequest> = {}): ValidationRequest => ({
  id: bundleId,
  type: 'application',
  transaction: { type: 'store_a', jwsRepresentation: signJws(payload, applePki) },
  ...changes,
});

/** Validates a signed transaction of a customer whom only the production environment has. */
export const validateSignedTransaction = async (
  customer: Customer,
  payload: object = buildTransactionPayload(),
  changes: { request?: Partial<ValidationRequest>; context?: Partial<StoreContext> } = {},
): Promise<StoreValidation> =>
  await appStore.validate(
    createSignedRequest(payload, changes.request),
    createContext({ fetch: createAppStore({ Production: customer }).fetch, ...changes.context }),
  );
