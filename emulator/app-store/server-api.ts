import type { EmulatedStoreContext } from '../emulated-store.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { apiError, toErrorResponse } from './api-error.ts';
import { app } from './app.ts';
import { isAuthorized } from './authorize.ts';
import { findDeveloperAction } from './developer-actions.ts';
import { queryNotificationHistory } from './notification-history.ts';
import type { Environment } from './records.ts';
import { answerRequest, isConsumptionFolder } from './refund-requests.ts';
import { type ResponseContext, signAppTransaction, signTransaction } from './response-context.ts';
import { buildSubscriptionStatuses } from './statuses.ts';
import { findByAppTransaction, findTransaction, type OwnedTransaction, type StoreState } from './store-state.ts';
import { getTestNotificationStatus, requestTestNotification } from './test-notification.ts';
import { filterTransactions, type HistoryPage, listTransactions, toPage } from './transaction-history.ts';

const lookups: Readonly<
  Record<string, (context: ResponseContext, owned: OwnedTransaction, query: URLSearchParams) => object>
> = {
  '/inApps/v1/transactions/': (context, owned) => ({ signedTransactionInfo: signTransaction(context, owned) }),
  '/inApps/v1/transactions/appTransactions/': (context, { account }) => ({
    signedAppTransactionInfo: signAppTransaction(context, account),
  }),
  '/inApps/v1/subscriptions/': (context, { account }, query) => ({
    ...buildAppMembers(account.environment),
    data: buildSubscriptionStatuses(context, account, query),
  }),
  '/inApps/v2/history/': (context, { account }, query) => ({
    ...buildAppMembers(account.environment),
    ...signPage(
      context,
      toPage(
        filterTransactions(context.state, listTransactions(context.state, account), query),
        query,
        context.settings().listLength,
      ),
    ),
  }),
  '/inApps/v2/refund/lookup/': (context, { account }, query) => {
    const refunded = listTransactions(context.state, account).filter(
      ({ transaction: { revocation, items = [] } }) =>
        revocation !== undefined || items.some(({ refunds }) => refunds !== undefined),
    );
    return signPage(context, toPage(refunded, query, context.settings().listLength));
  },
};

/**
 * Handles a call of the App Store Server API. A lookup accepts any transaction id of the customer.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi
 */
export function handleServerApiCall(
  context: DeveloperApiContext,
  call: StoreHttpRequest,
  environment: Environment,
): HttpResponse {
  if (!isAuthorized(call.headers.authorization, context.keys, context.now()))
    return textResponse(401, 'Unauthenticated\n');
  try {
    const [folder] = splitPath(call.path);
    const action = findDeveloperAction(call);
    if (action) return action(context, call, environment);
    if (call.method === 'PUT' && isConsumptionFolder(folder))
      return answerRequest(context, requireTransaction(context.state, environment, call.path), { folder, call });
    const result = runCall(context, call, environment);
    return result === undefined ? textResponse(404, 'Not Found\n') : jsonResponse(200, result);
  } catch (error) {
    return toErrorResponse(error);
  }
}

/** Context of API calls, which can request a test notification. */
export interface DeveloperApiContext extends ResponseContext {
  readonly emitNotification: EmulatedStoreContext['emitNotification'];
}

const historyPath = '/inApps/v1/notifications/history';

/** Returns whether a call by POST queries the notification history. */
export const isHistoryQuery = ({ path }: StoreHttpRequest): boolean => path === historyPath;

function runCall(context: DeveloperApiContext, call: StoreHttpRequest, environment: Environment): object | undefined {
  const [folder, name] = splitPath(call.path);
  switch (`${call.method} ${folder}`) {
    case 'POST /inApps/v1/notifications/':
      if (call.path === historyPath) return queryNotificationHistory(context, call, environment);
      return name === 'test' ? requestTestNotification(context, context.emitNotification, environment) : undefined;
    case 'GET /inApps/v1/notifications/test/':
      return getTestNotificationStatus(context, name, environment);
    default: {
      const lookup = call.method === 'GET' ? lookups[folder] : undefined;
      return lookup?.(context, requireTransaction(context.state, environment, call.path), call.query);
    }
  }
}

function splitPath(path: string): readonly [folder: string, name: string] {
  const end = path.lastIndexOf('/') + 1;
  return [path.slice(0, end), path.slice(end)];
}

function requireTransaction(state: StoreState, environment: Environment, path: string): OwnedTransaction {
  const [folder, id] = splitPath(path);
  if (!/^\d{1,20}$/.test(id)) throw apiError(4000006, 'Invalid transaction id.');
  const transaction = findTransaction(state, environment, id);
  if (transaction !== undefined) return transaction;
  const download = findByAppTransaction(state, environment, id);
  if (download === undefined) throw apiError(4040010, 'Transaction id not found.');
  // An app transaction id identifies the customer, but not a transaction.
  if (folder === '/inApps/v1/transactions/' || isConsumptionFolder(folder))
    throw apiError(4000048, 'App transaction id is not supported.');
  return download;
}

const signPage = (context: ResponseContext, { items, revision, hasMore }: HistoryPage): object => ({
  signedTransactions: items.map((owned) => signTransaction(context, owned)),
  revision,
  hasMore,
});

const buildAppMembers = (environment: Environment): object => ({
  environment,
  bundleId: app.bundleId,
  ...(environment === 'Production' && { appAppleId: app.appAppleId }),
});
