import { generateKeyPairSync } from 'node:crypto';
import { ServiceError } from '../../lib/errors.ts';
import type { Asking, StoreAnswer, StoreFetch, Validation, ValidationRequest } from '../../lib/stores/store.ts';
import { storeA } from '../../lib/stores/store-a/store-a.ts';
import { appAppleId, bought, bundleId, renewalPayload, transactionPayload } from './apple-payloads.ts';
import { mintPki, type Pki } from './apple-pki.ts';
import { signJws } from './apple-signatures.ts';

/** The chain that Apple signs with in the tests; its root is trusted through `extraRoots`. */
export const apple: Pki = mintPki();

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

export const apiSettings = {
  bundleId,
  appAppleId,
  issuerId: 'issuer',
  keyId: 'KEY1',
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};

type TransactionOf = ReturnType<typeof transactionPayload>;

/** What Apple knows of a customer in one environment. */
export interface Customer {
  readonly transactions?: readonly object[];
  readonly statuses?: readonly { status: number; transaction?: object; renewal?: object }[];
  readonly download?: object;
}

/** A subscription with one transaction, in this status. */
export const subscriber = (status: number, transaction: object = {}, renewal: object = {}): Customer => ({
  transactions: [transactionPayload(transaction)],
  statuses: [{ status, transaction: transactionPayload(transaction), renewal: renewalPayload(renewal) }],
});

const environments = { 'api.storekit.apple.com': 'Production', 'api.storekit-sandbox.apple.com': 'Sandbox' } as const;
type Customers = Partial<Record<'Production' | 'Sandbox', Customer>>;

/** The App Store Server API as it would answer, and the calls that it got. */
export function appStore(customers: Customers, pki: Pki = apple): { fetch: StoreFetch; calls: string[] } {
  const calls: string[] = [];
  const fetch: StoreFetch = async (url) => {
    const { host, pathname, searchParams } = new URL(url);
    calls.push(`${host}${pathname}`);
    const environment = environments[host as keyof typeof environments];
    const customer = customers[environment];
    const known =
      customer && answerOf(customer, pathname, { environment, pki, revision: searchParams.get('revision') });
    return known ? json(200, known) : json(404, { errorCode: 4040010, errorMessage: 'Transaction id not found.' });
  };
  return { fetch, calls };
}

const pageSize = 20;

function answerOf(
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
    originalTransactionId: (transaction as TransactionOf).originalTransactionId,
    signedTransactionInfo: signJws(transaction, pki),
    ...(renewal && { signedRenewalInfo: signJws(renewal, pki) }),
  }));
  return { ...origin, data: [{ subscriptionGroupIdentifier: 'group-1', lastTransactions }] };
}

export const json = (status: number, body: object): StoreAnswer => answer(status, JSON.stringify(body));

export const answer = (status: number, text: string): StoreAnswer => ({ status, text, headers: new Headers() });

/** No connection. */
export const unreachable: StoreFetch = async () => {
  throw new ServiceError('ConnectionFailed', 'The store could not be reached.');
};

/** What an adapter gets while it validates, one minute after the purchase of the samples. */
export const asking = (changes: Partial<Asking> = {}): Asking => ({
  app: 'app',
  settings: apiSettings,
  fetch: unreachable,
  now: () => bought + 60_000,
  once: (_key, charge) => charge(),
  extraRoots: [apple.root.der],
  ...changes,
});

/** A request with a signed transaction, for the application. */
export const signedRequest = (payload: object, changes: Partial<ValidationRequest> = {}): ValidationRequest => ({
  id: bundleId,
  type: 'application',
  transaction: { type: 'store_a', jwsRepresentation: signJws(payload, apple) },
  ...changes,
});

/** What the validation of a signed transaction shows, when Apple knows the customer so. */
export const validated = async (
  customer: Customer,
  payload: object = transactionPayload(),
  changes: { request?: Partial<ValidationRequest>; asking?: Partial<Asking> } = {},
): Promise<Validation> =>
  await storeA.validate(
    signedRequest(payload, changes.request),
    asking({ fetch: appStore({ Production: customer }).fetch, ...changes.asking }),
  );
