import { type Answer, json, type StoreCall, text } from '../http-messages.ts';
import { apiError, errorAnswer } from './api-error.ts';
import { app } from './app.ts';
import { isAuthorized } from './bearer.ts';
import { type Books, type Found, findTransaction, productNamed, purchasesOf } from './books.ts';
import { filtered, type Page, pageOf, transactionsOf } from './history.ts';
import type { Keys } from './keys.ts';
import { appTransactionPayload, renewalPayload, transactionPayload } from './payloads.ts';
import { type Environment, latest, type Purchase, type Subscription } from './records.ts';
import { signData } from './signed-data.ts';

/** What the server API reads and signs with. */
export interface ApiSource {
  readonly books: Books;
  readonly keys: Keys;
  readonly now: () => number;
}

const lookups: Readonly<Record<string, (source: ApiSource, found: Found, query: URLSearchParams) => object>> = {
  '/inApps/v1/transactions/': (source, found) => ({ signedTransactionInfo: signedTransaction(source, found) }),
  '/inApps/v1/transactions/appTransactions/': (source, { account }) => ({
    signedAppTransactionInfo: signData(source.keys.signedData, appTransactionPayload(account, source.now())),
  }),
  '/inApps/v1/subscriptions/': subscriptionStatuses,
  '/inApps/v2/history/': (source, { account }, query) => ({
    ...aboutApp(account.environment),
    ...signedPage(source, pageOf(filtered(source.books, transactionsOf(source.books, account), query), query)),
  }),
  '/inApps/v2/refund/lookup/': (source, { account }, query) => {
    const refunded = transactionsOf(source.books, account).filter(
      ({ transaction }) => transaction.revocation !== undefined,
    );
    return signedPage(source, pageOf(refunded, query));
  },
};

const statusCodes: Readonly<Record<Subscription['state'], number>> = {
  ACTIVE: 1,
  EXPIRED: 2,
  BILLING_RETRY: 3,
  BILLING_GRACE_PERIOD: 4,
  REVOKED: 5,
};

/** Answers a call of the App Store Server API: every lookup starts from any transaction id of the customer. */
export function answerServerApi(source: ApiSource, call: StoreCall, environment: Environment): Answer {
  if (!isAuthorized(call.headers.authorization, source.keys, source.now())) return text(401, 'Unauthenticated\n');
  const lookup = lookups[call.path.slice(0, call.path.lastIndexOf('/') + 1)];
  if (lookup === undefined || call.method !== 'GET') return text(404, 'Not Found\n');
  try {
    return json(200, lookup(source, wanted(source.books, environment, call.path), call.query));
  } catch (thrown) {
    return errorAnswer(thrown);
  }
}

/** A transaction as the store signs it, for its API and for the device. */
export const signedTransaction = ({ books, keys, now }: ApiSource, found: Found): string =>
  signData(keys.signedData, transactionPayload(books, found, now()));

function wanted(books: Books, environment: Environment, path: string): Found {
  const transactionId = path.slice(path.lastIndexOf('/') + 1);
  if (!/^\d{1,20}$/.test(transactionId)) throw apiError(4000006, 'Invalid transaction id.');
  const found = findTransaction(books, environment, transactionId);
  if (found === undefined) throw apiError(4040010, 'Transaction id not found.');
  return found;
}

function subscriptionStatuses(source: ApiSource, { account }: Found, query: URLSearchParams): object {
  const statuses = query.getAll('status').map(Number);
  if (statuses.some((status) => !Object.values(statusCodes).includes(status))) {
    throw apiError(4000031, 'Invalid request. The status parameter is invalid.');
  }
  const groups = new Map<string, object[]>();
  for (const purchase of purchasesOf(source.books, account.id)) {
    if (purchase.subscription === undefined) continue;
    const status = statusCodes[purchase.subscription.state];
    if (statuses.length > 0 && !statuses.includes(status)) continue;
    const { group = '' } = productNamed(source.books, latest(purchase).productId);
    groups.set(group, [...(groups.get(group) ?? []), { status, ...lastTransaction(source, { account, purchase }) }]);
  }
  const data = [...groups].map(([subscriptionGroupIdentifier, lastTransactions]) => ({
    subscriptionGroupIdentifier,
    lastTransactions,
  }));
  return { ...aboutApp(account.environment), data };
}

function lastTransaction(source: ApiSource, owned: { account: Found['account']; purchase: Purchase }): object {
  return {
    originalTransactionId: owned.purchase.id,
    signedTransactionInfo: signedTransaction(source, { ...owned, transaction: latest(owned.purchase) }),
    signedRenewalInfo: signData(source.keys.signedData, renewalPayload(owned, source.now())),
  };
}

const signedPage = (source: ApiSource, { found, revision, hasMore }: Page): object => ({
  signedTransactions: found.map((one) => signedTransaction(source, one)),
  revision,
  hasMore,
});

const aboutApp = (environment: Environment): object => ({
  environment,
  bundleId: app.bundleId,
  ...(environment === 'Production' && { appAppleId: app.appAppleId }),
});
