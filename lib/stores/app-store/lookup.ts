import { ServiceError } from '../../foundation/errors.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { StoreContext } from '../store-context.ts';
import { type AppDownload, fromAppTransaction, fromClassicReceipt } from './app-download.ts';
import { connectAppStore, withRequestBudget } from './app-store-server-api.ts';
import type { Evidence } from './evidence.ts';
import { fetchAccount, type StoreAccount, tryFetchAppTransaction } from './fetch-account.ts';
import { type AppStoreSettings, getApiKey } from './settings.ts';
import type { VerificationContext } from './verification.ts';
import { callVerifyReceipt } from './verify-receipt.ts';

export interface LookupRequest {
  readonly settings: AppStoreSettings;
  readonly context: StoreContext;
  readonly verification: VerificationContext;
  /** Fetches the versions of the app download, which takes another call. */
  readonly includeAppDownload: boolean;
}

/** The response of the App Store. Empty if it was not queried or is unavailable. */
export interface LookupResult {
  readonly account?: StoreAccount;
  readonly download?: AppDownload;
  /** The receipt in the response of verifyReceipt. */
  readonly receipt?: Readonly<Record<string, unknown>>;
  readonly warning?: string;
  /** The response is from verifyReceipt because the App Store Server API is unavailable. */
  readonly isFallback?: true;
  /** The error if the App Store is unavailable. */
  readonly outage?: unknown;
}

type LookupMethod = () => Promise<LookupResult>;

/** Values of `data.warning` in validation responses. */
const warnings = {
  outage:
    'The App Store is unavailable. The result relies on the signed receipt alone and can miss later renewals and refunds.',
  fallback: 'The App Store Server API is unavailable. The deprecated verifyReceipt was used instead.',
  signatureOnly:
    'No App Store Server API key is set. The result relies on the signed receipt alone and can miss later renewals and refunds.',
  truncatedHistory: 'The purchase history is too long. The oldest transactions are missing.',
} as const;

/**
 * Queries the App Store for the submitted evidence: by the App Store Server API, or by verifyReceipt if the API is
 * unavailable or not configured. Throws `InvalidPayload` for unknown transactions and `InternalError` if the App Store
 * rejects the settings, or if a required query lacks credentials.
 */
export async function lookUpEvidence(evidence: Evidence, request: LookupRequest): Promise<LookupResult> {
  let outage: unknown;
  const methods = await listLookupMethods(evidence, request);
  if (methods.length === 0 && request.context.requiresQuery) requireCredentials(evidence, request.settings);
  for (const [attempt, lookUp] of methods.entries()) {
    try {
      const result = await lookUp();
      return attempt === 0 ? result : { ...result, warning: warnings.fallback, isFallback: true };
    } catch (error) {
      if (!isOutage(error)) throw error;
      outage = error;
    }
  }
  if (!evidence.isVerified) throw outage ?? unverifiableError();
  if (outage !== undefined) return { outage, warning: warnings.outage };
  return getApiKey(request.settings) ? {} : { warning: warnings.signatureOnly };
}

/** Lists the methods that settings and evidence allow, the preferred one first. They share one request budget. */
async function listLookupMethods(evidence: Evidence, request: LookupRequest): Promise<LookupMethod[]> {
  const context = { ...request.context, fetch: withRequestBudget(request.context) };
  return [
    await createServerApiLookup(evidence, { ...request, context }),
    createVerifyReceiptLookup(evidence, { ...request, context }),
  ].filter((lookUp) => lookUp !== undefined);
}

async function createServerApiLookup(
  { lookupId: id, environment, transactions }: Evidence,
  { settings, context, verification, includeAppDownload }: LookupRequest,
): Promise<LookupMethod | undefined> {
  const server = id === undefined ? undefined : await connectAppStore(settings, context);
  if (id === undefined || !server) return undefined;
  return async () => {
    const [account, download] = await Promise.all([
      fetchAccount({ id, ...omitUndefined({ environment }) }, server, verification),
      includeAppDownload
        ? tryFetchAppTransaction(id, { server, verification, environment: environment ?? 'Production' })
        : undefined,
    ]);
    if (!account && transactions.length > 0) throw unknownTransactionError();
    return omitUndefined({
      account,
      download: download && fromAppTransaction(download),
      warning: account?.isComplete === false ? warnings.truncatedHistory : undefined,
    });
  };
}

function createVerifyReceiptLookup(
  { receiptData, isVerified }: Evidence,
  { settings: { sharedSecret }, context: { fetch }, verification }: LookupRequest,
): LookupMethod | undefined {
  if (sharedSecret === undefined || receiptData === undefined) return undefined;
  return async () => {
    const { account, receipt } = await callVerifyReceipt(
      { receiptData, isVerified, sharedSecret, fetch },
      verification,
    );
    return { account, receipt, download: fromClassicReceipt(receipt) };
  };
}

/** Throws `InternalError` if the evidence could be looked up with further credentials. */
function requireCredentials({ isVerified, receiptData }: Evidence, settings: AppStoreSettings): void {
  if (isVerified && getApiKey(settings)) return;
  const missing = [
    ...(isVerified ? ['issuerId, keyId and privateKey'] : []),
    ...(receiptData === undefined ? [] : ['sharedSecret']),
  ];
  throw new ServiceError(
    'InternalError',
    `The store_a settings lack ${missing.join(', or ')}, without which the App Store cannot be queried. Add them with app set-store.`,
  );
}

const isOutage = (error: unknown): boolean => error instanceof ServiceError && error.code === 'ConnectionFailed';

const unknownTransactionError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'The transaction is not found in the App Store.');

const unverifiableError = (): ServiceError =>
  new ServiceError(
    'InvalidPayload',
    'transactionReceipt contains an iOS 6 receipt, which requires a shared secret in the store_a settings. ' +
      'Send appStoreReceipt or jwsRepresentation instead.',
  );
