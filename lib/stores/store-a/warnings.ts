/** What a client is told when less than Apple's present state stands behind an answer. */
export const warnings = {
  outage:
    'Apple could not be reached; the answer relies on the signed receipt alone and may miss later renewals and refunds.',
  fallback: 'The App Store Server API could not be reached; the older verifyReceipt was asked instead.',
  signatureOnly:
    'No App Store Server API key is set; the answer relies on the signed receipt alone and may miss later renewals and refunds.',
  truncatedHistory: 'The purchase history is too long to be read to its end; the oldest transactions are left out.',
} as const;
