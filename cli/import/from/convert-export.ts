import { rename, writeFile } from 'node:fs/promises';
import type { RawRow } from '../../../lib/import/parse-import-row.ts';
import type { ExportedPurchase, MovedGrant, Mover } from './mover.ts';
import { isUnreadable, readExport, type UnreadableRow } from './read-export.ts';

interface ConversionOptions {
  /** Returns the purchase tokens of orders of Google Play, by order id. */
  readonly findTokens: (orderIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

/** The purchases of an export. */
export interface ConversionReport {
  /** File for `import`, in JSON lines. */
  readonly rowsFile: string;
  readonly rows: number;
  /** Purchases without a customer. The next validation of their customer claims them. */
  readonly unowned: number;
  /** File with the id and the reason of each purchase that cannot be moved. */
  readonly unmovedFile: string;
  readonly unmoved: number;
  /** File with the grants that the other service has. */
  readonly grantsFile: string;
  readonly grants: number;
}

/**
 * Converts a third-party export to a file of rows, one for each purchase, and lists the purchases that cannot be moved.
 * Writes nothing to the table. Throws `InvalidPayload` for a file without the columns of the export.
 */
export const convertExport = async (
  path: string,
  { mover, ...options }: ConversionOptions & { readonly mover: Mover },
): Promise<ConversionReport> => await writeConversion(path, await readPurchases(path, mover), options);

/** Writes the files of a conversion: rows, grants, and the reasons of what cannot be moved. */
export async function writeConversion(
  path: string,
  purchases: readonly ExportedPurchase[],
  { findTokens }: ConversionOptions,
): Promise<ConversionReport> {
  const orderIds = purchases.flatMap(({ move }) => ('orderId' in move ? [move.orderId] : []));
  const tokens = orderIds.length > 0 ? await findTokens(orderIds) : new Map<string, string>();
  const rows: RawRow[] = [];
  const grants: MovedGrant[] = [];
  const unmoved: { readonly id: string; readonly reason: string }[] = [];
  for (const { move } of purchases) {
    if ('reason' in move) unmoved.push(move);
    else if ('grant' in move) grants.push(move.grant);
    else if (!('orderId' in move)) rows.push(move.row);
    else {
      const token = tokens.get(move.orderId);
      if (token === undefined) unmoved.push({ id: move.orderId, reason: 'Google Play does not have the order.' });
      else rows.push({ ...move.row, token });
    }
  }
  const [rowsFile, unmovedFile, grantsFile] = [`${path}.rows.jsonl`, `${path}.unmoved.jsonl`, `${path}.grants.jsonl`];
  await writeLines(unmovedFile, unmoved);
  await writeLines(grantsFile, grants);
  // Last and at once: an interrupted import continues with the rows if they exist.
  await writeLines(`${rowsFile}.partial`, rows);
  await rename(`${rowsFile}.partial`, rowsFile);
  const unowned = rows.filter(({ user }) => user === undefined).length;
  return {
    ...{ rowsFile, rows: rows.length, unowned, unmovedFile, unmoved: unmoved.length },
    ...{ grantsFile, grants: grants.length },
  };
}

const writeLines = async (path: string, values: readonly object[]): Promise<void> =>
  await writeFile(path, values.map((value) => `${JSON.stringify(value)}\n`).join(''));

/** Reads the latest record of each purchase. */
async function readPurchases(path: string, mover: Mover): Promise<readonly ExportedPurchase[]> {
  const latest = new Map<string, ExportedPurchase>();
  for await (const row of readExport(path, mover.requiredColumns)) {
    const purchase = isUnreadable(row) ? toUnreadablePurchase(row) : mover.toPurchase(row);
    const known = purchase && latest.get(purchase.key);
    if (purchase && known) latest.set(purchase.key, mergeRecords(known, purchase));
    else if (purchase) latest.set(purchase.key, purchase);
  }
  return [...latest.values()];
}

const toUnreadablePurchase = ({ line }: UnreadableRow): ExportedPurchase => ({
  key: `line ${line}`,
  version: '',
  move: { id: `line ${line}`, reason: 'The row has another number of values than the first line.' },
});

/** Selects the later record. A record without a customer does not remove the customer of an earlier one. */
function mergeRecords(known: ExportedPurchase, purchase: ExportedPurchase): ExportedPurchase {
  const [earlier, later] = known.version <= purchase.version ? [known, purchase] : [purchase, known];
  if (!('row' in earlier.move) || !('row' in later.move)) return later;
  const { user } = earlier.move.row;
  if (user === undefined || later.move.row.user !== undefined) return later;
  return { ...later, move: { ...later.move, row: { ...later.move.row, user } } };
}
