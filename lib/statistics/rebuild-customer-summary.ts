import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import type { SummaryChange } from '../customers/customer-summary.ts';
import { unmarshallImage } from '../db/stream-image.ts';
import type { Deps } from '../deps.ts';
import { parse } from '../shared/parse.ts';

/** A customer by the application and the user's name in it. */
export interface CustomerKey {
  readonly appName: string;
  readonly username: string;
}

const PurchaseImage = v.object({ version: v.number(), entitledUsers: v.array(v.string()) });

/** The customers whose purchases the records change, each once. */
export function findAffectedCustomers(records: readonly DynamoDBRecord[]): CustomerKey[] {
  const customers = new Map<string, CustomerKey>();
  for (const { dynamodb: { Keys, NewImage, OldImage } = {} } of records) {
    const pk = Keys?.pk?.S ?? '';
    if (Keys?.sk?.S !== 'P' || !pk.includes('#P#')) continue;
    const images = [NewImage, OldImage].flatMap((image) =>
      image ? [parse(PurchaseImage, unmarshallImage(image), 'InternalError')] : [],
    );
    if (images.length === 2 && images[0]?.version === images[1]?.version) continue;
    const appName = pk.slice(0, pk.indexOf('#'));
    for (const username of images.flatMap(({ entitledUsers }) => entitledUsers)) {
      customers.set(`${appName}\n${username}`, { appName, username });
    }
  }
  return [...customers.values()];
}

/**
 * Works a customer's summary out anew from the purchases themselves, so that records that come again, or late, do no harm.
 * A summary that was worked out from older purchases never replaces a newer one: it is written only when none came between.
 */
export async function rebuildCustomerSummary(
  { appName, username }: CustomerKey,
  { customers, purchases }: Deps,
): Promise<SummaryChange | undefined> {
  return await customers.updateSummary(appName, username, async () => await purchases.listByUser(appName, username));
}
