import type { Transaction } from '../purchases/transaction.ts';

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Clients can send any currency code. Codes outside ISO 4217 count as `XXX`, which limits the size of a counter. */
export const toCountedCurrency = ({ currency }: Transaction): string | undefined =>
  currency === undefined || currencies.has(currency) ? currency : 'XXX';
