import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import type { Summarized } from '../db/customers.ts';
import { imageItem } from '../db/stream-image.ts';
import type { Deps } from '../deps.ts';
import { parse } from '../parse.ts';

/** A customer by the application and the user's name in it. */
export interface Customer {
  readonly app: string;
  readonly username: string;
}

const Version = v.object({ version: v.number(), entitledUsers: v.array(v.string()) });

/** The customers whose purchases the records change, each once. */
export function concerned(records: readonly DynamoDBRecord[]): Customer[] {
  const customers = new Map<string, Customer>();
  for (const { dynamodb: { Keys, NewImage, OldImage } = {} } of records) {
    const pk = Keys?.pk?.S ?? '';
    if (Keys?.sk?.S !== 'P' || !pk.includes('#P#')) continue;
    const images = [NewImage, OldImage].flatMap((image) =>
      image ? [parse(Version, imageItem(image), 'InternalError')] : [],
    );
    if (images.length === 2 && images[0]?.version === images[1]?.version) continue;
    const app = pk.slice(0, pk.indexOf('#'));
    for (const username of images.flatMap(({ entitledUsers }) => entitledUsers)) {
      customers.set(`${app}\n${username}`, { app, username });
    }
  }
  return [...customers.values()];
}

/**
 * Works a customer's summary out anew from the purchases themselves, so that records that come again, or late, do no harm.
 * A summary that was worked out from older purchases never replaces a newer one: it is written only when none came between.
 */
export async function summarize(
  { app, username }: Customer,
  { customers, purchases }: Deps,
): Promise<Summarized | undefined> {
  return await customers.summarize(app, username, async () => await purchases.ownedBy(app, username));
}
