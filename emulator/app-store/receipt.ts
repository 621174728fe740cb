import { randomBytes } from 'node:crypto';
import { ia5String, integer, octetString, sequence, setOf, utf8String } from '../crypto/der.ts';
import { parseDerElements } from '../crypto/parse-der.ts';
import { signMessage, verifyMessage } from '../crypto/pkcs7-message.ts';
import { app, sandboxDownloadDate } from './app.ts';
import type { Signer } from './keys.ts';
import type { Account, Environment } from './records.ts';
import { toDeviceTransaction } from './restoring.ts';
import type { OwnedTransaction, StoreState } from './store-state.ts';
import { listTransactions } from './transaction-history.ts';

// Field types of the receipt and of its purchases. Source:
// https://developer.apple.com/library/archive/releasenotes/General/ValidateAppStoreReceipt/Chapters/ReceiptFields.html
const fields = { environment: 0, bundleId: 2, opaque: 4, creation: 12, inApp: 17 } as const;
const inAppTransactionId = 1703;

const empty: Buffer = Buffer.alloc(0);

const receiptTypes = { Production: 'Production', Sandbox: 'ProductionSandbox' } as const;

/** Creates the app receipt of a customer in DER, with all transactions of the account except finished consumables. */
export function createReceipt(
  { state, signer, now }: { state: StoreState; signer: Signer; now: number },
  account: Account,
): Buffer {
  const inApp = listTransactions(state, account)
    .filter(({ purchase }) => purchase.isFinished !== true)
    .map((owned) => ({ ...owned, transaction: toDeviceTransaction(owned.transaction) }))
    .map((owned) => encodeAttribute(fields.inApp, encodeInApp(owned)));
  const content = setOf(...encodeDownload(account, now), ...inApp);
  return signMessage(signer, content);
}

/** Content of a receipt. */
export interface ParsedReceipt {
  readonly environment: Environment;
  readonly createdAt: number;
  /** App transaction id of the account. */
  readonly appTransactionId: string;
  readonly transactionIds: readonly string[];
}

/** Parses a receipt; undefined if it was not signed by this store. Throws `RangeError` if it is not a receipt. */
export function parseReceipt(receipt: Buffer, signer: Signer): ParsedReceipt | undefined {
  const { content, isAuthentic } = verifyMessage(receipt, Buffer.from(signer.chain[0], 'base64'));
  if (!isAuthentic) return undefined;
  const attributes = parseAttributes(content);
  const valueAt = (type: number): Buffer => attributes.find((attribute) => attribute.type === type)?.value ?? empty;
  return {
    environment: decodeText(valueAt(fields.environment)) === receiptTypes.Production ? 'Production' : 'Sandbox',
    createdAt: Date.parse(decodeText(valueAt(fields.creation))),
    appTransactionId: valueAt(fields.opaque).toString('latin1').trim(),
    transactionIds: attributes
      .filter(({ type }) => type === fields.inApp)
      .map(({ value }) => decodeText(parseAttributes(value).find(({ type }) => type === inAppTransactionId)?.value)),
  };
}

function encodeDownload({ environment, appTransactionId, downloadedAt }: Account, now: number): Buffer[] {
  const isProduction = environment === 'Production';
  return [
    encodeAttribute(fields.environment, utf8String(receiptTypes[environment])),
    encodeAttribute(1, integer(isProduction ? app.appAppleId : 0)),
    encodeAttribute(fields.bundleId, utf8String(app.bundleId)),
    encodeAttribute(3, utf8String(app.version)),
    encodeAttribute(fields.opaque, Buffer.from(appTransactionId.padEnd(16))),
    encodeAttribute(5, randomBytes(20)),
    encodeAttribute(6, randomBytes(55)),
    encodeAttribute(7, randomBytes(54)),
    encodeAttribute(8, ia5String('')),
    encodeAttribute(10, ia5String('4+')),
    encodeAttribute(fields.creation, ia5String(formatDate(now))),
    encodeAttribute(15, integer(isProduction ? BigInt(appTransactionId) : 0)),
    encodeAttribute(16, integer(isProduction ? app.versionExternalIdentifier : 0)),
    encodeAttribute(18, ia5String(formatDate(isProduction ? downloadedAt : sandboxDownloadDate))),
    encodeAttribute(19, utf8String(app.originalVersion[environment])),
  ];
}

function encodeInApp({ purchase, transaction }: OwnedTransaction): Buffer {
  const { expiresDate, revocation, offer, webOrderLineItemId = 0 } = transaction;
  return setOf(
    encodeAttribute(1701, integer(transaction.quantity)),
    encodeAttribute(1702, utf8String(transaction.productId)),
    encodeAttribute(inAppTransactionId, utf8String(transaction.transactionId)),
    encodeAttribute(1704, ia5String(formatDate(transaction.purchaseDate))),
    encodeAttribute(1705, utf8String(purchase.id)),
    encodeAttribute(1706, ia5String(formatDate(purchase.transactions[0].purchaseDate))),
    encodeAttribute(1708, ia5String(formatDate(expiresDate))),
    encodeAttribute(1711, integer(BigInt(webOrderLineItemId))),
    encodeAttribute(1712, ia5String(formatDate(revocation?.date))),
    encodeAttribute(1713, integer(offer?.discountType === 'FREE_TRIAL' ? 1 : 0)),
    encodeAttribute(1719, integer(offer !== undefined && offer.discountType !== 'FREE_TRIAL' ? 1 : 0)),
    encodeAttribute(1721, utf8String('')),
  );
}

const encodeAttribute = (type: number, value: Buffer): Buffer =>
  sequence(integer(type), integer(1), octetString(value));

/** Formats a time as in receipts, without milliseconds; an absent time is empty. */
const formatDate = (at?: number): string => (at === undefined ? '' : new Date(at).toISOString().replace(/\.\d+/, ''));

function parseAttributes(set: Buffer): { type: number; value: Buffer }[] {
  const [root] = parseDerElements(set);
  return parseDerElements(root?.content ?? empty).map(({ content }) => {
    const [type, , value] = parseDerElements(content);
    if (type === undefined || value === undefined) throw new RangeError('A receipt attribute is incomplete');
    return { type: type.content.readUIntBE(0, type.content.length), value: value.content };
  });
}

const decodeText = (value: Buffer = empty): string => parseDerElements(value)[0]?.content.toString('utf8') ?? '';
