import type { EventSearchResult } from '../../lib/events/contract.ts';

/** Kinds of events that the page selects among the loaded ones. */
export const eventKinds = [
  ['', 'All'],
  ['notification', 'Store notifications'],
  ['missed', 'Missed store notifications'],
  ['webhook', 'Webhooks'],
  ['validation', 'Validations'],
  ['refresh', 'Refreshes'],
] as const;

const types: Readonly<Record<string, RegExp>> = {
  notification: /^webhook\.(?!app\.)\w+\./,
  // Those that the store keeps, and that have not arrived.
  missed: /^notifications\.reconciled$/,
  webhook: /^webhook\.app\.called$/,
  validation: /^receipt\.validated$/,
  refresh: /^receipt\.refreshed$/,
};

/** Returns whether an event is of the selected kind, and about a purchase or a notification of the selected store. */
export const matchesFilters = (
  { context: { eventType }, content }: Pick<EventSearchResult, 'context' | 'content'>,
  { kind = '', store = '' }: Readonly<Record<string, string | undefined>>,
): boolean =>
  (types[kind]?.test(eventType) ?? true) &&
  (store === '' ||
    [
      eventType.split('.')[1],
      ...content.notifications.map(({ platform }) => platform),
      ...Object.keys(content.tags).map((tag) => tag.split(':')[0]),
    ].includes(store));
