import * as keys from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { FirstPayer } from './purchase-writes.ts';

/**
 * Creates the customer, and stores the customer's first payment. Does not change a customer that another purchase has
 * created since; throws `Conflict` if there is another first payment. Writes the words of the name first: if a crash
 * leaves them without the customer, the repeated request completes it.
 */
export async function createCustomer(
  table: Table,
  appName: string,
  username: string,
  { now, first }: { readonly now: EpochMillis; readonly first?: FirstPayer },
): Promise<void> {
  await table.batchPut(keys.buildNameWordItems(appName, username));
  const { createdPk, createdSk, keyPk, keySk } = keys.customerIndexKeys(appName, username, now);
  const assignments = [
    'username = :username',
    'createdAt = if_not_exists(createdAt, :now)',
    'createdPk = if_not_exists(createdPk, :pk)',
    'createdSk = if_not_exists(createdSk, :sk)',
    'keyPk = :keyPk',
    'keySk = :keySk',
    ...(first ? [`${first.name} = :payer`] : []),
  ];
  await table.update({
    Key: { ...keys.customerKey(appName, username) },
    UpdateExpression: `SET ${assignments.join(', ')}`,
    ExpressionAttributeValues: {
      ':username': username,
      ':now': now,
      ':pk': createdPk,
      ':sk': createdSk,
      ':keyPk': keyPk,
      ':keySk': keySk,
      ...(first && { ':payer': first.payer }),
    },
    ...(first && { ConditionExpression: `attribute_not_exists(${first.name})` }),
  });
}
