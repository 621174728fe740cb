/** Converts Braintree's decimal amount, such as `4.99`, to micros. */
export const toMicros = (amount: string): number => Math.round(Number(amount) * 1_000_000);
