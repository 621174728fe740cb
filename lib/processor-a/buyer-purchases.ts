import type { OfferedPurchase } from '../api/processor-a.ts';
import { type Grant, isEnding } from '../db/access-tokens.ts';
import { answered } from '../stores/processor-a/client.ts';
import { granted } from '../stores/processor-a/receipt.ts';
import { offeredPurchase, registerBought } from './bought.ts';
import { accountOf, buyerOf, grantOf, type Selling } from './selling.ts';

/** What the buyer of a token bought, asked from the processor and stored; with a new token when this one ends soon. */
export async function purchasesOfBuyer(
  token: string,
  selling: Selling,
): Promise<{ readonly purchases: OfferedPurchase[]; readonly newAccessToken?: string }> {
  const { app, deps } = selling;
  const now = deps.now();
  const grant = await grantOf(deps.accessTokens.find(app.name, token, now));
  const look = await accountOf(selling, grant.platform);
  const customer = await buyerOf(grant, look);
  const known = { ...grant, ...(customer !== undefined && { customer }) };
  const registered = await registerBought(await answered(() => granted(known, look)), selling);
  const newAccessToken = isEnding(grant, now)
    ? await deps.accessTokens.rotate(app.name, { token, grant: known }, now)
    : undefined;
  return {
    purchases: registered.map(({ purchase }) => offeredPurchase(purchase, now)),
    ...(newAccessToken !== undefined && { newAccessToken }),
  };
}

/** What a user of the application bought through the processor, as it is stored: for the application's own server. */
export async function purchasesOfUser(username: string, { app, deps }: Selling): Promise<OfferedPurchase[]> {
  const platforms: readonly string[] = ['processor_a', 'service_processor_a'] satisfies Grant['platform'][];
  const owned = await deps.purchases.ownedBy(app.name, username);
  return owned
    .filter(({ platform }) => platforms.includes(platform))
    .map((purchase) => offeredPurchase(purchase, deps.now()));
}
