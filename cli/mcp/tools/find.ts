import * as v from 'valibot';
import { Id } from '../../../lib/api/schemas.ts';
import {
  FoundCustomer,
  FoundDelivery,
  FoundEvent,
  FoundPurchase,
  FoundTransaction,
  search,
} from '../../../lib/search/contract.ts';
import { PurchaseDetailsRow, TransactionRow } from '../rows.ts';
import { defineTool, limitRows, OmittedRows } from '../tool.ts';

export const find = defineTool({
  name: 'find',
  title: 'Find by id or name',
  description:
    'Finds what a text identifies: a customer by username, beginning of the username or store alias; a purchase, a ' +
    'transaction, an event or a webhook delivery by id. Use it first if the kind of an id is not known.',
  input: v.object({ text: v.pipe(v.string(), v.trim(), Id) }),
  output: v.object({
    rows: v.array(
      v.variant('type', [
        FoundCustomer,
        v.object({ ...FoundPurchase.entries, purchase: PurchaseDetailsRow }),
        v.object({ ...FoundTransaction.entries, transaction: TransactionRow }),
        FoundEvent,
        FoundDelivery,
      ]),
    ),
    omittedRows: OmittedRows,
  }),
  async read({ text }, api) {
    const { results } = await api.read(search, { query: { q: text } });
    return limitRows(results);
  },
});
