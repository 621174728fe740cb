import * as v from 'valibot';
import type { Observation } from '../../purchases/observation.ts';
import { ServiceError } from '../../shared/errors.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { parse } from '../../shared/parse.ts';
import type { StoreContext } from '../store-context.ts';
import { createApiToken } from './api-token.ts';
import { type AppStoreServerApi, createAppStoreServerApi } from './app-store-server-api.ts';
import { fetchAccount, type StoreAccount } from './fetch-account.ts';
import { fetchTransaction } from './fetch-transactions.ts';
import { groupByPurchase } from './group-by-purchase.ts';
import { Environment } from './payloads.ts';
import { withRequestBudget } from './request-budget.ts';
import { getApiKey, parseStoredSettings } from './settings.ts';
import { toObservation } from './to-observation.ts';
import { createVerificationContext, type VerificationContext } from './verification.ts';

const RefreshToken = v.object({
  originalTransactionId: v.string(),
  environment: Environment,
  /** The length of a non-renewing subscription, which Apple does not know. */
  period: v.exactOptional(v.string()),
});
type RefreshToken = v.InferOutput<typeof RefreshToken>;

/** The purchase that a refresh token stands for, as Apple tells it now. */
export async function refresh(
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> {
  const token = parse(RefreshToken, refreshToken, 'InternalError');
  const settings = parseStoredSettings(context.settings);
  const key = getApiKey(settings);
  if (!key) throw missingApiKeyError();
  const trust = createVerificationContext(settings, context);
  const server = createAppStoreServerApi(
    withRequestBudget(context.fetch),
    createApiToken(key, settings.bundleId, trust.now),
  );
  const account = await fetchAccountWith(token, server, trust);
  return groupByPurchase({ transactions: [] }, account, trust.now)
    .filter((line) => line.originalTransactionId === token.originalTransactionId)
    .map((line) => toObservation(line, toHints(token, line.latest.productId), true));
}

/** The customer's account; a one-time purchase that its history leaves out is asked for by itself. */
async function fetchAccountWith(
  token: RefreshToken,
  server: AppStoreServerApi,
  trust: VerificationContext,
): Promise<StoreAccount> {
  const { originalTransactionId: id, environment } = token;
  const account = await fetchAccount({ id, environment }, server, trust);
  if (!account) throw new ServiceError('InvalidPayload', 'Apple does not know this purchase.');
  const owned = [...account.transactions, ...account.statuses.map(({ transaction }) => transaction)];
  if (owned.some(({ originalTransactionId }) => originalTransactionId === id)) return account;
  const response = await fetchTransaction(id, { server, environment, trust });
  if (response.kind !== 'found') return account;
  const transactions = [...account.transactions, response.value];
  return { ...account, transactions, asOf: Math.max(account.asOf ?? 0, response.value.signedAt ?? 0) };
}

const toHints = ({ period }: RefreshToken, productId: string) => omitUndefined({ productId, period });

const missingApiKeyError = (): ServiceError =>
  new ServiceError('InternalError', 'Purchases of store_a cannot be read again without an App Store Server API key.');
