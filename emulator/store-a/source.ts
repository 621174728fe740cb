import type { Outgoing } from '../emulated-store.ts';
import type { Books, Found } from './books.ts';
import type { Keys } from './keys.ts';
import { appTransactionPayload, renewalPayload, transactionPayload } from './payloads.ts';
import type { Account, Purchase } from './records.ts';
import { signData } from './signed-data.ts';

/** What answers are made of: the books, the keys to sign with, the time and the notifications on their way. */
export interface Source {
  readonly books: Books;
  readonly keys: Keys;
  readonly now: () => number;
  readonly outgoing: Outgoing;
}

/** A transaction as the store signs it, for its API and for the device. */
export const signedTransaction = ({ books, keys, now }: Source, found: Found): string =>
  signData(keys.signedData, transactionPayload(books, found, now()));

/** What comes next for a subscription, signed. */
export const signedRenewal = ({ keys, now }: Source, owned: { account: Account; purchase: Purchase }): string =>
  signData(keys.signedData, renewalPayload(owned, now()));

/** The customer's download of the application, signed. */
export const signedDownload = ({ keys, now }: Source, account: Account): string =>
  signData(keys.signedData, appTransactionPayload(account, now()));
