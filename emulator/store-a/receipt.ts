import { randomBytes } from 'node:crypto';
import { ia5String, integer, octetString, sequence, setOf, utf8String } from '../crypto/der.ts';
import { parseDerElements } from '../crypto/parse-der.ts';
import { signMessage, verifyMessage } from '../crypto/pkcs7-message.ts';
import { app, sandboxDownloadDate } from './app.ts';
import type { Signer } from './keys.ts';
import type { Account, Environment } from './records.ts';
import type { OwnedTransaction, StoreState } from './store-state.ts';
import { listTransactions } from './transaction-history.ts';

const fields = { environment: 0, bundleId: 2, opaque: 4, creation: 12, inApp: 17 } as const;
const inAppTransactionId = 1703;

const empty: Buffer = Buffer.alloc(0);

const receiptTypes = { Production: 'Production', Sandbox: 'ProductionSandbox' } as const;

/** The application receipt of a customer in DER: a signed list of everything that the account bought. */
export function createReceipt(
  { state, signer, now }: { state: StoreState; signer: Signer; now: number },
  account: Account,
): Buffer {
  const inApp = listTransactions(state, account).map((found) => attribute(fields.inApp, inAppContent(found)));
  const content = setOf(...downloadAttributes(account, now), ...inApp);
  return signMessage(signer, content);
}

/** What a receipt says of itself. */
export interface ParsedReceipt {
  readonly environment: Environment;
  readonly createdAt: number;
  /** The account whose receipt it is, by its app transaction. */
  readonly appTransactionId: string;
  readonly transactionIds: readonly string[];
}

/** A receipt that this store signed; undefined when someone else did. Throws a `RangeError` for what is no receipt. */
export function parseReceipt(receipt: Buffer, signer: Signer): ParsedReceipt | undefined {
  const { content, isAuthentic } = verifyMessage(receipt, Buffer.from(signer.chain[0], 'base64'));
  if (!isAuthentic) return undefined;
  const attributes = parseAttributes(content);
  const valueAt = (type: number): Buffer => attributes.find((one) => one.type === type)?.value ?? empty;
  return {
    environment: textIn(valueAt(fields.environment)) === receiptTypes.Production ? 'Production' : 'Sandbox',
    createdAt: Date.parse(textIn(valueAt(fields.creation))),
    appTransactionId: valueAt(fields.opaque).toString('latin1').trim(),
    transactionIds: attributes
      .filter(({ type }) => type === fields.inApp)
      .map(({ value }) => textIn(parseAttributes(value).find(({ type }) => type === inAppTransactionId)?.value)),
  };
}

function downloadAttributes({ environment, appTransactionId, downloadedAt }: Account, now: number): Buffer[] {
  const isProduction = environment === 'Production';
  return [
    attribute(fields.environment, utf8String(receiptTypes[environment])),
    attribute(1, integer(isProduction ? app.appAppleId : 0)),
    attribute(fields.bundleId, utf8String(app.bundleId)),
    attribute(3, utf8String(app.version)),
    attribute(fields.opaque, Buffer.from(appTransactionId.padEnd(16))),
    attribute(5, randomBytes(20)),
    attribute(6, randomBytes(55)),
    attribute(7, randomBytes(54)),
    attribute(8, ia5String('')),
    attribute(10, ia5String('4+')),
    attribute(fields.creation, ia5String(isoSecond(now))),
    attribute(15, integer(isProduction ? BigInt(appTransactionId) : 0)),
    attribute(16, integer(isProduction ? app.versionExternalIdentifier : 0)),
    attribute(18, ia5String(isoSecond(isProduction ? downloadedAt : sandboxDownloadDate))),
    attribute(19, utf8String(app.originalVersion[environment])),
  ];
}

function inAppContent({ purchase, transaction }: OwnedTransaction): Buffer {
  const { expiresDate, revocation, offer, webOrderLineItemId = 0 } = transaction;
  return setOf(
    attribute(1701, integer(transaction.quantity)),
    attribute(1702, utf8String(transaction.productId)),
    attribute(inAppTransactionId, utf8String(transaction.transactionId)),
    attribute(1704, ia5String(isoSecond(transaction.purchaseDate))),
    attribute(1705, utf8String(purchase.id)),
    attribute(1706, ia5String(isoSecond(purchase.transactions[0].purchaseDate))),
    attribute(1708, ia5String(isoSecond(expiresDate))),
    attribute(1711, integer(BigInt(webOrderLineItemId))),
    attribute(1712, ia5String(isoSecond(revocation?.date))),
    attribute(1713, integer(offer?.discountType === 'FREE_TRIAL' ? 1 : 0)),
    attribute(1719, integer(offer !== undefined && offer.discountType !== 'FREE_TRIAL' ? 1 : 0)),
    attribute(1721, utf8String('')),
  );
}

const attribute = (type: number, value: Buffer): Buffer => sequence(integer(type), integer(1), octetString(value));

/** The second of a moment, as receipts write it; no moment is the empty text. */
const isoSecond = (at?: number): string => (at === undefined ? '' : new Date(at).toISOString().replace(/\.\d+/, ''));

function parseAttributes(set: Buffer): { type: number; value: Buffer }[] {
  const [all] = parseDerElements(set);
  return parseDerElements(all?.content ?? empty).map(({ content }) => {
    const [type, , value] = parseDerElements(content);
    if (type === undefined || value === undefined) throw new RangeError('A receipt attribute is incomplete');
    return { type: type.content.readUIntBE(0, type.content.length), value: value.content };
  });
}

const textIn = (value: Buffer = empty): string => parseDerElements(value)[0]?.content.toString('utf8') ?? '';
