import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import type { StoreFetch } from '../store-context.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import { ClassicReceipt, ClassicTransaction, fromClassicTransaction } from './classic-receipt.ts';
import { deriveStatuses, PendingRenewal } from './classic-status.ts';
import type { StoreAccount } from './fetch-account.ts';
import { Environment } from './payloads.ts';
import { requireOwnBundle, type VerificationContext } from './verification.ts';

const urls: Readonly<Record<Environment, string>> = {
  Production: 'https://buy.itunes.apple.com/verifyReceipt',
  Sandbox: 'https://sandbox.itunes.apple.com/verifyReceipt',
};

const Status = v.object({ status: v.number(), 'is-retryable': v.exactOptional(v.union([v.boolean(), v.number()])) });
type Status = v.InferOutput<typeof Status>;

/** Of receipts of iOS 6 the list is one object. */
const List = v.union([
  v.array(ClassicTransaction),
  v.pipe(
    ClassicTransaction,
    v.transform((only) => [only]),
  ),
]);

const SuccessBody = v.object({
  status: v.number(),
  environment: v.exactOptional(Environment),
  receipt: ClassicReceipt,
  latest_receipt_info: v.exactOptional(List),
  latest_expired_receipt_info: v.exactOptional(List),
  pending_renewal_info: v.exactOptional(v.array(PendingRenewal)),
});
type SuccessBody = v.InferOutput<typeof SuccessBody>;

/** What verifyReceipt tells: the account, and the receipt in the words that clients know. */
export interface VerifyReceiptResult {
  readonly account: StoreAccount;
  readonly environment: Environment;
  readonly receipt: ClassicReceipt;
}

interface VerifyReceiptRequest {
  readonly receiptData: string;
  /** Whether its signature was verified here; then it cannot be malformed. */
  readonly isVerified: boolean;
  readonly sharedSecret: string;
  readonly fetch: StoreFetch;
}

/** 21006 is a receipt of iOS 6 whose subscription has expired; it is verified none the less. */
const verifiedStatuses = new Set([0, 21006]);
const sandboxReceiptStatus = 21007;

/**
 * Asks the deprecated verifyReceipt, production first as Apple wants it. Throws `InvalidPayload` for a receipt that Apple
 * did not issue to this application, `ConnectionFailed`, and `InternalError` for a wrong shared secret.
 */
export async function callVerifyReceipt(
  question: VerifyReceiptRequest,
  trust: VerificationContext,
): Promise<VerifyReceiptResult> {
  const result = await post('Production', question);
  if (parseResponse(Status, result).status !== sandboxReceiptStatus)
    return toResult(result, 'Production', { question, trust });
  return toResult(await post('Sandbox', question), 'Sandbox', { question, trust });
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
  if (status !== 200) throw unavailableError(`verifyReceipt answers HTTP ${status}`);
  return text;
}

function toResult(
  text: string,
  environment: Environment,
  { question, trust }: { question: VerifyReceiptRequest; trust: VerificationContext },
): VerifyReceiptResult {
  const status = parseResponse(Status, text);
  if (!verifiedStatuses.has(status.status)) throw toRefusalError(status, question);
  const response = parseResponse(SuccessBody, text);
  const { receipt } = response;
  requireOwnBundle({ bundleId: String(receipt.bundle_id ?? receipt.bid) }, trust);
  return { environment, receipt, account: toAccount(response, environment, trust) };
}

function toAccount(response: SuccessBody, environment: Environment, { now }: VerificationContext): StoreAccount {
  const { receipt, latest_receipt_info: latest, latest_expired_receipt_info: expired } = response;
  // The later lists know more of a transaction than the receipt, which is as old as it is.
  const records = [receipt.in_app ?? toSingleTransaction(receipt), expired ?? [], latest ?? []].flat();
  const told = records.map((record) => fromClassicTransaction(record, { environment }));
  const transactions = [...new Map(told.map((transaction) => [transaction.transactionId, transaction])).values()];
  const asOf = Number(receipt.request_date_ms ?? now);
  const statuses = deriveStatuses(transactions, { asOf, pending: response.pending_renewal_info ?? [] });
  return { transactions, statuses, asOf, isComplete: true };
}

/** A receipt of iOS 6 is itself its only transaction. */
const toSingleTransaction = (receipt: ClassicReceipt): ClassicTransaction[] =>
  v.is(ClassicTransaction, receipt) ? [receipt] : [];

function toRefusalError(
  { status, 'is-retryable': isRetryable }: Status,
  { isVerified }: VerifyReceiptRequest,
): ServiceError {
  const cause = `verifyReceipt answers status ${status}`;
  switch (status) {
    case 21002:
      return isVerified ? unavailableError(cause) : invalidReceiptError('Apple cannot read this receipt.', cause);
    case 21003:
      return invalidReceiptError('Apple did not issue this receipt.', cause);
    case 21010:
      return invalidReceiptError('The store account of this receipt no longer exists.', cause);
    case 21000:
    case 21004:
      return invalidSettingsError(cause);
    default:
      return isRetryable === false || isRetryable === 0
        ? new ServiceError('InternalError', 'Apple cannot process this receipt.', { cause })
        : unavailableError(cause);
  }
}

const invalidReceiptError = (message: string, cause: string): ServiceError =>
  new ServiceError('InvalidPayload', message, { cause });
