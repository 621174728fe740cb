import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import type { StoreFetch } from '../store-context.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import { ClassicReceipt, ClassicTransaction, fromClassicTransactions } from './classic-receipt.ts';
import { deriveStatuses, PendingRenewal } from './classic-status.ts';
import type { StoreAccount } from './fetch-account.ts';
import { Environment } from './payloads.ts';
import { requireOwnBundle, type VerificationContext } from './verification.ts';

const urls: Readonly<Record<Environment, string>> = {
  Production: 'https://buy.itunes.apple.com/verifyReceipt',
  Sandbox: 'https://sandbox.itunes.apple.com/verifyReceipt',
};

const StatusBody = v.object({
  status: v.number(),
  'is-retryable': v.exactOptional(v.union([v.boolean(), v.number()])),
});
type StatusBody = v.InferOutput<typeof StatusBody>;

/** verifyReceipt returns an object instead of an array for iOS 6 receipts. */
const TransactionList = v.union([
  v.array(ClassicTransaction),
  v.pipe(
    ClassicTransaction,
    v.transform((transaction) => [transaction]),
  ),
]);

/** @see https://developer.apple.com/documentation/appstorereceipts/responsebody */
const SuccessBody = v.object({
  status: v.number(),
  environment: v.exactOptional(Environment),
  receipt: ClassicReceipt,
  latest_receipt_info: v.exactOptional(TransactionList),
  latest_expired_receipt_info: v.exactOptional(TransactionList),
  pending_renewal_info: v.exactOptional(v.array(PendingRenewal)),
});
type SuccessBody = v.InferOutput<typeof SuccessBody>;

export interface VerifyReceiptResult {
  readonly account: StoreAccount;
  readonly environment: Environment;
  readonly receipt: ClassicReceipt;
}

interface VerifyReceiptRequest {
  /** Base64. */
  readonly receiptData: string;
  /** A verified receipt cannot be malformed. */
  readonly isVerified: boolean;
  readonly sharedSecret: string;
  readonly fetch: StoreFetch;
}

/**
 * Values of `status`.
 * @see https://developer.apple.com/documentation/appstorereceipts/status
 */
const statuses = {
  valid: 0,
  invalidRequest: 21000,
  malformed: 21002,
  notAuthenticated: 21003,
  wrongSharedSecret: 21004,
  /** The receipt is valid. Only returned for iOS 6 receipts. */
  expired: 21006,
  sandboxReceipt: 21007,
  accountNotFound: 21010,
} as const;

/**
 * Calls verifyReceipt, which is deprecated: production first and, for a sandbox receipt, the sandbox. Throws
 * `InvalidPayload` for an invalid receipt, `ConnectionFailed`, and `InternalError` for a wrong shared secret.
 * @see https://developer.apple.com/documentation/appstorereceipts/verify-receipt
 */
export async function callVerifyReceipt(
  request: VerifyReceiptRequest,
  verification: VerificationContext,
): Promise<VerifyReceiptResult> {
  const text = await post('Production', request);
  if (parseResponse(StatusBody, text).status !== statuses.sandboxReceipt)
    return toResult(text, 'Production', { request, verification });
  return toResult(await post('Sandbox', request), 'Sandbox', { request, verification });
}

async function post(
  environment: Environment,
  { receiptData, sharedSecret, fetch }: VerifyReceiptRequest,
): Promise<string> {
  const body = { 'receipt-data': receiptData, password: sharedSecret, 'exclude-old-transactions': false };
  const { status, text } = await fetch(urls[environment], {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (status !== 200) throw unavailableError(`verifyReceipt returned HTTP ${status}.`);
  return text;
}

function toResult(
  text: string,
  environment: Environment,
  { request, verification }: { readonly request: VerifyReceiptRequest; readonly verification: VerificationContext },
): VerifyReceiptResult {
  const statusBody = parseResponse(StatusBody, text);
  if (statusBody.status !== statuses.valid && statusBody.status !== statuses.expired)
    throw toStatusError(statusBody, request);
  const response = parseResponse(SuccessBody, text);
  const { receipt } = response;
  requireOwnBundle({ bundleId: String(receipt.bundle_id ?? receipt.bid) }, verification);
  return { environment, receipt, account: toAccount(response, environment, verification) };
}

function toAccount(response: SuccessBody, environment: Environment, { now }: VerificationContext): StoreAccount {
  const { receipt, latest_receipt_info: latest, latest_expired_receipt_info: expired } = response;
  // The later lists take precedence: the receipt itself can be old.
  const records = [receipt.in_app ?? toSingleTransaction(receipt), expired ?? [], latest ?? []].flat();
  const mapped = fromClassicTransactions(records, { environment });
  const transactions = [...new Map(mapped.map((transaction) => [transaction.transactionId, transaction])).values()];
  const asOf = Number(receipt.request_date_ms ?? now);
  const pending = response.pending_renewal_info ?? [];
  return { transactions, statuses: deriveStatuses(transactions, { asOf, pending }), asOf, isComplete: true };
}

/** An iOS 6 receipt consists of one transaction. */
const toSingleTransaction = (receipt: ClassicReceipt): ClassicTransaction[] =>
  v.is(ClassicTransaction, receipt) ? [receipt] : [];

function toStatusError(
  { status, 'is-retryable': isRetryable }: StatusBody,
  { isVerified }: VerifyReceiptRequest,
): ServiceError {
  const cause = `verifyReceipt returned status ${status}.`;
  switch (status) {
    case statuses.malformed:
      return isVerified ? unavailableError(cause) : invalidReceiptError('it is malformed', cause);
    case statuses.notAuthenticated:
      return invalidReceiptError('the App Store did not issue it', cause);
    case statuses.accountNotFound:
      return invalidReceiptError('its store account no longer exists', cause);
    case statuses.invalidRequest:
      return invalidSettingsError('verifyReceipt does not accept the request', cause);
    case statuses.wrongSharedSecret:
      return invalidSettingsError('the shared secret is not valid', cause);
    default:
      return isRetryable === false || isRetryable === 0
        ? new ServiceError('InternalError', 'The App Store cannot process the receipt.', { cause })
        : unavailableError(cause);
  }
}

const invalidReceiptError = (reason: string, cause: string): ServiceError =>
  new ServiceError('InvalidPayload', `The receipt is not valid: ${reason}.`, { cause });
