import type { TransactionRecord } from '../../../lib/purchases/transaction-contract.ts';

/** Payments that a page shows, and the maximum of one request. */
export const maxPayments = 1_000;

/** The newest payments of a customer or of a purchase. */
export interface Payments {
  /** At most `maxPayments`, newest first. */
  readonly rows: readonly TransactionRecord[];
  readonly hasOlder: boolean;
}

interface PageQuery {
  readonly skip: number;
  readonly limit: number;
}

interface OldestFirstPage {
  readonly paging: { readonly total: number };
  readonly rows: readonly TransactionRecord[];
}

/** Loads the end of a list with the oldest payment first. Most lists have one page. */
export async function loadPaymentsFromEnd(getPage: (page: PageQuery) => Promise<OldestFirstPage>): Promise<Payments> {
  const first = await getPage({ skip: 0, limit: maxPayments });
  const skip = first.paging.total - maxPayments;
  const { rows } = skip > 0 ? await getPage({ skip, limit: maxPayments }) : first;
  return { rows: rows.toReversed(), hasOlder: skip > 0 };
}

/** Loads the start of a list with the newest payment first. Its responses do not contain the total. */
export async function loadPaymentsFromStart(
  getPage: (page: PageQuery) => Promise<readonly TransactionRecord[]>,
): Promise<Payments> {
  const rows = await getPage({ skip: 0, limit: maxPayments });
  const isFull = rows.length === maxPayments;
  const older = isFull ? await getPage({ skip: maxPayments, limit: 1 }) : [];
  return { rows, hasOlder: older.length > 0 };
}
