import type { StoreContext } from '../emulated-store.ts';
import { type Answer, json, type StoreCall, text } from '../http-messages.ts';
import { apiError, errorAnswer } from './api-error.ts';
import { app } from './app.ts';
import { isAuthorized } from './bearer.ts';
import { type Books, type Found, findDownload, findTransaction } from './books.ts';
import { filtered, type Page, pageOf, transactionsOf } from './history.ts';
import { notificationHistory } from './notification-history.ts';
import type { Environment } from './records.ts';
import { type Source, signedDownload, signedTransaction } from './source.ts';
import { subscriptionStatuses } from './statuses.ts';
import { requestTest, testStatus } from './test-notification.ts';

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
export function answerServerApi(source: Developing, call: StoreCall, environment: Environment): Answer {
  if (!isAuthorized(call.headers.authorization, source.keys, source.now())) return text(401, 'Unauthenticated\n');
  try {
    const answer = answerOf(source, call, environment);
    return answer === undefined ? text(404, 'Not Found\n') : json(200, answer);
  } catch (thrown) {
    return errorAnswer(thrown);
  }
}

/** What answers to a developer need beyond those to a device: a test notification is told by a call. */
export interface Developing extends Source {
  readonly tell: StoreContext['tell'];
}

function answerOf(source: Developing, call: StoreCall, environment: Environment): object | undefined {
  const [folder, name] = split(call.path);
  switch (`${call.method} ${folder}`) {
    case 'POST /inApps/v1/notifications/':
      if (name === 'history') return notificationHistory(source, call, environment);
      return name === 'test' ? requestTest(source, source.tell, environment) : undefined;
    case 'GET /inApps/v1/notifications/test/':
      return testStatus(source, name, environment);
    default: {
      const lookup = call.method === 'GET' ? lookups[folder] : undefined;
      return lookup?.(source, wanted(source.books, environment, call.path), call.query);
    }
  }
}

function split(path: string): readonly [folder: string, name: string] {
  const end = path.lastIndexOf('/') + 1;
  return [path.slice(0, end), path.slice(end)];
}

function wanted(books: Books, environment: Environment, path: string): Found {
  const [folder, id] = split(path);
  if (!/^\d{1,20}$/.test(id)) throw apiError(4000006, 'Invalid transaction id.');
  const found = findTransaction(books, environment, id);
  if (found !== undefined) return found;
  const ofDownload = findDownload(books, environment, id);
  if (ofDownload === undefined) throw apiError(4040010, 'Transaction id not found.');
  // A download stands for its customer, but not for one transaction.
  if (folder === '/inApps/v1/transactions/') throw apiError(4000048, 'App transaction id is not supported.');
  return ofDownload;
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
