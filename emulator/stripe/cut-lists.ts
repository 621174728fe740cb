/** Elements of a list that another object contains. */
const embeddedLength = 10;

/** Elements of a page at most: ten times the elements of an embedded list. */
export const getMaxPageLength = (listLength = embeddedLength): number => Math.min(100, listLength * 10);

/**
 * Copies an object with its embedded lists cut to a length. A list endpoint returns the rest.
 *
 * @see https://docs.stripe.com/api/invoices/invoice_lines
 * @see https://docs.stripe.com/api/checkout/sessions/line_items
 * @see https://github.com/stripe/sync-engine/pull/104 for the lists in events
 */
export function cutLists<T>(value: T, length = embeddedLength): T {
  if (Array.isArray(value)) return value.map((element) => cutLists(element, length)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cutLists(member, length)]));
  const { object, data } = copy;
  const isCut = object === 'list' && Array.isArray(data) && data.length > length;
  return (isCut ? { ...copy, data: (data as unknown[]).slice(0, length), has_more: true } : copy) as T;
}

/** Cuts the embedded lists of a response. The elements of a page are complete, their lists are not. */
export function cutResponse(response: unknown, length: number | undefined): unknown {
  const isPage =
    typeof response === 'object' && response !== null && 'object' in response && response.object === 'list';
  if (!isPage || !('data' in response)) return cutLists(response, length);
  return { ...response, data: cutLists(response.data, length) };
}
