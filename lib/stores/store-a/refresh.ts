import * as v from 'valibot';
import { defined } from '../../defined.ts';
import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Asking } from '../store.ts';
import { type Account, readAccount } from './account.ts';
import { apiToken } from './api-token.ts';
import { type AppStoreServer, appStoreServer } from './app-store-server.ts';
import { promptly } from './deadline.ts';
import { linesOf } from './lines.ts';
import { observationOf } from './observe.ts';
import { Environment } from './payloads.ts';
import { apiKeyOf, storeASettings } from './settings.ts';
import { readTransaction } from './store-reads.ts';
import { type Trust, trustOf } from './trust.ts';

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
  asking: Asking,
): Promise<readonly Observation[]> {
  const token = parse(RefreshToken, refreshToken, 'InternalError');
  const settings = storeASettings(asking.settings);
  const key = apiKeyOf(settings);
  if (!key) throw noApiKey();
  const trust = trustOf(settings, asking);
  const server = appStoreServer(promptly(asking.fetch), apiToken(key, settings.bundleId, trust.now));
  const account = await accountWith(token, server, trust);
  return linesOf({ transactions: [] }, account, trust.now)
    .filter((line) => line.originalTransactionId === token.originalTransactionId)
    .map((line) => observationOf(line, hintsOf(token, line.latest.productId), true));
}

/** The customer's account; a one-time purchase that its history leaves out is asked for by itself. */
async function accountWith(token: RefreshToken, server: AppStoreServer, trust: Trust): Promise<Account> {
  const { originalTransactionId: id, environment } = token;
  const account = await readAccount({ id, environment }, server, trust);
  if (!account) throw new ServiceError('InvalidPayload', 'Apple does not know this purchase.');
  const owned = [...account.transactions, ...account.statuses.map(({ transaction }) => transaction)];
  if (owned.some(({ originalTransactionId }) => originalTransactionId === id)) return account;
  const answer = await readTransaction(id, { server, environment, trust });
  if (answer.kind !== 'found') return account;
  const transactions = [...account.transactions, answer.value];
  return { ...account, transactions, asOf: Math.max(account.asOf ?? 0, answer.value.signedAt ?? 0) };
}

const hintsOf = ({ period }: RefreshToken, productId: string) => defined({ productId, period });

const noApiKey = (): ServiceError =>
  new ServiceError('InternalError', 'Purchases of store_a cannot be read again without an App Store Server API key.');
