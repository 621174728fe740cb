import { generateKeyPairSync } from 'node:crypto';
import { ServiceError } from '../lib/shared/errors.ts';
import type { StoreValidation, ValidationRequest } from '../lib/stores/store.ts';
import { storeA } from '../lib/stores/store-a/store-a.ts';
import type { StoreContext, StoreFetch, StoreResponse } from '../lib/stores/store-context.ts';
import { appAppleId, buildRenewalPayload, buildTransactionPayload, bundleId, purchaseDate } from './apple-payloads.ts';
import { createPki, type Pki } from './apple-pki.ts';
import { signJws } from './apple-signatures.ts';

/** The chain that Apple signs with in the tests; its root is trusted through `extraRoots`. */
export const applePki: Pki = createPki();

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

export const apiSettings = {
  bundleId,
  appAppleId,
  issuerId: 'issuer',
  keyId: 'KEY1',
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};

type TransactionPayload = ReturnType<typeof buildTransactionPayload>;

/** What Apple knows of a customer in one environment. */
export interface Customer {
  readonly transactions?: readonly object[];
  readonly statuses?: readonly { status: number; transaction?: object; renewal?: object }[];
  readonly download?: object;
}

/** A subscription with one transaction, in this status. */
export const createSubscriber = (status: number, transaction: object = {}, renewal: object = {}): Customer => ({
  transactions: [buildTransactionPayload(transaction)],
  statuses: [{ status, transaction: buildTransactionPayload(transaction), renewal: buildRenewalPayload(renewal) }],
});

const environments = { 'api.storekit.apple.com': 'Production', 'api.storekit-sandbox.apple.com': 'Sandbox' } as const;
type Customers = Partial<Record<'Production' | 'Sandbox', Customer>>;

/** The App Store Server API as it would answer, and the calls that it got. */
export function createAppStore(customers: Customers, pki: Pki = applePki): { fetch: StoreFetch; calls: string[] } {
  const calls: string[] = [];
  const fetch: StoreFetch = async (url) => {
    const { host, pathname, searchParams } = new URL(url);
    calls.push(`${host}${pathname}`);
    const environment = environments[host as keyof typeof environments];
    const customer = customers[environment];
    const known =
      customer && buildResponse(customer, pathname, { environment, pki, revision: searchParams.get('revision') });
    return known
      ? jsonResponse(200, known)
      : jsonResponse(404, { errorCode: 4040010, errorMessage: 'Transaction id not found.' });
  };
  return { fetch, calls };
}

const pageSize = 20;

function buildResponse(
  { transactions = [], statuses = [], download }: Customer,
  path: string,
  { environment, pki, revision }: { environment: string; pki: Pki; revision: string | null },
): object | undefined {
  const origin = { environment, bundleId, ...(environment === 'Production' && { appAppleId }) };
  if (path.includes('/appTransactions/')) return download && { signedAppTransactionInfo: signJws(download, pki) };
  if (path.includes('/v1/transactions/')) return { signedTransactionInfo: signJws(transactions[0] ?? {}, pki) };
  if (path.includes('/history/')) {
    const start = Number(revision ?? 0);
    const signedTransactions = transactions.slice(start, start + pageSize).map((payload) => signJws(payload, pki));
    const end = start + pageSize;
    return { ...origin, signedTransactions, revision: String(end), hasMore: end < transactions.length };
  }
  const lastTransactions = statuses.map(({ status, transaction = {}, renewal }) => ({
    status,
    originalTransactionId: (transaction as TransactionPayload).originalTransactionId,
    signedTransactionInfo: signJws(transaction, pki),
    ...(renewal && { signedRenewalInfo: signJws(renewal, pki) }),
  }));
  return { ...origin, data: [{ subscriptionGroupIdentifier: 'group-1', lastTransactions }] };
}

export const jsonResponse = (status: number, body: object): StoreResponse => textResponse(status, JSON.stringify(body));

export const textResponse = (status: number, text: string): StoreResponse => ({ status, text, headers: new Headers() });

/** No connection. */
export const failFetch: StoreFetch = async () => {
  throw new ServiceError('ConnectionFailed', 'The store could not be reached.');
};

/** What an adapter gets while it validates, one minute after the purchase of the samples. */
export const createContext = (changes: Partial<StoreContext> = {}): StoreContext => ({
  appName: 'app',
  settings: apiSettings,
  fetch: failFetch,
  now: () => purchaseDate + 60_000,
  runOnce: (_key, charge) => charge(),
  extraRoots: [applePki.root.der],
  ...changes,
});

/** A request with a signed transaction, for the application. */
export const createSignedRequest = (payload: object, changes: Partial<ValidationRequest> = {}): ValidationRequest => ({
  id: bundleId,
  type: 'application',
  transaction: { type: 'store_a', jwsRepresentation: signJws(payload, applePki) },
  ...changes,
});

/** What the validation of a signed transaction shows, when Apple knows the customer so. */
export const validateSignedTransaction = async (
  customer: Customer,
  payload: object = buildTransactionPayload(),
  changes: { request?: Partial<ValidationRequest>; context?: Partial<StoreContext> } = {},
): Promise<StoreValidation> =>
  await storeA.validate(
    createSignedRequest(payload, changes.request),
    createContext({ fetch: createAppStore({ Production: customer }).fetch, ...changes.context }),
  );
