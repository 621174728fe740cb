import * as v from 'valibot';
import { CreditTotals } from '../../../lib/api/credit-totals.ts';
import { CreditName, Username } from '../../../lib/api/schemas.ts';
import { CreditEntryRecord, getCustomerCredits, listCreditHistory } from '../../../lib/credits/contract.ts';
import { omitUndefined } from '../../../lib/foundation/omit-undefined.ts';
import { Cursor, defineTool, NextCursor } from '../tool.ts';

/** A result has at most 50 rows in all its lists. */
const maxBalances = 20;
const maxChanges = 30;

export const credits = defineTool({
  name: 'credits',
  title: 'Get the credits of a customer',
  description:
    'Gets what a customer has of each credit, such as coins, and the changes with their reasons, newest first: given, ' +
    'spent, taken back for a refund, expired. sandbox gets those of sandbox purchases. Pass nextCursor as cursor for ' +
    'older changes.',
  input: v.object({
    applicationUsername: Username,
    sandbox: v.exactOptional(v.boolean()),
    cursor: v.exactOptional(Cursor),
  }),
  output: v.object({
    balances: v.array(v.object({ credit: CreditName, ...CreditTotals.entries })),
    history: v.array(CreditEntryRecord),
    nextCursor: NextCursor,
  }),
  async read({ applicationUsername, sandbox, cursor }, api) {
    const params = { applicationUsername };
    const [{ credits: records }, { rows, nextCursor }] = await Promise.all([
      api.read(getCustomerCredits, { params, query: { sandbox } }),
      api.read(listCreditHistory, { params, query: { sandbox, limit: maxChanges, cursor } }),
    ]);
    const balances = Object.entries(records)
      .slice(0, maxBalances)
      .map(([credit, record]) => ({ credit, ...record }));
    return { balances, history: rows, ...omitUndefined({ nextCursor }) };
  },
});
