import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { ClassicReceipt, toEnvironment } from './classic-receipt.ts';
import { derTags, expectTag, parseChildren, parseDer, readInteger, readOctetString } from './der.ts';
import type { Environment } from './payloads.ts';
import { invalidReceiptError, parseSignedMessage, verifySignedMessage } from './pkcs7-message.ts';
import { requireOwnBundle, type VerificationContext } from './verification.ts';

/** A verified app receipt, the file in the app's bundle. */
export interface AppReceipt {
  readonly bundleId: string;
  /** Undefined for old receipts, which do not contain it. */
  readonly environment?: Environment;
  readonly createdAt: EpochMillis;
  /** The content, with the field names of verifyReceipt. */
  readonly receipt: ClassicReceipt;
}

/** Above the size of real receipts. The API accepts bodies of at most 2 MB. */
const maxReceiptBytes = 2_000_000;

/**
 * Attribute types of the receipt and, from 1701, of its transactions.
 * @see https://developer.apple.com/documentation/appstorereceipts/validating-receipts-on-the-device
 */
const attributeTypes = { environment: 0, bundleId: 2, creation: 12, inApp: 17 } as const;

/** The attribute values of a receipt or of one of its purchases, by attribute type. */
type ReceiptFields = ReadonlyMap<number, readonly Buffer[]>;

/** Attribute types by field name. */
type FieldTypes = Readonly<Record<string, number>>;

/**
 * Verifies and parses a base64 PKCS#7 receipt. The certificates must have been valid at the creation date and the
 * receipt must belong to the app. Throws `InvalidPayload`.
 */
export function verifyAppReceipt(base64: string, verification: VerificationContext): AppReceipt {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > maxReceiptBytes) throw invalidReceiptError(`it exceeds ${maxReceiptBytes} bytes`);
  const message = parseSignedMessage(bytes);
  const fields = parseReceiptFields(message.content);
  const createdAt = readDate(fields, attributeTypes.creation);
  if (createdAt === undefined) throw invalidReceiptError('the creation date is missing');
  verifySignedMessage(message, verification.receiptRoots, createdAt);
  const bundleId = readText(fields, attributeTypes.bundleId) ?? '';
  return requireOwnBundle(
    { bundleId, createdAt, receipt: toClassicReceipt(fields), ...parseEnvironment(fields) },
    verification,
  );
}

function parseEnvironment(fields: ReceiptFields): { environment?: Environment } {
  const receiptType = readText(fields, attributeTypes.environment);
  const environment = receiptType === undefined ? undefined : toEnvironment(receiptType);
  if (receiptType !== undefined && environment === undefined)
    throw invalidReceiptError(`receipts of type ${receiptType} are not accepted`);
  return omitUndefined({ environment });
}

function toClassicReceipt(fields: ReceiptFields): ClassicReceipt {
  return parse(ClassicReceipt, {
    ...pickTextFields(fields, {
      receipt_type: attributeTypes.environment,
      bundle_id: attributeTypes.bundleId,
      application_version: 3,
      original_application_version: 19,
    }),
    ...pickDateFields(fields, {
      receipt_creation_date: attributeTypes.creation,
      original_purchase_date: 18,
      expiration_date: 21,
    }),
    in_app: (fields.get(attributeTypes.inApp) ?? []).map((value) => toClassicTransaction(parseReceiptFields(value))),
  });
}

const toClassicTransaction = (fields: ReceiptFields): Record<string, string> => ({
  ...pickIntegerFields(fields, { quantity: 1701 }),
  ...pickTextFields(fields, { product_id: 1702, transaction_id: 1703, original_transaction_id: 1705 }),
  ...pickDateFields(fields, { purchase_date: 1704, original_purchase_date: 1706, expires_date: 1708 }),
  ...pickIntegerFields(fields, { web_order_line_item_id: 1711 }),
  ...pickDateFields(fields, { cancellation_date: 1712 }),
  ...pickBooleanFields(fields, { is_trial_period: 1713, is_in_intro_offer_period: 1719 }),
  ...pickTextFields(fields, { promotional_offer_id: 1721 }),
});

/** Parses a SET of attributes (type, version, value). Throws `InvalidPayload`. */
function parseReceiptFields(content: Buffer): ReceiptFields {
  const fields = new Map<number, Buffer[]>();
  for (const attribute of parseChildren(expectTag(parseDer(content), derTags.set))) {
    const [type, , value] = parseChildren(expectTag(attribute, derTags.sequence));
    const key = readInteger(type);
    const values = fields.get(key) ?? [];
    values.push(readOctetString(value));
    fields.set(key, values);
  }
  return fields;
}

/** Returns the text fields that are not empty. */
const pickTextFields = (fields: ReceiptFields, types: FieldTypes): Record<string, string> =>
  collectFields(types, (name, type) => toEntry(name, readText(fields, type)));

/** Returns each date as formatted text and as `…_ms`, like verifyReceipt. */
const pickDateFields = (fields: ReceiptFields, types: FieldTypes): Record<string, string> =>
  collectFields(types, (name, type) => {
    const date = readDate(fields, type);
    if (date === undefined) return {};
    const formatted = new Date(date).toISOString().replace('T', ' ').slice(0, 19);
    return { [name]: `${formatted} Etc/GMT`, [`${name}_ms`]: String(date) };
  });

/** Returns integers as digits: some exceed the safe range of a number. */
const pickIntegerFields = (fields: ReceiptFields, types: FieldTypes): Record<string, string> =>
  collectFields(types, (name, type) => toEntry(name, readBigInteger(fields, type)?.toString()));

/** Returns `'true'` or `'false'` for each flag. */
const pickBooleanFields = (fields: ReceiptFields, types: FieldTypes): Record<string, string> =>
  collectFields(types, (name, type) => {
    const value = readBigInteger(fields, type);
    return toEntry(name, value === undefined ? undefined : String(value !== 0n));
  });

/** Returns undefined if the text is missing or empty. */
function readText(fields: ReceiptFields, type: number): string | undefined {
  const value = fields.get(type)?.[0];
  return value && (parseDer(value).content.toString('utf8') || undefined);
}

/** Parses an ISO date. Returns undefined if it is missing or empty. */
function readDate(fields: ReceiptFields, type: number): EpochMillis | undefined {
  const date = Date.parse(readText(fields, type) ?? '');
  return Number.isNaN(date) ? undefined : date;
}

function readBigInteger(fields: ReceiptFields, type: number): bigint | undefined {
  const value = fields.get(type)?.[0];
  if (value === undefined) return undefined;
  const { content } = expectTag(parseDer(value), derTags.integer);
  return content.length === 0 ? undefined : BigInt(`0x${content.toString('hex')}`);
}

const collectFields = (
  types: FieldTypes,
  read: (name: string, type: number) => Record<string, string>,
): Record<string, string> => Object.assign({}, ...Object.entries(types).map(([name, type]) => read(name, type)));

const toEntry = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };
