import type { EmulatedStoreContext } from '../emulated-store.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { apiError, toErrorResponse } from './api-error.ts';
import { app } from './app.ts';
import { isAuthorized } from './authorize.ts';
import { queryNotificationHistory } from './notification-history.ts';
import type { Environment } from './records.ts';
import { type ResponseContext, signAppTransaction, signTransaction } from './response-context.ts';
import { buildSubscriptionStatuses } from './statuses.ts';
import { findByAppTransaction, findTransaction, type OwnedTransaction, type StoreState } from './store-state.ts';
import { getTestNotificationStatus, requestTestNotification } from './test-notification.ts';
import { filterTransactions, type HistoryPage, listTransactions, toPage } from './transaction-history.ts';

const lookups: Readonly<
  Record<string, (context: ResponseContext, found: OwnedTransaction, query: URLSearchParams) => object>
> = {
  '/inApps/v1/transactions/': (context, found) => ({ signedTransactionInfo: signTransaction(context, found) }),
  '/inApps/v1/transactions/appTransactions/': (context, { account }) => ({
    signedAppTransactionInfo: signAppTransaction(context, account),
  }),
  '/inApps/v1/subscriptions/': (context, { account }, query) => ({
    ...aboutApp(account.environment),
    data: buildSubscriptionStatuses(context, account, query),
  }),
  '/inApps/v2/history/': (context, { account }, query) => ({
    ...aboutApp(account.environment),
    ...signedPage(
      context,
      toPage(filterTransactions(context.state, listTransactions(context.state, account), query), query),
    ),
  }),
  '/inApps/v2/refund/lookup/': (context, { account }, query) => {
    const refunded = listTransactions(context.state, account).filter(
      ({ transaction }) => transaction.revocation !== undefined,
    );
    return signedPage(context, toPage(refunded, query));
  },
};

/** Answers a call of the App Store Server API: every lookup starts from any transaction id of the customer. */
export function handleServerApiCall(
  context: DeveloperApiContext,
  call: StoreHttpRequest,
  environment: Environment,
): HttpResponse {
  if (!isAuthorized(call.headers.authorization, context.keys, context.now()))
    return textResponse(401, 'Unauthenticated\n');
  try {
    const result = runCall(context, call, environment);
    return result === undefined ? textResponse(404, 'Not Found\n') : jsonResponse(200, result);
  } catch (error) {
    return toErrorResponse(error);
  }
}

/** What answers to a developer need beyond those to a device: a test notification is told by a call. */
export interface DeveloperApiContext extends ResponseContext {
  readonly emitNotification: EmulatedStoreContext['emitNotification'];
}

function runCall(context: DeveloperApiContext, call: StoreHttpRequest, environment: Environment): object | undefined {
  const [folder, name] = split(call.path);
  switch (`${call.method} ${folder}`) {
    case 'POST /inApps/v1/notifications/':
      if (name === 'history') return queryNotificationHistory(context, call, environment);
      return name === 'test' ? requestTestNotification(context, context.emitNotification, environment) : undefined;
    case 'GET /inApps/v1/notifications/test/':
      return getTestNotificationStatus(context, name, environment);
    default: {
      const lookup = call.method === 'GET' ? lookups[folder] : undefined;
      return lookup?.(context, requireTransaction(context.state, environment, call.path), call.query);
    }
  }
}

function split(path: string): readonly [folder: string, name: string] {
  const end = path.lastIndexOf('/') + 1;
  return [path.slice(0, end), path.slice(end)];
}

function requireTransaction(state: StoreState, environment: Environment, path: string): OwnedTransaction {
  const [folder, id] = split(path);
  if (!/^\d{1,20}$/.test(id)) throw apiError(4000006, 'Invalid transaction id.');
  const found = findTransaction(state, environment, id);
  if (found !== undefined) return found;
  const ofDownload = findByAppTransaction(state, environment, id);
  if (ofDownload === undefined) throw apiError(4040010, 'Transaction id not found.');
  // A download stands for its customer, but not for one transaction.
  if (folder === '/inApps/v1/transactions/') throw apiError(4000048, 'App transaction id is not supported.');
  return ofDownload;
}

const signedPage = (context: ResponseContext, { items: found, revision, hasMore }: HistoryPage): object => ({
  signedTransactions: found.map((one) => signTransaction(context, one)),
  revision,
  hasMore,
});

const aboutApp = (environment: Environment): object => ({
  environment,
  bundleId: app.bundleId,
  ...(environment === 'Production' && { appAppleId: app.appAppleId }),
});
