import { defined } from '../../defined.ts';
import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { Millis } from '../../purchases/purchase.ts';
import { ClassicReceipt, environmentOf } from './classic-receipt.ts';
import type { Environment } from './payloads.ts';
import {
  dateFields,
  dateOf,
  type Fields,
  fieldsOf,
  flagFields,
  integerFields,
  textFields,
  textOf,
} from './receipt-fields.ts';
import { readSignedMessage, verifySignedMessage } from './signed-message.ts';
import { ours, type Trust } from './trust.ts';

/** The receipt of an installed application, its signature verified. */
export interface AppReceipt {
  readonly bundleId: string;
  /** Unknown for receipts that were written before Apple noted it. */
  readonly environment?: Environment;
  readonly createdAt: Millis;
  /** What it says, in the words of verifyReceipt. */
  readonly record: ClassicReceipt;
}

/** Longer than the receipt of any account; the edge takes no body beyond 2 MB. */
const longestBytes = 2_000_000;

const attribute = { environment: 0, bundleId: 2, creation: 12, inApp: 17 } as const;

/**
 * Reads a PKCS#7 receipt that Apple signed, with a chain valid when it was created, and issued to this application. Throws
 * `InvalidPayload`.
 */
export function verifiedReceipt(base64: string, trust: Trust): AppReceipt {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > longestBytes) throw invalid('it is too long');
  const message = readSignedMessage(bytes);
  const fields = fieldsOf(message.content);
  const createdAt = dateOf(fields, attribute.creation);
  if (createdAt === undefined) throw invalid('it names no date');
  verifySignedMessage(message, trust.receipts, createdAt);
  const bundleId = textOf(fields, attribute.bundleId) ?? '';
  return ours({ bundleId, createdAt, record: recordOf(fields), ...issuedIn(fields) }, trust);
}

function issuedIn(fields: Fields): { environment?: Environment } {
  const receiptType = textOf(fields, attribute.environment);
  const environment = receiptType === undefined ? undefined : environmentOf(receiptType);
  if (receiptType !== undefined && environment === undefined) throw invalid(`no store issues ${receiptType} receipts`);
  return defined({ environment });
}

function recordOf(fields: Fields): ClassicReceipt {
  return parse(ClassicReceipt, {
    ...textFields(fields, {
      receipt_type: attribute.environment,
      bundle_id: attribute.bundleId,
      application_version: 3,
      original_application_version: 19,
    }),
    ...dateFields(fields, {
      receipt_creation_date: attribute.creation,
      original_purchase_date: 18,
      expiration_date: 21,
    }),
    in_app: (fields.get(attribute.inApp) ?? []).map((value) => transactionOf(fieldsOf(value))),
  });
}

const transactionOf = (fields: Fields): Record<string, string> => ({
  ...integerFields(fields, { quantity: 1701 }),
  ...textFields(fields, { product_id: 1702, transaction_id: 1703, original_transaction_id: 1705 }),
  ...dateFields(fields, { purchase_date: 1704, original_purchase_date: 1706, expires_date: 1708 }),
  ...integerFields(fields, { web_order_line_item_id: 1711 }),
  ...dateFields(fields, { cancellation_date: 1712 }),
  ...flagFields(fields, { is_trial_period: 1713, is_in_intro_offer_period: 1719 }),
  ...textFields(fields, { promotional_offer_id: 1721 }),
});

const invalid = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The receipt cannot be accepted: ${reason}.`);
