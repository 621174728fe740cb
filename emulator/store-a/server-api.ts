import { type Answer, json, type StoreCall, text } from '../http-messages.ts';
import { apiError, errorAnswer } from './api-error.ts';
import { app } from './app.ts';
import { isAuthorized } from './bearer.ts';
import { type Books, type Found, findTransaction } from './books.ts';
import { filtered, type Page, pageOf, transactionsOf } from './history.ts';
import type { Environment } from './records.ts';
import { type Source, signedDownload, signedTransaction } from './source.ts';
import { subscriptionStatuses } from './statuses.ts';

const lookups: Readonly<Record<string, (source: Source, found: Found, query: URLSearchParams) => object>> = {
  '/inApps/v1/transactions/': (source, found) => ({ signedTransactionInfo: signedTransaction(source, found) }),
  '/inApps/v1/transactions/appTransactions/': (source, { account }) => ({
    signedAppTransactionInfo: signedDownload(source, account),
  }),
  '/inApps/v1/subscriptions/': (source, { account }, query) => ({
    ...aboutApp(account.environment),
    data: subscriptionStatuses(source, account, query),
  }),
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

/** Answers a call of the App Store Server API: every lookup starts from any transaction id of the customer. */
export function answerServerApi(source: Source, call: StoreCall, environment: Environment): Answer {
  if (!isAuthorized(call.headers.authorization, source.keys, source.now())) return text(401, 'Unauthenticated\n');
  const lookup = lookups[call.path.slice(0, call.path.lastIndexOf('/') + 1)];
  if (lookup === undefined || call.method !== 'GET') return text(404, 'Not Found\n');
  try {
    return json(200, lookup(source, wanted(source.books, environment, call.path), call.query));
  } catch (thrown) {
    return errorAnswer(thrown);
  }
}

function wanted(books: Books, environment: Environment, path: string): Found {
  const transactionId = path.slice(path.lastIndexOf('/') + 1);
  if (!/^\d{1,20}$/.test(transactionId)) throw apiError(4000006, 'Invalid transaction id.');
  const found = findTransaction(books, environment, transactionId);
  if (found === undefined) throw apiError(4040010, 'Transaction id not found.');
  return found;
}

const signedPage = (source: Source, { found, revision, hasMore }: Page): object => ({
  signedTransactions: found.map((one) => signedTransaction(source, one)),
  revision,
  hasMore,
});

const aboutApp = (environment: Environment): object => ({
  environment,
  bundleId: app.bundleId,
  ...(environment === 'Production' && { appAppleId: app.appAppleId }),
});
