/** Warning of a validation that does not contain the store's current state. */
export const lastVerifiedWarning = 'The store is unavailable. This is the last verified state of the purchase.';
