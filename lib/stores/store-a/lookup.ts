import { ServiceError } from '../../shared/errors.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import type { StoreContext } from '../store-context.ts';
import { createApiToken } from './api-token.ts';
import { type AppDownload, fromAppTransaction, fromClassicReceipt } from './app-download.ts';
import { createAppStoreServerApi } from './app-store-server-api.ts';
import type { Evidence } from './evidence.ts';
import { fetchAccount, type StoreAccount, tryFetchAppTransaction } from './fetch-account.ts';
import { withRequestBudget } from './request-budget.ts';
import { getApiKey, type StoreASettings } from './settings.ts';
import type { VerificationContext } from './verification.ts';
import { callVerifyReceipt } from './verify-receipt.ts';
import { warnings } from './warnings.ts';

/** What Apple said of the evidence, or why it said nothing. */
export interface LookupResult {
  readonly account?: StoreAccount;
  readonly download?: AppDownload;
  /** The receipt as verifyReceipt tells it. */
  readonly receipt?: Readonly<Record<string, unknown>>;
  readonly warning?: string;
  /** Why Apple could not be asked, although the settings allow it. */
  readonly outage?: unknown;
}

/** How to ask, and what for. */
export interface LookupRequest {
  readonly settings: StoreASettings;
  readonly asking: StoreContext;
  readonly trust: VerificationContext;
  /** Whether the versions of the download are worth a call of their own. */
  readonly includeAppDownload: boolean;
}

type LookupMethod = () => Promise<LookupResult>;

/**
 * Asks Apple by the best way that settings and evidence allow, and by the next one while Apple cannot be reached. Throws
 * `InvalidPayload` for what Apple does not know, and `InternalError` for settings that Apple refuses.
 */
export async function lookUpEvidence(evidence: Evidence, inquiry: LookupRequest): Promise<LookupResult> {
  const ways = listLookupMethods(evidence, inquiry);
  let outage: unknown;
  for (const [attempt, ask] of ways.entries()) {
    try {
      const lookup = await ask();
      return attempt === 0 ? lookup : { ...lookup, warning: warnings.fallback };
    } catch (error) {
      if (!isOutage(error)) throw error;
      outage = error;
    }
  }
  if (!evidence.isVerified) throw outage ?? unverifiableError();
  if (outage !== undefined) return { outage, warning: warnings.outage };
  return getApiKey(inquiry.settings) ? {} : { warning: warnings.signatureOnly };
}

function listLookupMethods(evidence: Evidence, inquiry: LookupRequest): LookupMethod[] {
  const fetch = withRequestBudget(inquiry.asking.fetch);
  const context = { ...inquiry, asking: { ...inquiry.asking, fetch } };
  return [createServerApiLookup(evidence, context), createVerifyReceiptLookup(evidence, context)].filter(
    (way) => way !== undefined,
  );
}

function createServerApiLookup(
  evidence: Evidence,
  { settings, asking: context, trust, includeAppDownload }: LookupRequest,
): LookupMethod | undefined {
  const { lookupId: id, environment } = evidence;
  const key = getApiKey(settings);
  if (!key || id === undefined) return undefined;
  return async () => {
    const server = createAppStoreServerApi(context.fetch, createApiToken(key, settings.bundleId, trust.now));
    const [account, download] = await Promise.all([
      fetchAccount({ id, ...omitUndefined({ environment }) }, server, trust),
      includeAppDownload
        ? tryFetchAppTransaction(id, { server, trust, environment: environment ?? 'Production' })
        : undefined,
    ]);
    if (!account && evidence.transactions.length > 0) throw unknownTransactionError();
    return omitUndefined({
      account,
      download: download && fromAppTransaction(download),
      warning: account?.isComplete === false ? warnings.truncatedHistory : undefined,
    });
  };
}

function createVerifyReceiptLookup(
  evidence: Evidence,
  { settings, asking: context, trust }: LookupRequest,
): LookupMethod | undefined {
  const { receiptData, isVerified } = evidence;
  const { sharedSecret } = settings;
  if (sharedSecret === undefined || receiptData === undefined) return undefined;
  return async () => {
    const question = { receiptData, isVerified, sharedSecret, fetch: context.fetch };
    const { account, receipt } = await callVerifyReceipt(question, trust);
    return { account, receipt, download: fromClassicReceipt(receipt) };
  };
}

const isOutage = (error: unknown): boolean => error instanceof ServiceError && error.code === 'ConnectionFailed';

const unknownTransactionError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'Apple does not know the transaction of this receipt.');

const unverifiableError = (): ServiceError =>
  new ServiceError(
    'InvalidPayload',
    "A receipt of iOS 6 (transactionReceipt) carries no signature that can be checked without Apple's verifyReceipt, " +
      'which needs a shared secret in the store_a settings. Send appStoreReceipt or jwsRepresentation instead.',
  );
