import { getSession } from './session.ts';

const maxCustomers = 5;

/** Kept in the tab only, until the user signs out. */
const toKey = (): string => `claimcheck.recent.${getSession()?.appName}`;

export const listRecentCustomers = (): readonly string[] =>
  JSON.parse(sessionStorage.getItem(toKey()) ?? '[]') as string[];

/** Puts a customer at the top of the recent ones. */
export function addRecentCustomer(user: string): void {
  const others = listRecentCustomers().filter((name) => name !== user);
  sessionStorage.setItem(toKey(), JSON.stringify([user, ...others].slice(0, maxCustomers)));
}
